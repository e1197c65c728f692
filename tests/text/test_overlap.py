"""Overlap counts hold to the `rouge-score` package, and to counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from hiersum.text.overlap import (
    EncodedLines,
    Overlap,
    WordIds,
    count_unions,
    lcs_overlap,
    ngram_overlap,
)

WORDS = "the cat cats sat running runs on a mat matting happily happy 1990 1990s, (x) Été İ - 的".split()
texts = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join) | st.text(max_size=40)
lines = st.lists(st.sampled_from("a b c d e cats cat running runs 7".split()), max_size=12).map(
    " ".join
)
many_lines = st.lists(lines, max_size=5).map("\n".join) | st.text("ab \n", max_size=60)
METRICS = {"rouge1": 1, "rouge2": 2, "rouge3": 3, "rouge5": 5}


def assert_equals_rouge_score(
    overlap: Overlap, metric: str, targets: list[str], candidates: list[str], stem: bool
) -> None:
    scorer = RougeScorer([metric], use_stemmer=stem)
    expected = [scorer.score(t, c)[metric] for t, c in zip(targets, candidates, strict=True)]
    np.testing.assert_allclose(overlap.precision, [e.precision for e in expected], atol=1e-12)
    np.testing.assert_allclose(overlap.recall, [e.recall for e in expected], atol=1e-12)
    np.testing.assert_allclose(overlap.f1, [e.fmeasure for e in expected], atol=1e-12)


def union_overlap(targets: list[str], candidates: list[str], *, stem: bool = True) -> Overlap:
    word_ids = WordIds(stem)
    return count_unions(EncodedLines.of(targets, word_ids), EncodedLines.of(candidates, word_ids))


@pytest.mark.parametrize("metric", METRICS)
@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=6), stem=st.booleans())
def test_ngrams_of_pairs_equal_rouge_score(
    metric: str, pairs: list[tuple[str, str]], stem: bool
) -> None:
    targets, candidates = [list(side) for side in zip(*pairs)]
    overlap = ngram_overlap(targets, candidates, METRICS[metric], stem=stem)
    assert_equals_rouge_score(overlap, metric, targets, candidates, stem)


@given(target=texts, candidates=st.lists(texts, max_size=6), stem=st.booleans())
def test_overlap_of_one_target_equals_a_pair_each(
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
def test_lcs_of_pairs_equals_rouge_score(pairs: list[tuple[str, str]], stem: bool) -> None:
    targets, candidates = [list(side) for side in zip(*pairs)]
    overlap = lcs_overlap(targets, candidates, stem=stem)
    assert_equals_rouge_score(overlap, "rougeL", targets, candidates, stem)


def test_lcs_of_a_large_vocabulary() -> None:
    words = [f"w{i}" for i in range(70_000)]
    overlap = lcs_overlap([" ".join(words)], [" ".join(words[50_000:])], stem=False)
    assert overlap.matches.tolist() == [20_000]


def test_ngrams_count_a_repeated_bigram_as_often_as_the_target_has_it() -> None:
    target, candidate = "a b a b c", "a b a b a b"
    shared = Counter(zip(target.split(), target.split()[1:])) & Counter(
        zip(candidate.split(), candidate.split()[1:])
    )
    assert ngram_overlap(target, [candidate], 2).matches.tolist() == [sum(shared.values())]


def test_ngrams_do_not_depend_on_the_order_of_candidates() -> None:
    target = "one two three four five"
    candidates = ["two three", "", "five four", "one two three four five six"]
    forward = ngram_overlap(target, candidates, 2).recall
    backward = ngram_overlap(target, candidates[::-1], 2).recall
    np.testing.assert_array_equal(forward, backward[::-1])


def test_overlap_refuses_sides_of_different_length() -> None:
    with pytest.raises(ValueError, match="2 targets for 1 candidates"):
        ngram_overlap(["a", "b"], ["a"], 1)


@settings(max_examples=400)
@given(
    pairs=st.lists(st.tuples(many_lines, many_lines), min_size=1, max_size=4), stem=st.booleans()
)
def test_unions_equal_rouge_score(pairs: list[tuple[str, str]], stem: bool) -> None:
    """Few words make many longest subsequences, so the same one must be taken every time."""
    targets, candidates = [list(side) for side in zip(*pairs)]
    overlap = union_overlap(targets, candidates, stem=stem)
    assert_equals_rouge_score(overlap, "rougeLsum", targets, candidates, stem)


@given(pairs=st.lists(st.tuples(lines, lines), min_size=1, max_size=4))
def test_unions_of_single_sentences_equal_the_lcs(pairs: list[tuple[str, str]]) -> None:
    targets, candidates = [list(side) for side in zip(*pairs)]
    union, plain = union_overlap(targets, candidates), lcs_overlap(targets, candidates)
    np.testing.assert_array_equal(union.matches, plain.matches)


def test_unions_match_the_example_of_the_rouge_paper() -> None:
    """Lin (2004), section 3.2: w1 w2 w3 w4 w5 against two sentences has a union of four words."""
    overlap = union_overlap(["w1 w2 w3 w4 w5"], ["w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5"])
    assert overlap.matches.tolist() == [4]
    assert overlap.recall.tolist() == [4 / 5]
