"""Which sentences are taken, once each has a score."""

from __future__ import annotations

from collections.abc import Sequence

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

    Returns:
        Their numbers, best first.
    """
    sizes = np.array(lengths)
    is_free = np.array([need is None for need in needs])
    wanted = np.array([-1 if need is None else need for need in needs])
    chosen: list[int] = []
    closest = np.zeros(len(scores))
    room = max_words
    while True:
        is_able = is_free & (sizes <= room) & (closest <= redundancy)
        is_able[chosen] = False
        if room < max_words / 2:
            is_able &= scores >= worth
        if not is_able.any():
            return chosen or [int(scores.argmax())]
        best = int(np.where(is_able, scores, -np.inf).argmax())
        chosen.append(best)
        is_free |= wanted == best
        closest = np.maximum(closest, similarities[best])
        room -= lengths[best]
