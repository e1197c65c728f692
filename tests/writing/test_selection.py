"""Sentences are taken best first, as far as there is room, none twice, none that cannot be understood."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiersum.writing.selection import select


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


def test_what_is_like_one_that_was_taken_is_left_out() -> None:
    assert choose([3.0, 2.0, 1.0], alike=((0, 1),)) == [0, 2]
