"""A page gives its prose, in the language that is wanted, or the reason why it gives none."""

from __future__ import annotations

from typing import Any

import pytest
from made_up_web import made_up_wiki

from hiersum.building.page_store import extract_page

_, PAGES = made_up_wiki(3)
GERMAN = (
    "Die alte Brücke am Hafen wurde gestern nach langer Zeit wieder geöffnet, und viele Leute kamen, um "
    "sie zu sehen. Der Bürgermeister sagte, dass die Arbeiten länger gedauert hätten als geplant."
)


def read(html: str | bytes, **facts: str) -> dict[str, Any]:
    data = html.encode() if isinstance(html, str) else html
    return extract_page(
        {"kind": "html", "url": "http://a.example/", "language": "en", **facts}, data
    )


def test_extract_page_keeps_prose_and_drops_menus() -> None:
    page = PAGES[0]
    found = read(page.html, url=page.url)
    assert tuple(found["paragraphs"]) == page.paragraphs
    assert (found["url"], found["title"]) == (page.url, page.title)


def test_extract_page_gives_equal_words_equal_digests() -> None:
    page = PAGES[0]
    spaced = page.html.replace(b" ", b"  ").replace(b"<p>", b"<p class=x>\n").upper()
    assert read(spaced)["digest"] == read(page.html)["digest"] != read(PAGES[1].html)["digest"]


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("", "no text"),
        ("<html><body><nav><a>Home</a></nav></body></html>", "no text"),
        (b"\x00\x01\x02" * 500, "not text"),
        (f"<html><body><main><p>{GERMAN}</p></main></body></html>", "other language"),
    ],
)
def test_extract_page_gives_the_reason_for_dropping(html: str | bytes, reason: str) -> None:
    assert read(html) == {"dropped": reason}


def test_extract_page_accepts_any_language() -> None:
    html = f"<html><body><main><p>{GERMAN}</p></main></body></html>"
    assert read(html, language="any")["paragraphs"] == read(html, language="de")["paragraphs"] != []


@pytest.mark.parametrize(
    "head",
    [
        '<head><link rel="canonical" href="https://b.example/x"></head>',
        '<head><meta property="og:url" content="https://b.example/x"></head>',
        "<!-- saved from url=(0019)https://b.example/x --><head></head>",
    ],
)
def test_extract_page_finds_the_url_of_a_saved_page(head: str) -> None:
    body = PAGES[0].html.decode().split("</head>")[1]
    assert read(f"<html>{head}{body}", url="")["url"] == "https://b.example/x"
    assert read(f"<html><head></head>{body}", url="") == {"dropped": "no address"}


def test_extract_page_reads_other_encodings() -> None:
    text = "The café of the town was closed and the people were not pleased with that at all."
    html = f'<html><head><meta charset="iso-8859-1"></head><body><main><p>{text}</p></main></body>'
    assert read(html.encode("latin-1"))["paragraphs"] == [text]
