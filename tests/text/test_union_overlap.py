"""Unions of common subsequences hold to the `rouge-score` package's rougeLsum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from hiersum.text.overlap import lcs_overlap
from hiersum.text.union_overlap import union_overlap

WORDS = "a b c d e cats cat running runs 7".split()
lines = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
texts = st.lists(lines, max_size=5).map("\n".join) | st.text("ab \n", max_size=60)


@settings(max_examples=400)
@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=4), stem=st.booleans())
def test_unions_equal_rouge_score(pairs: list[tuple[str, str]], stem: bool) -> None:
    """Few words make many longest subsequences, so the same one must be taken every time."""
    targets, candidates = [list(side) for side in zip(*pairs)]
    overlap = union_overlap(targets, candidates, stem=stem)
    scorer = RougeScorer(["rougeLsum"], use_stemmer=stem)
    expected = [scorer.score(t, c)["rougeLsum"] for t, c in pairs]
    np.testing.assert_allclose(overlap.precision, [e.precision for e in expected], atol=1e-12)
    np.testing.assert_allclose(overlap.recall, [e.recall for e in expected], atol=1e-12)
    np.testing.assert_allclose(overlap.f1, [e.fmeasure for e in expected], atol=1e-12)


@given(pairs=st.lists(st.tuples(lines, lines), min_size=1, max_size=4))
def test_one_sentence_on_each_side_is_the_plain_subsequence(pairs: list[tuple[str, str]]) -> None:
    targets, candidates = [list(side) for side in zip(*pairs)]
    union, plain = union_overlap(targets, candidates), lcs_overlap(targets, candidates)
    np.testing.assert_array_equal(union.matches, plain.matches)


def test_the_example_of_the_rouge_paper() -> None:
    """Lin (2004), section 3.2: w1 w2 w3 w4 w5 against two sentences has a union of four words."""
    overlap = union_overlap(["w1 w2 w3 w4 w5"], ["w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5"])
    assert overlap.matches.tolist() == [4]
    assert overlap.recall.tolist() == [4 / 5]


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="1 targets for 2 candidates"):
        union_overlap(["a"], ["a", "b"])
