"""Numbers that were set by hand: each test fails if one of them changes."""

from __future__ import annotations

import numpy as np
import pytest

from hiersum.checking import disagreements
from hiersum.checking.amounts import find_values
from hiersum.checking.comparison import Candidate, Comparer, near_pairs
from hiersum.checking.disagreements import (
    Disagreement,
    checked_pairs,
    find_disagreements,
)
from hiersum.checking.lexical import LexicalChecker, likeness
from hiersum.types import Paragraph, Sentence, Side

WORDS = "ferry harbour bridge council engineer cable tower tunnel mayor ribbon crane sensor".split()


def said(document: int, text: str) -> Sentence:
    return Sentence(text, Paragraph(text, document, 0), 0)


def test_rough_amount_may_be_a_tenth_off() -> None:
    [value] = find_values("About 100 boats were there.")
    assert (value.low, value.high) == pytest.approx((90, 110))


@pytest.mark.parametrize(("number", "expected"), [(8, 1.0), (9, 0.0)])
def test_heading_of_a_document_has_at_most_eight_words(number: int, expected: float) -> None:
    """A first line that ends with a full stop; one without is always a heading."""
    comparer = Comparer([said(0, " ".join(WORDS[:number]) + ".")], LexicalChecker())
    assert comparer._headings == [expected]


def test_near_pairs_have_the_twelve_nearest_of_each_sentence() -> None:
    """Those of the other two documents are nearer to each other than to the first sentence."""
    angles = np.array([0.0, *np.linspace(0.5, 0.6, 40)])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    statements = [said(0, ""), *(said(1 + n % 2, "") for n in range(40))]
    of_first = [pair for pair in near_pairs(statements, vectors) if 0 in pair]
    assert of_first == [(0, n) for n in range(1, 13)]


@pytest.mark.parametrize(("documents", "number"), [(2, 6), (99, 297), (100, 300), (101, 300)])
def test_checker_reads_three_pairs_for_a_document_and_at_most_300(
    documents: int, number: int
) -> None:
    scored = [(float(-n), "claims", Candidate(n, n + 500, None, [])) for n in range(400)]
    assert len(checked_pairs(scored, documents)) == number


@pytest.mark.parametrize(("score", "is_told"), [(0.5, True), (0.49, False)])
def test_disagreement_is_told_from_a_score_of_one_half(
    score: float, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = [Side(n, 0, text, 0, 2) for n, text in enumerate(("27 hurt", "41 hurt"))]
    found = Disagreement("hurt", "number", *sides, score)
    monkeypatch.setattr(disagreements, "report", lambda *_: [found])
    statements = [said(side.document, side.text) for side in sides]
    assert bool(find_disagreements(statements, LexicalChecker())) == is_told


@pytest.mark.parametrize(("length", "is_whole"), [(90, True), (91, False)])
def test_description_quotes_claims_of_ninety_characters(length: int, is_whole: bool) -> None:
    texts = ["a" * (length - 2) + " b", "Nobody came."]
    sides = [Side(n, 0, text, 0, len(text)) for n, text in enumerate(texts)]
    shown = Disagreement("visit", "claim", *sides, 0.9).line(["one", "other"])
    assert ("..." not in shown) == is_whole


@pytest.mark.parametrize(("between", "expected"), [(3, 1.0), (4, 0.0)])
def test_lexical_checker_looks_three_words_ahead_for_the_next(
    between: int, expected: float
) -> None:
    source = f"Ferry {' '.join(WORDS[2 : 2 + between])} harbour"
    assert likeness("Ferry harbour", [source]).order == expected
