"""Reports say what was scored, against what, and what the numbers hide."""

from __future__ import annotations

import json

import pytest

from hiersum import Cluster, Document
from hiersum.config import EvaluationConfig
from hiersum.evaluation.files import Joined
from hiersum.evaluation.report import evaluate

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


def test_the_same_seed_gives_the_same_report() -> None:
    texts = (REFERENCES[0], "The ferry.", "Nobody was there.")
    first, again = (
        evaluate(joined(texts), EvaluationConfig(seed=seed), names=["s"]).to_record()
        for seed in (3, 3)
    )
    assert first == again
    assert "seed:3" in first["signature"]
