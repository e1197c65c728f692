"""Comparisons give each system's scores as its own report does, and examples where they differ."""

from __future__ import annotations

import pytest

from hiersum.config import EvaluationConfig
from hiersum.evaluation.comparison import Comparison, compare, p_value
from hiersum.evaluation.files import Joined
from hiersum.evaluation.report import evaluate

REFERENCES = ("The bridge is open.", "The ferry is closed.", "Nobody was hurt.", "It rained.")
GOOD = ("The bridge is open.", "The ferry is closed.", "Nobody was here.", "Snow fell.")
BAD = ("A bridge.", "The ferry is closed.", "Somebody.", "It rained.")


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    ids = ("a", "b", "c", "d")
    joined = Joined(ids, REFERENCES, (GOOD, BAD), None, 0)
    config = EvaluationConfig()
    return compare(evaluate(joined, config, names=["good", "bad"]), config, num_examples=1)


def test_differences_are_those_of_the_means(comparison: Comparison) -> None:
    first, second = comparison.report.systems
    for metric, difference in comparison.differences.items():
        expected = first.rouge[metric]["f1"].mean - second.rouge[metric]["f1"].mean
        assert difference.interval.mean == pytest.approx(expected)
        assert difference.interval.low <= difference.interval.mean <= difference.interval.high


def test_examples_are_where_each_is_furthest_ahead(comparison: Comparison) -> None:
    assert [example.id for example in comparison.examples] == ["a", "d"]
    assert comparison.examples[0].f1[0] == 1
    assert [run.text for run in comparison.examples[0].marked[0] if run.differs] == [
        "The",
        "is open.",
    ]


def test_pairs_on_which_they_are_alike_are_no_examples() -> None:
    joined = Joined(("a",), REFERENCES[1:2], (GOOD[1:2], BAD[1:2]), None, 0)
    report = evaluate(joined, EvaluationConfig(), names=["x", "y"])
    assert compare(report, EvaluationConfig(), num_examples=5).examples == ()


def test_the_table_and_the_record_agree(comparison: Comparison) -> None:
    table = comparison.tables()[0]
    assert table.header[:3] == ("F1", "good", "bad")
    record = comparison.to_record()
    for row, metric in zip(table.rows, record["differences"].values()):
        assert row[3] == f"{metric['mean']:+.2f}"
        assert row[5] == p_value(metric["p_bootstrap"])


def test_a_tiny_p_value_is_not_called_zero() -> None:
    assert (p_value(0.0001), p_value(0.0312)) == ("< 0.001", "0.031")
