"""Differences of two texts lose no word and mark exactly what is not shared."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hiersum.evaluation.differences import Run, mark_differences

texts = st.lists(st.sampled_from("a b c A, d.".split()), max_size=12).map(" ".join)


def test_words_that_only_one_text_has_are_marked() -> None:
    first, second = mark_differences("The bridge is open, he said.", "The old bridge is open.")
    assert first == [Run("The bridge is open,", False), Run("he said.", True)]
    assert second == [Run("The", False), Run("old", True), Run("bridge is open.", False)]


@given(texts, texts)
def test_no_word_is_lost_and_shared_words_are_the_same(first: str, second: str) -> None:
    marked = mark_differences(first, second)
    assert " ".join(run.text for run in marked[0]) == first
    assert " ".join(run.text for run in marked[1]) == second
    shared = [
        [w.strip(".,").lower() for run in side if not run.differs for w in run.text.split()]
        for side in marked
    ]
    assert shared[0] == shared[1]


def test_a_text_does_not_differ_from_itself_and_wholly_from_nothing() -> None:
    assert mark_differences("a b", "a b")[0] == [Run("a b", False)]
    assert mark_differences("a b", "") == ([Run("a b", True)], [])
