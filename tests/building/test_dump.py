"""Every page of a dump is read exactly once, however it is packed and cut; damage is refused."""

from __future__ import annotations

import bz2
from collections import Counter
from pathlib import Path

import pytest
from made_up_web import FOOTER, HEADER, dump_elements, made_up_wiki, page_element, write_dump

from hiersum.building.dump import DumpChunk, chunks_of, read_pages
from hiersum.errors import DataError

ARTICLES, _ = made_up_wiki(60)


def titles_of(path: Path, chunk_bytes: int) -> tuple[list[str], Counter[str], int]:
    problems: Counter[str] = Counter()
    chunks = chunks_of([path], chunk_bytes)
    titles = [page.title for chunk in chunks for page in read_pages(chunk, problems)]
    return titles, +problems, len(chunks)


@pytest.fixture(scope="module")
def all_titles(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = write_dump(tmp_path_factory.mktemp("dump") / "d.xml", ARTICLES)
    titles, _, _ = titles_of(path, 1 << 30)
    assert len(titles) == 65
    return titles


@pytest.mark.parametrize("chunk_bytes", [50, 777, 5_000, 1 << 30])
def test_read_pages_of_plain_xml_cut_anywhere(
    tmp_path: Path, all_titles: list[str], chunk_bytes: int
) -> None:
    path = write_dump(tmp_path / "d.xml", ARTICLES)
    titles, problems, num_chunks = titles_of(path, chunk_bytes)
    assert titles == all_titles
    assert not problems
    assert num_chunks == max(1, -(-path.stat().st_size // (4 * chunk_bytes)))


@pytest.mark.parametrize("chunk_bytes", [1, 2_000, 1 << 30])
def test_read_pages_of_streams_of_whole_pages(
    tmp_path: Path, all_titles: list[str], chunk_bytes: int
) -> None:
    path = write_dump(tmp_path / "d.xml.bz2", ARTICLES, per_stream=7)
    titles, problems, num_chunks = titles_of(path, chunk_bytes)
    assert titles == all_titles
    assert not problems
    assert (num_chunks > 1) == (chunk_bytes < 1 << 20)


@pytest.mark.parametrize("size", [11, 100, 997])
def test_read_pages_of_streams_that_split_pages_and_tags(
    tmp_path: Path, all_titles: list[str], size: int
) -> None:
    """Parallel packers cut wherever a block is full, also within `<page>`."""
    text = (HEADER + "".join(dump_elements(ARTICLES)) + FOOTER).encode()
    path = tmp_path / "d.xml.bz2"
    path.write_bytes(b"".join(bz2.compress(text[n : n + size]) for n in range(0, len(text), size)))
    for chunk_bytes in (1, 500):
        titles, _, num_chunks = titles_of(path, chunk_bytes)
        assert titles == all_titles
        assert num_chunks > 10


def test_chunks_of_one_stream_is_one_chunk(tmp_path: Path, all_titles: list[str]) -> None:
    path = tmp_path / "d.xml.bz2"
    path.write_bytes(bz2.compress((HEADER + "".join(dump_elements(ARTICLES)) + FOOTER).encode()))
    assert titles_of(path, 10) == (all_titles, Counter(), 1)


@pytest.mark.parametrize("chunk_bytes", [1, 1 << 30])
@pytest.mark.parametrize("is_cut", [True, False])
def test_read_pages_refuses_a_damaged_dump(tmp_path: Path, chunk_bytes: int, is_cut: bool) -> None:
    path = write_dump(tmp_path / "d.xml.bz2", ARTICLES, per_stream=5)
    data = path.read_bytes()
    starts = [chunk.start for chunk in chunks_of([path], 1)]
    middle = (starts[4] + starts[5]) // 2
    path.write_bytes(data[:middle] if is_cut else data[:middle] + b"damaged!" + data[middle + 8 :])
    with pytest.raises(DataError, match=r"d\.xml\.bz2: damaged or cut off; check its checksum"):
        titles_of(path, chunk_bytes)


def test_read_pages_refuses_truncated_xml(tmp_path: Path) -> None:
    path = write_dump(tmp_path / "d.xml", ARTICLES)
    path.write_text(path.read_text()[:20_000])
    with pytest.raises(DataError, match=r"d\.xml: damaged or cut off"):
        titles_of(path, 1_000)


def test_read_pages_counts_a_damaged_page_and_continues(tmp_path: Path) -> None:
    path = tmp_path / "d.xml"
    good = page_element(1, "Good & well", "Text with <b> and [[links]].")
    path.write_text(HEADER + "<page><title>Bad</wrong></page>" + good + "<page></page>" + FOOTER)
    problems: Counter[str] = Counter()
    (page,) = read_pages(DumpChunk(0, path, 0, path.stat().st_size), problems)
    assert (page.title, page.text) == ("Good & well", "Text with <b> and [[links]].")
    assert (page.id, page.namespace, page.is_redirect) == ("1", 0, False)
    assert +problems == {"damaged page in the dump": 2}


def test_chunks_of_refuses_other_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.bz2: no such file"):
        chunks_of([tmp_path / "none.bz2"])
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(DataError, match=r"empty: cannot be read \(it is empty\)"):
        chunks_of([tmp_path / "empty"])
    (tmp_path / "a.txt").write_text("Hello")
    with pytest.raises(DataError, match=r"a\.txt: not a Wikipedia dump; expected pages-articles"):
        chunks_of([tmp_path / "a.txt"])
