"""The policy: from a planner's scores to the plan of the next sentence, or the end of the summary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hiersum.text.words import FUNCTION_WORDS

Scores = NDArray[np.float64]

_SELF = re.compile(r"(?:(?P<before>\w+) )?\b(?:I|[Mm]e|[Mm]y|[Mm]yself|[Ww]e|us|[Oo]urs?)\b(?!-)")
_QUOTED = re.compile(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d")

MIN_SHARE = 0.55
"""Share of the wanted words before which a summary does not stop by itself."""
MIN_ROOM = 9
"""Words that must be left for one more sentence."""
MAX_SENTENCES = 3
"""Source sentences of one plan."""
FOCUS_WEIGHT = 8.0
"""What full relevance to a question adds to a sentence's log-probability."""
SPEAKS_OF_ITSELF = 4.0
"""What a sentence that says "I" or "we" loses: nobody knows who that is."""
NEW_DOCUMENT = 0.3
"""What a document that was not heard yet adds."""


@dataclass(frozen=True, slots=True)
class Situation:
    """All that decides what comes next."""

    log_probs: Scores
    """Of each source sentence; the last one is the stop."""
    documents: Sequence[int]
    """The document of each source sentence."""
    speaks_of_itself: Sequence[bool]
    """Does each source sentence say "I" or "we"?"""
    used: frozenset[int]
    """Source sentences that were planned before, whether or not something came of it."""
    heard: frozenset[int]
    """Documents that the summary rests on so far."""
    relevance: Scores
    """How relevant each sentence is to the question, 0 to 1."""
    words: int
    """Words written so far."""
    max_words: int


@lru_cache(maxsize=4_096)  # asked again for every sentence of a summary
def speaks_of_itself(sentence: str) -> bool:
    """Does a sentence say "I" or "we" outside quotation marks? World War I is no speaker."""
    for match in _SELF.finditer(_QUOTED.sub(" ", sentence)):
        before = match["before"] or ""
        is_numeral = before[:1].isupper() and before.lower() not in FUNCTION_WORDS
        if not (match[0].endswith("I") and is_numeral):
            return True
    return False


def choose_main(situation: Situation) -> int | None:
    """Return the source sentence that the next sentence is about; None ends the summary."""
    room = situation.max_words - situation.words
    if situation.words and room < MIN_ROOM:
        return None
    is_new = [document not in situation.heard for document in situation.documents]
    scores = (
        situation.log_probs[:-1]
        + FOCUS_WEIGHT * situation.relevance
        + NEW_DOCUMENT * np.array(is_new, dtype=np.float64)
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
    """Return the plan: the main sentence, and those that more likely than not join it."""
    others = [n for n in np.argsort(-joins).tolist() if n != main and n not in used]
    return (main, *(n for n in others[: MAX_SENTENCES - 1] if joins[n] > 0))
