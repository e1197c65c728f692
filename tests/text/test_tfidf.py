"""Weights and cosines, held to the formula of appendix A.1 computed word by word."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hiersum.text.tfidf import TfidfSpace, cosines
from hiersum.text.words import split_words

TEXTS = ["the bridge is open", "the bridge bridge is old", "the ferry", "", "the"]


def by_hand(texts: list[str], left: str, right: str) -> float:
    frequency = Counter(word for text in texts for word in set(split_words(text)))

    def weights(text: str) -> dict[str, float]:
        counts = Counter(word for word in split_words(text) if word in frequency)
        return {w: n * math.log(len(texts) / frequency[w]) for w, n in counts.items()}

    a, b = weights(left), weights(right)
    norms = math.hypot(*a.values()) * math.hypot(*b.values())
    return sum(a[word] * b.get(word, 0) for word in a) / norms if norms else 0.0


@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=6).map(" ".join), min_size=1, max_size=6)
)
def test_cosines_follow_the_formula(texts: list[str]) -> None:
    vectors = TfidfSpace(texts).vectors
    expected = [[by_hand(texts, left, right) for right in texts] for left in texts]
    np.testing.assert_allclose(cosines(vectors, vectors), expected, atol=1e-9)


def test_other_texts_are_weighed_as_in_the_space() -> None:
    space = TfidfSpace(TEXTS)
    query = space.vectors_of(["open bridge of dreams"])
    expected = [[by_hand(TEXTS, text, "open bridge of dreams")] for text in TEXTS]
    np.testing.assert_allclose(cosines(space.vectors, query), expected, atol=1e-9)


def test_stems_make_two_forms_of_a_word_one() -> None:
    texts = ["bridges", "bridge", "ferry"]
    stemmed, plain = TfidfSpace(texts, stem=True).vectors, TfidfSpace(texts).vectors
    assert cosines(stemmed, stemmed)[0, 1] > 0.99
    assert cosines(plain, plain)[0, 1] == 0


def test_a_space_of_nothing_is_empty() -> None:
    assert TfidfSpace([]).vectors.shape == (0, 0)
