"""The policy: turns the planner's scores into the next plan, ends the summary, and judges sentences.

How likely a written sentence is true combines what the checker says with how sure the writer was:

    support = 1 / (1 + exp(-(bias + w_c logit(checker's support) + w_l mean log-probability of a piece)))

An unsure writer is wrong more often, and its text alone does not show that it was unsure. The
weights were fitted to sentences of this writer that readers labelled
(`recipes/readers/fit_judgement.py`), so that the result is the share of such sentences that are not
false.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiersum.text.words import FUNCTION_WORDS

Scores = NDArray[np.float64]

_SELF = re.compile(r"(?:(?P<before>\w+) )?\b(?:I|[Mm]e|[Mm]y|[Mm]yself|[Ww]e|us|[Oo]urs?)\b(?!-)")
_QUOTED = re.compile(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d")

MIN_SHARE = 0.55
"""Share of the maximum words below which a summary does not stop on its own."""
MIN_ROOM = 9
"""Words that must be left for another sentence."""
MAX_SENTENCES = 3
"""Most source sentences in a plan."""
FOCUS_WEIGHT = 8.0
"""Bonus for full relevance to a question, in log-probability."""
SPEAKS_OF_ITSELF = 4.0
"""Penalty for a sentence that says "I" or "we": the reader cannot tell who that is."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything the next decision depends on."""

    log_probs: Scores
    """Of each source sentence; the last entry is the stop."""
    speaks_of_itself: Sequence[bool]
    """Whether each source sentence says "I" or "we"."""
    used: frozenset[int]
    """Source sentences already planned, successfully or not."""
    relevance: Scores
    """Relevance of each sentence to the question, 0 to 1."""
    words: int
    """Words written so far."""
    max_words: int


@lru_cache(maxsize=4_096)  # called again for every sentence of a summary
def speaks_of_itself(sentence: str) -> bool:
    """Whether a sentence says "I" or "we" outside quotation marks ("World War I" does not)."""
    for match in _SELF.finditer(_QUOTED.sub(" ", sentence)):
        before = match["before"] or ""
        is_numeral = before[:1].isupper() and before.lower() not in FUNCTION_WORDS
        if not (match[0].endswith("I") and is_numeral):
            return True
    return False


def choose_main(situation: Situation) -> int | None:
    """Return the main source sentence of the next plan; None ends the summary."""
    room = situation.max_words - situation.words
    if situation.words and room < MIN_ROOM:
        return None
    scores = (
        situation.log_probs[:-1]
        + FOCUS_WEIGHT * situation.relevance
        - SPEAKS_OF_ITSELF * np.array(situation.speaks_of_itself, dtype=np.float64)
    )
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


class Weights(NamedTuple):
    """The weights of the two inputs, and a bias."""

    bias: float
    checker: float
    """Of the log odds of the checker's support."""
    confidence: float
    """Of the mean log-probability of a piece, as the writer gave it."""


FITTED = Weights(bias=1.29, checker=0.58, confidence=3.47)


def judge(support: float, mean_log_prob: float, weights: Weights = FITTED) -> float:
    """Return the probability that a sentence is true to its sources.

    `support` is the checker's, 0 to 1; `mean_log_prob` includes the end piece.
    """
    bounded = min(max(support, 1e-4), 1 - 1e-4)
    odds = weights.checker * math.log(bounded / (1 - bounded))
    total = weights.bias + odds + weights.confidence * mean_log_prob
    return 1 / (1 + math.exp(-total))
