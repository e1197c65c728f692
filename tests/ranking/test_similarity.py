"""Similarity ranking: tf-idf cosine with the title, or with the centroid without one."""

from __future__ import annotations

import numpy as np
import pytest

from hiersum.ranking.similarity import SimilarityRanker
from hiersum.text.tfidf import TfidfSpace, cosines
from hiersum.types import Paragraph

TEXTS = [
    "ferries are free for residents of the town",
    "the bridge over the harbour is old",
    "a bridge needs paint",
    "dogs bake cakes and nobody knows why",
]
PARAGRAPHS = [Paragraph(text, 0, n) for n, text in enumerate(TEXTS)]


def test_scores_are_cosines_with_the_title() -> None:
    space = TfidfSpace(TEXTS)
    expected = cosines(space.vectors, space.vectors_of(["harbour bridge"]))[:, 0]
    scores = SimilarityRanker().scores("harbour bridge", PARAGRAPHS)
    np.testing.assert_allclose(scores, expected)
    assert np.argmax(scores) == 1


@pytest.mark.parametrize("title", ["", "zeppelin", "!?"])
def test_without_a_known_title_word_the_centroid_is_the_query(title: str) -> None:
    vectors = TfidfSpace(TEXTS).vectors.toarray()
    centroid = vectors.sum(axis=0)
    expected = vectors @ centroid / np.linalg.norm(centroid)
    np.testing.assert_allclose(SimilarityRanker().scores(title, PARAGRAPHS), expected)


def test_scores_do_not_depend_on_order() -> None:
    forward = SimilarityRanker().scores("bridge", PARAGRAPHS)
    backward = SimilarityRanker().scores("bridge", PARAGRAPHS[::-1])
    np.testing.assert_allclose(forward, backward[::-1])


def test_one_paragraph_has_a_score() -> None:
    assert SimilarityRanker().scores("bridge", PARAGRAPHS[:1]) == [0.0]
