"""Reports and comparisons: tables, records and notes agree with the scores of the pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiersum import Cluster, Document
from hiersum.config import EvaluationConfig
from hiersum.errors import InputError
from hiersum.evaluation.comparison import (
    Report,
    Run,
    Table,
    compare,
    evaluate,
    evaluate_files,
    mark_differences,
    p_value,
)
from hiersum.evaluation.summary_files import Joined

REFERENCES = ("The bridge is open.", "The ferry is closed.", "Nobody was hurt.")
SOURCES = tuple(Cluster("T", (Document(text),)) for text in REFERENCES)


def joined(*systems: tuple[str, ...], clusters: tuple[Cluster, ...] | None = None) -> Joined:
    return Joined(("a", "b", "c"), REFERENCES, systems, clusters, 0)


def test_a_perfect_system_has_every_score_at_100() -> None:
    report = evaluate(joined(REFERENCES), EvaluationConfig(), names=["copy"])
    scores, measures = report.tables()
    assert [row[0] for row in scores.rows] == ["ROUGE-1", "ROUGE-2", "ROUGE-L", "ROUGE-Lsum"]
    assert all(row[1:] == ("100.00", "100.00 to 100.00", "100.00", "100.00") for row in scores.rows)
    assert measures.header == ("", "copy", "references")
    assert measures.rows[0] == ("words", "3.7", "3.7")
    assert report.notes == ()


def test_means_are_those_of_the_pairs() -> None:
    texts = (REFERENCES[0], "", "Nobody was there.")
    report = evaluate(joined(texts), EvaluationConfig(preset="paper"), names=["s"])
    record = report.to_record()
    each = [row["rouge1"] for row in record["systems"][0]["scores"]]
    assert each == [100.0, 0.0, pytest.approx(66.6667)]
    assert record["systems"][0]["rouge"]["rouge1"]["f1"]["mean"] == pytest.approx(sum(each) / 3)
    assert [row["id"] for row in record["systems"][0]["scores"]] == ["a", "b", "c"]
    assert json.loads(json.dumps(record)) == record


def test_sources_add_what_needs_them_for_systems_and_references() -> None:
    texts = ("The bridge in Bergen is open.", "The ferry is closed.", "Nobody was hurt.")
    report = evaluate(joined(texts, clusters=SOURCES), EvaluationConfig(), names=["s"])
    rows = {row[0]: row[1:] for row in report.measure_table().rows}
    assert rows["names in the sources"] == ("0.0 %", "-")
    assert rows["documents drawn on"] == ("100.0 %", "100.0 %")
    assert rows["novel 1-grams"] == ("11.1 %", "0.0 %")  # in and bergen of six words; none; none


def test_what_the_numbers_hide_is_noted() -> None:
    report = evaluate(joined(("桥梁", " ", "Nobody.")), EvaluationConfig(), names=["s"])
    assert report.notes == (
        "s: 1 empty, which score 0",
        "s: 1 without a word that ROUGE knows (a-z, 0-9), which score 0",
    )


def test_the_same_texts_give_the_same_report() -> None:
    texts = (REFERENCES[0], "The ferry.", "Nobody was there.")
    first, again = (
        evaluate(joined(texts), EvaluationConfig(), names=["s"]).to_record() for _ in range(2)
    )
    assert first == again
    assert "seed:1" in first["signature"]


FOUR_REFERENCES = ("The bridge is open.", "The ferry is closed.", "Nobody was hurt.", "It rained.")
GOOD = ("The bridge is open.", "The ferry is closed.", "Nobody was here.", "Snow fell.")
BAD = ("A bridge.", "The ferry is closed.", "Somebody.", "It rained.")


@pytest.fixture(scope="module")
def comparison() -> Report:
    ids = ("a", "b", "c", "d")
    joined = Joined(ids, FOUR_REFERENCES, (GOOD, BAD), None, 0)
    config = EvaluationConfig()
    return compare(evaluate(joined, config, names=["good", "bad"]), config, num_examples=1)


def test_differences_are_those_of_the_means(comparison: Report) -> None:
    first, second = comparison.systems
    for metric, difference in comparison.differences.items():
        expected = first.rouge[metric]["f1"].mean - second.rouge[metric]["f1"].mean
        assert difference.interval.mean == pytest.approx(expected)
        assert difference.interval.low <= difference.interval.mean <= difference.interval.high


def test_examples_are_where_each_is_furthest_ahead(comparison: Report) -> None:
    assert [example.id for example in comparison.examples] == ["a", "d"]
    assert comparison.examples[0].f1[0] == 1
    assert [run.text for run in comparison.examples[0].marked[0] if run.differs] == [
        "The",
        "is open.",
    ]


def test_pairs_on_which_they_are_alike_are_no_examples() -> None:
    joined = Joined(("a",), FOUR_REFERENCES[1:2], (GOOD[1:2], BAD[1:2]), None, 0)
    report = evaluate(joined, EvaluationConfig(), names=["x", "y"])
    assert compare(report, EvaluationConfig(), num_examples=5).examples == ()


def test_the_table_and_the_record_agree(comparison: Report) -> None:
    table = comparison.tables()[0]
    assert table.header[:3] == ("F1", "good", "bad")
    record = comparison.to_record()
    for row, metric in zip(table.rows, record["differences"].values()):
        assert row[3] == f"{metric['mean']:+.2f}"
        assert row[5] == p_value(metric["p_bootstrap"])


def test_a_tiny_p_value_is_not_called_zero() -> None:
    assert (p_value(0.0001), p_value(0.0312)) == ("< 0.001", "0.031")


texts = st.lists(st.sampled_from("a b c A, d.".split()), max_size=12).map(" ".join)


def test_words_that_only_one_text_has_are_marked() -> None:
    first, second = mark_differences("The bridge is open, he said.", "The old bridge is open.")
    assert first == [Run("The bridge is open,", False), Run("he said.", True)]
    assert second == [Run("The", False), Run("old", True), Run("bridge is open.", False)]


@given(texts, texts)
def test_no_word_is_lost_and_shared_words_are_the_same(first: str, second: str) -> None:
    marked = mark_differences(first, second)
    assert " ".join(run.text for run in marked[0]) == first
    assert " ".join(run.text for run in marked[1]) == second
    shared = [
        [w.strip(".,").lower() for run in side if not run.differs for w in run.text.split()]
        for side in marked
    ]
    assert shared[0] == shared[1]


def test_a_text_does_not_differ_from_itself_and_wholly_from_nothing() -> None:
    assert mark_differences("a b", "a b")[0] == [Run("a b", False)]
    assert mark_differences("a b", "") == ([Run("a b", True)], [])


TABLE = Table(("", "F1"), (("ROUGE-1", "31.20"), ("a|<b>", "7.00")))


def test_plain_text_is_aligned_with_numbers_flush_right() -> None:
    assert TABLE.to_text().splitlines() == [
        "            F1",
        "ROUGE-1  31.20",
        "a|<b>     7.00",
    ]
    texts = Table(("stage", "state", "s"), (("a", "done", "12"), ("b", "to do", "3")), num_names=2)
    assert texts.to_text().splitlines() == [
        "stage  state   s",
        "a      done   12",
        "b      to do   3",
    ]


def test_markdown_escapes_what_would_split_a_cell() -> None:
    assert TABLE.to_markdown().splitlines() == [
        "|  | F1 |", "| --- | ---: |", "| ROUGE-1 | 31.20 |", "| a\\|<b> | 7.00 |"
    ]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "out.txt").write_text(f"text {name}\n")
    (tmp_path / "references.txt").write_text("text a\n")
    return tmp_path


def test_systems_of_one_file_name_keep_their_folders(folder: Path) -> None:
    paths = [folder / "a" / "out.txt", folder / "b" / "out.txt"]
    report = evaluate_files(paths, folder / "references.txt", EvaluationConfig())
    assert report.names == ("a/out.txt", "b/out.txt")
    assert report.systems[0].rouge["rouge1"]["f1"].mean == 1
    single = evaluate_files(paths[:1], folder / "references.txt", EvaluationConfig())
    assert single.names == ("out.txt",)


def test_a_file_is_not_compared_with_itself(folder: Path) -> None:
    path = folder / "a" / "out.txt"
    with pytest.raises(InputError, match="is compared with itself"):
        evaluate_files([path, path], folder / "references.txt", EvaluationConfig())
