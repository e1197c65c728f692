"""The oracle puts first what the target was made of, as `rouge-score` counts it."""

from __future__ import annotations

import pytest
from rouge_score.rouge_scorer import RougeScorer

from hiersum.ranking.oracle import OracleRanker
from hiersum.ranking.ranker import best_first
from hiersum.types import Paragraph

TARGET = "The old harbour bridge was closed to traffic in May."
TEXTS = [
    "Ships pass below it every day.",
    "In May the old harbour bridge was closed.",
    "The old harbour bridge was closed to traffic in May, said the town.",
    "",
]
PARAGRAPHS = [Paragraph(text, 0, index) for index, text in enumerate(TEXTS)]


def test_scores_are_rouge_2_recall() -> None:
    scorer = RougeScorer(["rouge2"], use_stemmer=True)
    expected = [scorer.score(TARGET, text)["rouge2"].recall for text in TEXTS]
    assert OracleRanker(TARGET).scores("no title matters", PARAGRAPHS) == pytest.approx(expected)


def test_what_the_target_was_made_of_comes_first() -> None:
    scores = OracleRanker(TARGET).scores("", PARAGRAPHS)
    assert best_first(scores)[:2] == [2, 1]


def test_without_a_target_paragraphs_stay_in_their_order() -> None:
    assert best_first(OracleRanker("").scores("bridge", PARAGRAPHS)) == [0, 1, 2, 3]
