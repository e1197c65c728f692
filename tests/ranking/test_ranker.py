"""Rankers that learn nothing: similarity, reading order and the oracle; ties keep reading order."""

from __future__ import annotations

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from hiersum.ranking.ranker import OracleRanker, ReadingOrder, SimilarityRanker, best_first
from hiersum.text.tfidf import TfidfSpace, cosines
from hiersum.types import Paragraph

TEXTS = [
    "ferries are free for residents of the town",
    "the bridge over the harbour is old",
    "a bridge needs paint",
    "dogs bake cakes and nobody knows why",
]
PARAGRAPHS = [Paragraph(text, 0, n) for n, text in enumerate(TEXTS)]
TARGET = "The old harbour bridge was closed to traffic in May."
COPIED_TEXTS = [
    "Ships pass below it every day.",
    "In May the old harbour bridge was closed.",
    "The old harbour bridge was closed to traffic in May, said the town.",
    "",
]
COPIED = [Paragraph(text, 0, index) for index, text in enumerate(COPIED_TEXTS)]


def test_similarity_is_the_cosine_with_the_title() -> None:
    space = TfidfSpace(TEXTS)
    expected = cosines(space.vectors, space.vectors_of(["harbour bridge"]))[:, 0]
    scores = SimilarityRanker().scores("harbour bridge", PARAGRAPHS)
    np.testing.assert_allclose(scores, expected)
    assert np.argmax(scores) == 1


@pytest.mark.parametrize("title", ["", "zeppelin", "!?"])
def test_similarity_without_a_known_title_word_uses_the_centroid(title: str) -> None:
    vectors = TfidfSpace(TEXTS).vectors.toarray()
    centroid = vectors.sum(axis=0)
    expected = vectors @ centroid / np.linalg.norm(centroid)
    np.testing.assert_allclose(SimilarityRanker().scores(title, PARAGRAPHS), expected)


def test_similarity_does_not_depend_on_order() -> None:
    forward = SimilarityRanker().scores("bridge", PARAGRAPHS)
    backward = SimilarityRanker().scores("bridge", PARAGRAPHS[::-1])
    np.testing.assert_allclose(forward, backward[::-1])


def test_similarity_scores_a_single_paragraph() -> None:
    assert SimilarityRanker().scores("bridge", PARAGRAPHS[:1]) == [0.0]


def test_reading_order_keeps_the_order() -> None:
    assert best_first(ReadingOrder().scores("dogs", PARAGRAPHS)) == [0, 1, 2, 3]


def test_oracle_scores_are_rouge_2_recall() -> None:
    scorer = RougeScorer(["rouge2"], use_stemmer=True)
    expected = [scorer.score(TARGET, text)["rouge2"].recall for text in COPIED_TEXTS]
    assert OracleRanker(TARGET).scores("no title matters", COPIED) == pytest.approx(expected)


def test_oracle_ranks_what_the_target_was_made_of_first() -> None:
    scores = OracleRanker(TARGET).scores("", COPIED)
    assert best_first(scores)[:2] == [2, 1]


def test_oracle_without_a_target_keeps_the_order() -> None:
    assert best_first(OracleRanker("").scores("bridge", COPIED)) == [0, 1, 2, 3]


def test_best_first_and_ties_in_reading_order() -> None:
    assert best_first([2.0, 1.0, 2.0, 4.0, 1.0]) == [3, 0, 2, 1, 4]
    assert best_first([]) == []
