"""The work of the stages: fair draws, and clusters from all articles."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up import made_up_articles, write_lines

from hiersum.data.corpora import count_all, read_corpus, write_clusters
from hiersum.data.records import cluster_from_record
from hiersum.reproduction.experiment import CorpusSettings, Experiment, RunSettings
from hiersum.reproduction.systems import Sizes
from hiersum.reproduction.work import Workshop, draw
from hiersum.types import CitedSentence


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    articles = made_up_articles(40)
    return [
        write_lines(articles[:25], tmp_path / "a.jsonl"),
        write_lines(articles[25:], tmp_path / "b.jsonl"),
    ]


def settings(**changes: int) -> CorpusSettings:
    return CorpusSettings(train=("a",), valid=("a",), test=("a",), **changes)  # type: ignore[arg-type]


def draw_ids(files: list[Path], number: int, out: Path, seed: int = 1) -> list[str]:
    draw(files, number, out, settings(seed=seed))
    return [cluster.id for cluster in read_corpus(out)]


def test_draw_takes_records_from_all_files(files: list[Path], tmp_path: Path) -> None:
    drawn = draw_ids(files, 12, tmp_path / "x" / "drawn.parquet")
    assert len(set(drawn)) == 12
    numbers = [int(name[1:]) for name in drawn]
    assert numbers == sorted(numbers), "in the corpora's order"
    assert min(numbers) < 25 <= max(numbers), "of both files"


def test_draw_depends_on_the_seed(files: list[Path], tmp_path: Path) -> None:
    def drawn(name: str, seed: int) -> list[str]:
        return draw_ids(files, 12, tmp_path / f"{name}.parquet", seed)

    assert drawn("one", 1) == drawn("again", 1)
    assert drawn("one", 1) != drawn("two", 2)


def test_draw_takes_all_if_there_are_fewer(files: list[Path], tmp_path: Path) -> None:
    assert len(draw_ids(files, 99, tmp_path / "drawn.parquet")) == 40
    assert (count_all(files, 0), count_all(files, 12)) == (40, 12)


def test_workshop_draws_clusters_with_their_citations(tmp_path: Path) -> None:
    """So that summaries known to be supported stay whole."""
    record = {
        "id": "c",
        "documents": [{"paragraphs": ["The bridge is old.", "It is red."]}],
        "summary": [{"text": "An old bridge.", "paragraphs": [0]}],
    }
    path = tmp_path / "a.jsonl"
    write_clusters([cluster_from_record(record, "here")], path)
    corpus = CorpusSettings(kind="clusters", train=(str(path),), test=(str(path),), max_train=1)
    experiment = Experiment(name="e", run=RunSettings(), corpus=corpus, sizes=Sizes(), common={})
    workshop = Workshop(experiment, tmp_path / "out", workers=1)
    workshop.build("train")
    (drawn,) = read_corpus(workshop.clusters("train")[0])
    assert drawn.cited == (CitedSentence("An old bridge.", (0,)),)


def shared_workshop(tmp_path: Path, name: str, train: list[dict[str, object]]) -> Workshop:
    """An experiment whose networks learn from two clusters each."""
    path = tmp_path / "train.jsonl"
    write_clusters([cluster_from_record(record, "here") for record in train], path)
    files = (str(path),)
    corpus = CorpusSettings(kind="clusters", train=files, valid=files, test=files)
    common = {"data": {"min_supported_words": 3}, "ranker": {"kind": "similarity"}}
    experiment = Experiment(
        name="e", run=RunSettings(clusters=2), corpus=corpus, sizes=Sizes(), common=common
    )
    return Workshop(experiment, tmp_path / name, workers=1)


def test_workshop_cuts_targets_by_whole_sources_for_all_networks(tmp_path: Path) -> None:
    """Not by what a network reads of them, which would teach each from other targets."""
    supported, invented = "The old bridge is red.", "Ministers praised everybody yesterday."
    paragraphs = [f"Filler number {n} says little." for n in range(50)] + ["The old bridge is red!"]
    record = {"title": "Bridge", "documents": [{"paragraphs": paragraphs}]}
    train: list[dict[str, object]] = [
        {**record, "id": f"kept {n}", "summary": f"{supported} {invented}"} for n in range(4)
    ]
    train.append({**record, "id": "nothing left", "summary": invented})
    cited = [{"text": invented, "paragraphs": [0]}]
    train.append({**record, "id": "cited", "summary": cited})
    train.append({**record, "id": "without a summary"})
    workshop = shared_workshop(tmp_path, "out", train)
    for split in ("train", "valid", "test"):
        workshop.build(split)
    valid = {c.id: c.summary for c in read_corpus(workshop.clusters("valid")[0])}
    assert valid == {**{f"kept {n}": supported for n in range(4)}, "cited": invented}
    learned = {c.id: c.summary for c in read_corpus(workshop.clusters("train")[0])}
    assert len(learned) == 2, "as many as the budget"
    assert learned.items() <= valid.items()
    again = shared_workshop(tmp_path, "again", train)
    again.build("train")
    assert again.drawn("train").read_bytes() == workshop.drawn("train").read_bytes()
    assert workshop.clusters("test") == [tmp_path / "train.jsonl"], "targets of tests stay whole"


def test_workshop_build_searches_training_articles(files: list[Path], tmp_path: Path) -> None:
    train, test = map(str, files)
    corpus = CorpusSettings(train=(train,), valid=(test,), test=(test,), search=3)
    experiment = Experiment(name="e", run=RunSettings(), corpus=corpus, sizes=Sizes(), common={})
    workshop = Workshop(experiment, tmp_path / "out", workers=1)
    workshop.build("test")
    assert len(list(read_corpus(workshop.built("test")))) == 15
    train_titles = {article.title for article in made_up_articles(40)[:25]}
    found = {d.name for c in read_corpus(workshop.built("test")) for d in c.documents[1:]}
    assert found & train_titles
