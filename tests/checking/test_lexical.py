"""The checker that compares words."""

from __future__ import annotations

import numpy as np
import pytest

from hiersum.checking.checker import NEUTRAL
from hiersum.checking.lexical import FITTED, LexicalChecker, likeness

SOURCE = ["The crash in Halvik injured five people on Monday.", "Nobody has been arrested."]


@pytest.mark.parametrize(
    "text",
    ["", "?!", "日本語の文章です。", "\x00", "five people " * 10_000],
    ids=lambda t: repr(t[:9]),
)
def test_lexical_checker_answers_whatever_it_is_asked(text: str) -> None:
    checker = LexicalChecker()
    answers = checker.support([(text, SOURCE), ("five people", [text]), (text, [])])
    answers += checker.contradiction([(text, SOURCE[0]), (SOURCE[0], text)])
    assert all(0 <= answer <= 1 for answer in answers)
    assert np.isfinite(checker.vectors([text])).all()


def test_lexical_checker_is_neutral_where_there_is_nothing_to_judge() -> None:
    assert LexicalChecker().support([("", SOURCE), ("five", []), ("five", ["?"])]) == [NEUTRAL] * 3


def test_lexical_checker_sees_invented_facts() -> None:
    true, false = LexicalChecker().support(
        [("The crash injured five in Halvik.", SOURCE), ("The crash injured nine in Oslo.", SOURCE)]
    )
    assert true > 0.5 > false


def test_likeness_compares_words_order_facts_and_negation() -> None:
    same = likeness(SOURCE[0], SOURCE[:1])
    assert same == (1.0, 1.0, 0.0, 0.0)
    other = likeness("Nobody in Oslo was hurt.", SOURCE[:1])
    assert other.words == 0.0
    assert other.facts == 1.0
    assert other.negation == 1.0


def test_lexical_weights_are_those_that_were_fitted() -> None:
    assert tuple(FITTED) == (-0.55, 0.86, 0.08, -1.42, -0.28)


def test_lexical_checker_sees_other_numbers_of_the_same_thing() -> None:
    checker = LexicalChecker()
    pairs = [
        ("The crash injured 5 people.", "The crash injured 9 people."),
        ("The crash injured 5 people.", "The crash injured 5 people."),
    ]
    differ, same = checker.contradiction(pairs)
    assert differ > 0.5 > same


def test_lexical_vectors_bring_shared_words_together() -> None:
    one, near, far = LexicalChecker().vectors(["a crash in May", "the crash", "new taxes"])
    assert one @ near > one @ far
    assert float(np.linalg.norm(one)) == pytest.approx(1, abs=1e-5)
