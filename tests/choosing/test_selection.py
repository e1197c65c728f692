"""Sentences are taken best first, as far as there is room, none twice, none that cannot be understood."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from hiersum.choosing.selection import select


def choose(
    scores: list[float],
    *,
    lengths: list[int] | None = None,
    needs: dict[int, int] | None = None,
    alike: tuple[tuple[int, int], ...] = (),
    max_words: int = 100,
    worth: float = -np.inf,
    **options: Any,
) -> list[int]:
    similarities = np.eye(len(scores))
    for one, other in alike:
        similarities[one, other] = similarities[other, one] = 0.9
    return select(
        np.array(scores),
        similarities,
        lengths or [10] * len(scores),
        [(needs or {}).get(index) for index in range(len(scores))],
        max_words=max_words,
        redundancy=0.5,
        worth=worth,
        **options,
    )


def test_the_best_come_first_and_equals_as_they_stand() -> None:
    assert choose([1.0, 3.0, 2.0, 3.0]) == [1, 3, 2, 0]


def test_what_does_not_fit_makes_way_for_what_does() -> None:
    assert choose([3.0, 2.0, 1.0], lengths=[30, 30, 10], max_words=45) == [0, 2]


def test_a_word_counts_once() -> None:
    """Of two that say the same, the second gains nothing; one of other words goes first."""
    words = np.array([[2.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert choose([0.0, 0.5, 0.0], words=words) == [0, 2, 1]
    assert choose([0.0, 0.5, 0.0], words=words, max_words=20, worth=0.9) == [0, 2]
    assert choose([0.0, 0.5, 0.0]) == [1, 0, 2]


def test_what_is_like_one_that_was_taken_is_left_out() -> None:
    assert choose([3.0, 2.0, 1.0], alike=((0, 1),)) == [0, 2]


def test_what_leans_on_a_sentence_is_taken_only_after_it() -> None:
    assert choose([2.0, 1.0], needs={1: 0}) == [0, 1]
    assert choose([1.0, 2.0], needs={1: 0}) == [0, 1], "also if it is the better one"
    assert choose([1.0, 3.0, 2.0], needs={1: 0}, max_words=20) == [2, 0]
    assert choose([1.0, 2.0], needs={1: -1}) == [0]


def test_the_second_half_of_the_room_is_for_what_is_worth_it() -> None:
    assert choose([3.0, -1.0, -2.0], max_words=30, worth=0.0) == [0, 1]


def test_an_opening_is_taken_first_if_there_is_room_for_it() -> None:
    assert choose([3.0, 2.0, 1.0], openings={1, 2}) == [1, 0, 2]
    assert choose([3.0, 2.0, 1.0], openings={1}, lengths=[10, 200, 10]) == [0, 2]
    assert choose([3.0, 2.0], openings={1}, needs={1: 0}) == [0, 1]


def test_what_goes_on_where_another_ends_is_preferred() -> None:
    following = [1, None, None]
    assert choose([3.0, 1.0, 1.5], following=following, max_words=20) == [0, 2]
    assert choose([3.0, 1.0, 1.5], following=following, cohesion=1.0, max_words=20) == [0, 1]


def test_the_scores_that_were_given_stay_as_they_are() -> None:
    scores = np.array([3.0, 1.0])
    nothing: dict[str, Any] = {"max_words": 90, "redundancy": 1.0, "worth": 0.0}
    select(scores, np.eye(2), [1, 1], [None, None], following=[1, None], cohesion=5, **nothing)
    assert scores.tolist() == [3.0, 1.0]


@pytest.mark.parametrize("max_words", [1, 9])
def test_where_nothing_fits_the_best_is_there_to_be_cut(max_words: int) -> None:
    assert choose([1.0, 2.0], max_words=max_words) == [1]


def test_of_equal_lengths_no_other_choice_scores_more() -> None:
    """Held to all choices of as many sentences."""
    scores = np.random.default_rng(0).random(8).tolist()
    chosen = choose(scores, max_words=35)
    assert len(chosen) == 3
    best = max(sum(scores[index] for index in some) for some in combinations(range(8), 3))
    assert sum(scores[index] for index in chosen) == pytest.approx(best)
