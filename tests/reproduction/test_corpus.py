"""What an experiment draws from a corpus is fair, repeatable and never half written."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up import made_up_articles, write_lines

from hiersum.data.corpora import read_corpus
from hiersum.reproduction.corpus import build_split, count_all, draw
from hiersum.reproduction.experiment import CorpusSettings


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    articles = made_up_articles(40)
    return [
        write_lines(articles[:25], tmp_path / "a.jsonl"),
        write_lines(articles[25:], tmp_path / "b.jsonl"),
    ]


def settings(**changes: int) -> CorpusSettings:
    return CorpusSettings(train=("a",), valid=("a",), test=("a",), **changes)  # type: ignore[arg-type]


def ids(path: Path) -> list[str]:
    return [cluster.id for cluster in read_corpus(path)]


def test_as_many_as_asked_are_drawn_from_all_files(files: list[Path], tmp_path: Path) -> None:
    drawn = ids(draw(files, 12, tmp_path / "x" / "drawn.parquet", settings()))
    assert len(set(drawn)) == 12
    numbers = [int(name[1:]) for name in drawn]
    assert numbers == sorted(numbers), "in the corpora's order"
    assert min(numbers) < 25 <= max(numbers), "of both files"


def test_the_seed_decides(files: list[Path], tmp_path: Path) -> None:
    def drawn(name: str, seed: int) -> list[str]:
        return ids(draw(files, 12, tmp_path / f"{name}.parquet", settings(seed=seed)))

    assert drawn("one", 1) == drawn("again", 1)
    assert drawn("one", 1) != drawn("two", 2)


def test_fewer_than_asked_are_all_of_them(files: list[Path], tmp_path: Path) -> None:
    assert len(ids(draw(files, 99, tmp_path / "drawn.parquet", settings()))) == 40
    assert (count_all(files, 0), count_all(files, 12)) == (40, 12)


def test_test_clusters_find_train_articles(files: list[Path], tmp_path: Path) -> None:
    report = build_split(files[1:], files[:1], tmp_path / "out", settings(search=3), workers=1)
    assert report["clusters"] == 15
    train_titles = {article.title for article in made_up_articles(40)[:25]}
    found = {d.name for c in read_corpus(tmp_path / "out") for d in c.documents[1:]}
    assert found & train_titles
