"""The policy: turns the planner's scores into the next plan, or ends the summary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

MIN_SHARE = 0.55
"""Share of the maximum words below which a summary does not stop on its own."""
MIN_ROOM = 9
"""Words that must be left for another sentence."""
MAX_SENTENCES = 3
"""Most source sentences in a plan."""
FOCUS_WEIGHT = 8.0
"""Bonus for full relevance to a question, in log-probability."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything the next decision depends on."""

    log_probs: Scores
    """Of each source sentence; the last entry is the stop."""
    used: frozenset[int]
    """Source sentences already planned, successfully or not."""
    relevance: Scores
    """Relevance of each sentence to the question, 0 to 1."""
    words: int
    """Words written so far."""
    max_words: int


def choose_main(situation: Situation) -> int | None:
    """Return the main source sentence of the next plan; None ends the summary."""
    room = situation.max_words - situation.words
    if situation.words and room < MIN_ROOM:
        return None
    scores = situation.log_probs[:-1] + FOCUS_WEIGHT * situation.relevance
    scores[list(situation.used)] = -np.inf
    if not len(scores) or scores.max() == -np.inf:
        return None
    main = int(scores.argmax())
    may_stop = situation.words >= MIN_SHARE * situation.max_words
    if may_stop and situation.log_probs[-1] > scores[main]:
        return None
    return main


def join_others(main: int, joins: Scores, used: frozenset[int]) -> tuple[int, ...]:
    """Return the plan: the main sentence plus those that more likely than not join it."""
    others = [n for n in np.argsort(-joins).tolist() if n != main and n not in used]
    return (main, *(n for n in others[: MAX_SENTENCES - 1] if joins[n] > 0))
