"""Pages come out of every kind of source; what cannot be read is counted, and the rest is read."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from made_up_web import (
    MadeUpPage,
    made_up_wiki,
    warc_record,
    wet_record,
    write_page_lines,
    write_warc,
)

from hiersum.building.page_files import RawPage, find_sources, identify, read_source
from hiersum.errors import DataError

_, PAGES = made_up_wiki(8)
Write = Callable[[str, bytes | str], Path]


def read(*roots: Path, max_bytes: int = 1_000_000) -> tuple[list[RawPage], Counter[str]]:
    files = find_sources(list(roots))
    assert [one.number for one in files] == list(range(len(files)))
    found = [page for one in files for page in read_source(one, max_bytes)]
    pages = [page for page in found if isinstance(page, RawPage)]
    return pages, Counter(reason for reason in found if isinstance(reason, str))


def urls(pages: list[RawPage]) -> list[str]:
    return [page.url for page in pages]


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_read_source_reads_archives_and_names_what_it_drops(tmp_path: Path, name: str) -> None:
    more = (
        warc_record("http://a.example/gone", b"Gone", status="404 Not Found"),
        warc_record("http://a.example/pdf", b"%PDF", kind="application/pdf"),
        warc_record("http://a.example/large", b"x" * 50_000),
        warc_record(
            "http://a.example/gz", gzip.compress(b"<p>Hi"), extra="Content-Encoding: gzip\r\n"
        ),
        warc_record("http://a.example/bad", b"no gzip", extra="Content-Encoding: gzip\r\n"),
        warc_record("http://a.example/last", b"<p>Last"),
    )
    path = write_warc(tmp_path / name, PAGES, more)
    pages, problems = read(path, max_bytes=20_000)
    assert [(page.url, page.data) for page in pages[: len(PAGES)]] == [
        (p.url, p.html) for p in PAGES
    ]
    assert urls(pages[len(PAGES) :]) == ["http://a.example/gz", "http://a.example/last"]
    assert pages[-2].data == b"<p>Hi"
    assert problems == {"status 404": 1, "not HTML": 1, "too large": 1, "damaged record": 1}


def test_read_source_reads_text_of_wet_files(write: Write) -> None:
    records = [wet_record(f"http://a.example/{n}", f"Text {n}\nMore text") for n in range(3)]
    path = write("a.wet.gz", b"".join(map(gzip.compress, records)))
    pages, problems = read(path)
    assert [(p.kind, p.url, p.data) for p in pages] == [
        ("text", f"http://a.example/{n}", f"Text {n}\nMore text".encode()) for n in range(3)
    ]
    assert not problems


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_read_source_reads_an_archive_up_to_its_damage(tmp_path: Path, name: str) -> None:
    """One file has a record destroyed in the middle, the other is cut off at its end."""
    pack = gzip.compress if name.endswith(".gz") else bytes
    records = [bytearray(pack(warc_record(page.url, page.html))) for page in PAGES]
    kept = [page.url for page in PAGES]
    path = tmp_path / name
    path.write_bytes(b"".join(map(bytes, records))[:-60])
    pages, problems = read(path)
    assert urls(pages) == kept[:-1]
    assert problems == {"record cut off": 1}
    start = 30 if name.endswith(".gz") else 0
    records[5][start : start + 40] = b"\x00" * 40
    path.write_bytes(b"".join(map(bytes, records)))
    pages, problems = read(path)
    assert urls(pages) == kept[:5]
    assert problems == {"damaged record": 1}


def test_read_source_reports_files_that_are_no_archives(write: Write) -> None:
    assert read(write("a.warc.gz", b"garbage" * 100)) == ([], {"damaged record": 1})


def test_read_source_reads_lines(tmp_path: Path, write: Write) -> None:
    path = write_page_lines(tmp_path / "a.jsonl", PAGES[:2])
    bad = ["{", "3", json.dumps({"url": "http://a"}), json.dumps({"text": "no address"})]
    html = json.dumps({"url": "http://h.example/", "html": "<p>x</p>"})
    large = json.dumps({"url": "http://l.example/", "text": "x" * 2_000})
    path.write_text(path.read_text() + "\n".join([*bad, html, large]) + "\n")
    pages, problems = read(path, max_bytes=1_000)
    assert urls(pages) == [PAGES[0].url, PAGES[1].url, "http://h.example/"]
    assert [page.kind for page in pages] == ["text", "text", "html"]
    assert pages[0].title == PAGES[0].title
    assert problems == {
        "not a line of JSON": 1, "line without a text": 2, "no address": 1, "too large": 1
    }  # fmt: skip
    packed = write("b.jsonl.gz", gzip.compress(path.read_bytes())[:-40])
    assert read(packed)[1]["file cut off"] == 1


def test_read_source_reads_folders_of_saved_pages(write: Write, tmp_path: Path) -> None:
    page = MadeUpPage("", "T", ("Text.",))
    write("saved/www.a.example/x/index.html", page.html)
    write("saved/b.example/y.html.gz", gzip.compress(page.html))
    write("saved/loose.htm", page.html)
    write("saved/b.example/cut.html.gz", gzip.compress(page.html)[:-20])
    write("saved/readme.txt", "no page")
    pages, problems = read(tmp_path / "saved")
    assert sorted(urls(pages)) == ["", "https://b.example/y.html.gz", "https://www.a.example/x"]
    assert problems == {"file that cannot be read": 1}


def test_read_source_skips_unwanted_pages(tmp_path: Path) -> None:
    path = write_warc(tmp_path / "a.warc.gz", PAGES)
    (files,) = find_sources([path])
    (page,) = read_source(files, 10**6, lambda url: url == PAGES[3].url)
    assert isinstance(page, RawPage)
    assert page.url == PAGES[3].url


def test_find_sources_refuses_sources_without_pages(tmp_path: Path, write: Write) -> None:
    with pytest.raises(DataError, match=r"none: no such file or folder"):
        find_sources([tmp_path / "none"])
    with pytest.raises(DataError, match=r"a\.txt: contains no source pages; expected \.warc \.wet"):
        find_sources([write("a.txt", "x")])


def test_identify_notices_a_changed_end(write: Write) -> None:
    path = write("a.warc", b"a" * 3_000_000)
    before = identify(path)
    write("a.warc", b"a" * 2_999_999 + b"b")
    assert identify(path) != before
