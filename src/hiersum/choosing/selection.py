"""Which sentences are taken, once each has a score."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np
from numpy.typing import NDArray


def select(
    scores: NDArray[np.float64],
    similarities: NDArray[np.float64],
    lengths: Sequence[int],
    needs: Sequence[int | None],
    *,
    max_words: int,
    redundancy: float,
    worth: float,
    openings: Set[int] = frozenset(),
    following: Sequence[int | None] = (),
    cohesion: float = 0.0,
    words: NDArray[np.float64] | None = None,
) -> list[int]:
    """Take the sentences of highest score that fit, say something new, and can be understood.

    If nothing fits, the best one is returned, to be cut.

    Args:
        scores: one for each sentence.
        similarities: of each with each, 0 to 1.
        lengths: words of each.
        needs: the sentence without which it cannot be understood; None for those that stand alone.
        max_words: room for all.
        redundancy: how like one that is taken a sentence may be.
        worth: what a sentence must score once half of the room is used.
        openings: which ones to begin with, if one of them can be taken.
        following: the sentence that goes on where each ends, if there is one.
        cohesion: what such a sentence gains once the one before it is taken.
        words: what each word is worth to each sentence that has it, and 0 to others; it counts once.

    Returns:
        Their numbers, best first.
    """
    scores, sizes = scores.copy(), np.array(lengths)
    words = np.zeros((len(scores), 0)) if words is None else words
    is_new = np.ones(words.shape[1])
    is_opening = np.isin(np.arange(len(scores)), list(openings))
    is_free = np.array([need is None for need in needs])
    wanted = np.array([-1 if need is None else need for need in needs])
    chosen: list[int] = []
    closest = np.zeros(len(scores))
    room = max_words
    while True:
        values = scores + words @ is_new
        is_able = is_free & (sizes <= room) & (closest <= redundancy)
        is_able[chosen] = False
        if room < max_words / 2:
            is_able &= values >= worth
        if not chosen and (is_able & is_opening).any():
            is_able &= is_opening
        if not is_able.any():
            return chosen or [int(values.argmax())]
        best = int(np.where(is_able, values, -np.inf).argmax())
        chosen.append(best)
        is_new[words[best] != 0] = 0
        is_free |= wanted == best
        closest = np.maximum(closest, similarities[best])
        room -= lengths[best]
        if following and (after := following[best]) is not None:
            scores[after] += cohesion
