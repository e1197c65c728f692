"""A small Wikipedia and the web that it cites: made up, as large as needed, always the same."""

from __future__ import annotations

import bz2
import gzip
import json
import random
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

PLACES = "Ellery Marsk Tolvane Brigg Oster Kellan Dunmoor Farrow Hollin Venn Sarle Quay".split()
THINGS = (
    "bridge harbour library railway lighthouse museum market garden mill tower canal hall".split()
)
DEEDS = (
    "was built by the town council|has been closed since the great storm|is known for its clock|"
)
DEEDS += "was painted in green and white|attracts visitors from the whole coast|serves as a school"
DEEDS += "|was sold to a family of merchants|burned down and was rebuilt in brick"


@dataclass(frozen=True)
class MadeUpArticle:
    number: int
    title: str
    lead: str
    urls: tuple[str, ...]

    @property
    def wikitext(self) -> str:
        first, *rest = self.urls
        references = "".join(f"<ref>{{{{cite web|url={url}|title=x}}}}</ref>" for url in rest)
        return (
            f"{{{{short description|made up}}}}\n'''{self.title}'''{self.lead[len(self.title) :]}"
            f"<ref>[{first} a paper]</ref>\n\n== History ==\nIt has a history.{references}\n"
        )


@dataclass(frozen=True)
class MadeUpPage:
    url: str
    title: str
    paragraphs: tuple[str, ...]

    @property
    def html(self) -> bytes:
        body = "".join(f"<p>{escape(text)}</p>" for text in self.paragraphs)
        return (
            f"<!DOCTYPE html><html><head><title>{escape(self.title)}</title></head><body>"
            f"<nav><a href='/'>Home</a> <a href='/news'>News</a></nav><main><article>{body}</article>"
            "</main><footer>All rights reserved.</footer></body></html>"
        ).encode()


def sentence(generator: random.Random, about: str) -> str:
    deed = generator.choice(DEEDS.split("|"))
    year = generator.randint(1700, 2020)
    return f"In {year} it was reported that the {about} {deed} and the people of the town were pleased."


def made_up_wiki(
    number: int, pages_each: int = 3, seed: int = 1
) -> tuple[list[MadeUpArticle], list[MadeUpPage]]:
    """Return articles, and the pages that they cite: a third of the pages is cited twice."""
    generator = random.Random(seed)
    articles: list[MadeUpArticle] = []
    pages: list[MadeUpPage] = []
    for n in range(number):
        place, thing = generator.choice(PLACES), generator.choice(THINGS)
        title = f"{place} {thing} {n}"
        lead = f"{title} is a {thing} in the town of {place}. {sentence(generator, thing)}"
        urls = []
        for k in range(pages_each):
            url = f"https://www.site{n % 7}.example/{place.lower()}/{n}-{k}"
            texts = tuple(
                f"{title} stands in {place}. " + sentence(generator, thing)
                for _ in range(generator.randint(2, 5))
            )
            pages.append(MadeUpPage(url, f"{title}, report {k}", texts))
            urls.append(url)
        if articles and n % 3 == 0:
            urls.append(articles[-1].urls[0])
        articles.append(MadeUpArticle(n + 1, title, lead, tuple(urls)))
    return articles, pages


def page_element(
    number: int, title: str, text: str, *, namespace: int = 0, redirect: str = ""
) -> str:
    hint = f'<redirect title="{escape(redirect)}" />' if redirect else ""
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{namespace}</ns>\n    <id>{number}</id>\n"
        f'    {hint}<revision>\n      <id>{number}1</id>\n      <text xml:space="preserve">{escape(text)}'
        "</text>\n    </revision>\n  </page>\n"
    )


HEADER = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="en">\n'
FOOTER = "</mediawiki>\n"


def dump_elements(articles: list[MadeUpArticle]) -> list[str]:
    """Return the pages of a dump: the articles, and among them what is no article."""
    others = [
        page_element(900_001, "Old name", "#REDIRECT [[New name]]", redirect="New name"),
        page_element(900_002, "Talk:Old name", "Hello there.", namespace=1),
        page_element(
            900_003, "Mill (disambiguation)", "'''Mill''' may be:\n* a mill\n{{disambiguation}}"
        ),
        page_element(900_004, "List of mills", "This is a list."),
        page_element(900_005, "Empty", "{{stub}}\n== Only a heading ==\nText."),
    ]
    return [*(page_element(a.number, a.title, a.wikitext) for a in articles), *others]


def write_dump(path: Path, articles: list[MadeUpArticle], *, per_stream: int = 10) -> Path:
    """Write a dump as Wikipedia does: a stream for the header, then one for some pages each."""
    elements = dump_elements(articles)
    streams = ["".join(elements[n : n + per_stream]) for n in range(0, len(elements), per_stream)]
    parts = [HEADER, *streams, FOOTER]
    if path.suffix == ".bz2":
        path.write_bytes(b"".join(bz2.compress(part.encode()) for part in parts))
    else:
        path.write_text("".join(parts))
    return path


def warc_record(
    url: str,
    body: bytes,
    *,
    status: str = "200 OK",
    kind: str = "text/html; charset=utf-8",
    extra: str = "",
) -> bytes:
    """Return a response record."""
    http = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{extra}Content-Length: {len(body)}\r\n\r\n"
    )
    block = http.encode() + body
    return _record("response", url, "application/http; msgtype=response", block)


def wet_record(url: str, text: str) -> bytes:
    """Return a conversion record, as WET files have it."""
    return _record("conversion", url, "text/plain", text.encode())


def _record(record_type: str, url: str, kind: str, block: bytes) -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {record_type}\r\nWARC-Target-URI: {url}\r\n"
        "WARC-Date: 2026-01-01T00:00:00Z\r\n"
        "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def write_warc(path: Path, pages: list[MadeUpPage], more: tuple[bytes, ...] = ()) -> Path:
    """Write pages as a WARC file, each record packed by itself if it is a .gz."""
    records = [*(warc_record(page.url, page.html) for page in pages), *more]
    pack = gzip.compress if path.suffix == ".gz" else bytes
    path.write_bytes(b"".join(map(pack, records)))
    return path


def write_page_lines(path: Path, pages: list[MadeUpPage]) -> Path:
    """Write pages as lines of address and text."""
    lines = [
        json.dumps({"url": page.url, "title": page.title, "text": "\n".join(page.paragraphs)})
        for page in pages
    ]
    path.write_text("\n".join(lines) + "\n")
    return path
