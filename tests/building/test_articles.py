"""Articles come out of a store as they went in, and out of any corpus alike."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_up import made_up_articles, write_lines

from hiersum.building.articles import ArticleStore, read_articles, write_articles
from hiersum.data.records import BadRecords
from hiersum.errors import DataError, InputError


@pytest.mark.parametrize("number", [0, 1, 63, 64, 65, 200])
def test_a_store_holds_what_was_written(tmp_path: Path, number: int) -> None:
    articles = made_up_articles(number)
    write_articles(articles, tmp_path / "a.arrow")
    store = ArticleStore(tmp_path / "a.arrow")
    assert len(store) == number
    assert list(store) == articles
    assert store[10:70:20] == articles[10:70:20]
    with pytest.raises(IndexError):
        store[number]


def test_wikilead_rows_and_cluster_lines_are_the_same_articles(tmp_path: Path) -> None:
    articles = made_up_articles(5)
    lines = write_lines(articles, tmp_path / "a.jsonl")
    rows = [
        {"id": a.id, "title": a.title, "lead": [a.lead], "paragraphs": list(a.paragraphs)}
        for a in articles
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for path in (lines, tmp_path / "a.parquet"):
        assert list(read_articles([path], kind="auto", bad=BadRecords())) == articles


def test_a_body_of_plain_text_is_split_into_paragraphs(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1", "documents": ["One.\\nTwo.", "Three."], "summary": "All."}')
    (article,) = read_articles([path], kind="auto", bad=BadRecords())
    assert (article.lead, article.paragraphs) == ("All.", ("One.", "Two.", "Three."))


def test_a_broken_article_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"documents": []}')
    with pytest.raises(DataError, match=r"a\.jsonl:1: a cluster without documents"):
        list(read_articles([path], kind="clusters", bad=BadRecords()))


def test_a_full_disk_is_one_sentence() -> None:
    with pytest.raises(
        InputError, match=r"/dev/full: cannot be written \(No space left on device\)"
    ):
        write_articles(made_up_articles(300), Path("/dev/full"))
