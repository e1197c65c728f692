"""Overlap counts hold to the `rouge-score` package, and to counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from hiersum.text.overlap import Overlap, lcs_overlap, ngram_overlap

WORDS = "the cat cats sat running runs on a mat matting happily happy 1990 1990s, (x) Été İ - 的".split()
texts = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join) | st.text(max_size=40)
METRICS = {"rouge1": 1, "rouge2": 2, "rouge3": 3, "rouge5": 5}


def assert_equals_rouge_score(
    overlap: Overlap, metric: str, targets: list[str], candidates: list[str], stem: bool
) -> None:
    scorer = RougeScorer([metric], use_stemmer=stem)
    expected = [scorer.score(t, c)[metric] for t, c in zip(targets, candidates, strict=True)]
    np.testing.assert_allclose(overlap.precision, [e.precision for e in expected], atol=1e-12)
    np.testing.assert_allclose(overlap.recall, [e.recall for e in expected], atol=1e-12)
    np.testing.assert_allclose(overlap.f1, [e.fmeasure for e in expected], atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=6), stem=st.booleans())
def test_ngrams_of_pairs_equal_rouge_score(
    metric: str, pairs: list[tuple[str, str]], stem: bool
) -> None:
    targets, candidates = [list(side) for side in zip(*pairs)]
    overlap = ngram_overlap(targets, candidates, METRICS[metric], stem=stem)
    assert_equals_rouge_score(overlap, metric, targets, candidates, stem)


@given(target=texts, candidates=st.lists(texts, max_size=6), stem=st.booleans())
def test_one_target_for_all_equals_a_pair_each(
    target: str, candidates: list[str], stem: bool
) -> None:
    targets = [target] * len(candidates)
    assert_equals_rouge_score(
        ngram_overlap(target, candidates, 2, stem=stem), "rouge2", targets, candidates, stem
    )
    assert_equals_rouge_score(
        lcs_overlap(target, candidates, stem=stem), "rougeL", targets, candidates, stem
    )


@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=6), stem=st.booleans())
def test_subsequences_of_pairs_equal_rouge_score(pairs: list[tuple[str, str]], stem: bool) -> None:
    targets, candidates = [list(side) for side in zip(*pairs)]
    overlap = lcs_overlap(targets, candidates, stem=stem)
    assert_equals_rouge_score(overlap, "rougeL", targets, candidates, stem)


def test_more_words_than_one_plane_of_unicode_holds() -> None:
    """Word ids pass through characters on the way to the subsequence; surrogates must be stepped over."""
    words = [f"w{i}" for i in range(70_000)]
    overlap = lcs_overlap([" ".join(words)], [" ".join(words[50_000:])], stem=False)
    assert overlap.matches.tolist() == [20_000]


def test_clipping_counts_a_repeated_bigram_as_often_as_the_target_has_it() -> None:
    target, candidate = "a b a b c", "a b a b a b"
    shared = Counter(zip(target.split(), target.split()[1:])) & Counter(
        zip(candidate.split(), candidate.split()[1:])
    )
    assert ngram_overlap(target, [candidate], 2).matches.tolist() == [sum(shared.values())]


def test_the_order_of_candidates_does_not_matter() -> None:
    target = "one two three four five"
    candidates = ["two three", "", "five four", "one two three four five six"]
    forward = ngram_overlap(target, candidates, 2).recall
    backward = ngram_overlap(target, candidates[::-1], 2).recall
    np.testing.assert_array_equal(forward, backward[::-1])


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 targets for 1 candidates"):
        ngram_overlap(["a", "b"], ["a"], 1)


def test_an_n_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        ngram_overlap("a", ["a"], 0)


def test_more_words_than_unicode_has_characters() -> None:
    """One side has more distinct words than there are code points; both must change their form."""
    words = [f"w{i}" for i in range(1_120_000)]
    overlap = lcs_overlap([" ".join(words[:100])], [" ".join(words)], stem=False)
    assert overlap.matches.tolist() == [100]
    overlap = lcs_overlap([" ".join(words)], [" ".join(words[-50:])], stem=False)
    assert overlap.matches.tolist() == [50]
