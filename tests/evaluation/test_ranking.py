"""Table 1: recall of the first paragraphs equals rouge-score's, and intervals hold their mean."""

from __future__ import annotations

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from hiersum.evaluation.ranking import CUTS, PAPER, interval, recalls_at

TARGET = "The harbour bridge reopened on Monday; ferries carried commuters until then."
TEXTS = [
    "Nobody asked about the weather.",
    "The bridge reopened, and it was a Monday.",
    "Commuters were carried by ferries.",
    "Ferries carried commuters.",
    "Until then the harbour was quiet.",
]


def test_recall_is_that_of_another_implementation_on_the_joined_texts() -> None:
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    found = recalls_at(TARGET, [TEXTS, TEXTS[::-1]], cuts=(1, 2))
    for row, ranking in zip(found, (TEXTS, TEXTS[::-1])):
        for value, cut in zip(row, (1, 2)):
            expected = scorer.score(TARGET, "\n".join(ranking[:cut]))["rougeL"].recall
            assert value == pytest.approx(100 * expected)


def test_a_cluster_counts_only_with_more_than_twice_as_many_paragraphs() -> None:
    assert np.isnan(recalls_at(TARGET, [TEXTS[:4]], cuts=(1, 2))).tolist() == [[False, True]]
    assert np.isnan(recalls_at(TARGET, [TEXTS[:4]], cuts=(2, 3))).all()


def test_the_interval_is_about_two_standard_errors_wide() -> None:
    values = np.random.default_rng(0).normal(30, 10, 2_000)
    found = interval(values)
    assert found.low < found.mean < found.high
    assert found.high - found.low == pytest.approx(2 * 1.96 * 10 / np.sqrt(2_000), rel=0.1)
    assert interval(values) == found, "the same scores have the same interval"


def test_one_value_and_equal_values_are_their_own_interval() -> None:
    for values in (np.array([3.0]), np.full(5, 3.0)):
        assert (interval(values).low, interval(values).high) == (3, 3)


def test_the_papers_numbers_are_there_for_every_cut() -> None:
    assert tuple(PAPER) == CUTS
    assert all(ranker > similarity for similarity, ranker in PAPER.values())
