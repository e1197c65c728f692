"""Which sentences answer a question, and whether any does.

A sentence is judged by its meaning and its paragraph's (vectors), by the words it shares with the
question, and by whether it has what is asked for: a number for "how many", a date for "when", a name
for "who". `recipes/checker/fit_disagreements.py` fits the weights.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources
from operator import and_
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiersum.checking.amounts import find_values
from hiersum.checking.checker import Checker, is_checkable
from hiersum.checking.comparison import Scorer, Statement
from hiersum.text.facts import find_names
from hiersum.text.words import content_stems, split_words

NO_ANSWER = "No document answers this."
_WEIGHTS_FILE = "answers.json"
_COUNTING = re.compile(
    r"\bhow (?:many|much|long|far|fast|high|deep|wide|large|big|old|heavy|often|tall)\b|"
    r"\bwhat (?:\w+ )?(?:price|cost|costs|fee|number|share|percentage|size)\b",
    re.I,
)
_DATING = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:day|date|year|month|time)\b|\buntil when\b", re.I
)
_NAMING = re.compile(r"\bwho(?:se|m)?\b|\bwhere\b|\bwhich \w+\b", re.I)
_REASONING = re.compile(r"\bwhy\b|\bcaused?\b|\breasons?\b", re.I)
_REASONS = frozenset(
    "because since due cause caused causes reason led therefore so owing after attribute blamed".split()
)


class Answers(NamedTuple):
    """How well each sentence answers a question."""

    relevance: list[float]
    """0 to 1, one per sentence."""
    is_answered: bool
    """Does any document answer the question?"""
    chance: float
    """How likely one does, 0 to 1."""


def find_answers(question: str, statements: Sequence[Statement], checker: Checker) -> Answers:
    """Judge sentences by a question.

    Args:
        question: as the user asks it, or just its keywords.
        statements: the sentences of all documents, in reading order.
        checker: gives the vectors.
    """
    if not statements or not is_checkable(question):
        return Answers([0.0] * len(statements), False, 0.0)
    sentence_model, folder_model, threshold = _models()
    features = question_features(question, statements, checker)
    relevance = sentence_model.chances(features)
    chance = float(folder_model.chances(folder_features(features, relevance))[0])
    return Answers(relevance.tolist(), chance >= threshold, chance)


def question_features(
    question: str, statements: Sequence[Statement], checker: Checker
) -> NDArray[np.float64]:
    """Return one row of features per sentence."""
    rows = checker.vectors([question, *(s.text for s in statements)])
    asked, vectors = rows[0], rows[1:]
    cosines = (vectors @ asked).astype(float)
    stems = [frozenset(content_stems(s.text)) for s in statements]
    counts = Counter(stem for one in stems for stem in one)
    wanted = dict.fromkeys(content_stems(question))
    weights = {s: math.log(1 + len(statements) / (1 + counts[s])) for s in wanted}
    total = max(sum(weights.values()), 1e-9)
    shares = np.array([sum(w for s, w in weights.items() if s in one) / total for one in stems])
    places = [(s.document, s.paragraph) for s in statements]
    around = _means(vectors, places) @ asked
    known = sum(w for s, w in weights.items() if counts[s]) / total
    kinds = [bool(p.search(question)) for p in (_COUNTING, _DATING, _NAMING, _REASONING)]
    lacks = [any(kinds) and not any(map(and_, kinds, _offers(s.text))) for s in statements]
    columns = [cosines, shares, around, np.array(lacks, float), np.full(len(statements), known)]
    return np.column_stack(columns)


def folder_features(
    features: NDArray[np.float64], relevance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return one row that says how well the best sentences of a folder answer a question."""
    best = features[int(relevance.argmax())]
    top = np.sort(np.clip(relevance, 1e-6, 1 - 1e-6))[::-1]
    odds = math.log(top[0] / (1 - top[0]))
    return np.array([[odds, top[:3].mean(), *features.max(0)[:3], *best[:3], best[4]]])


def _means(vectors: NDArray[np.float32], places: Sequence[object]) -> NDArray[np.float32]:
    """Return for each row the unit mean of the rows of its place."""
    numbers = {place: number for number, place in enumerate(dict.fromkeys(places))}
    group = np.array([numbers[place] for place in places])
    sums = np.zeros((len(numbers), vectors.shape[1]), np.float32)
    np.add.at(sums, group, vectors)
    sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    means: NDArray[np.float32] = sums[group]
    return means


def _offers(text: str) -> tuple[bool, bool, bool, bool]:
    """Does a sentence have a number, a date or time, a name, a reason?"""
    kinds = {value.kind for value in find_values(text)}
    return (
        "number" in kinds,
        not kinds.isdisjoint(("date", "time")),
        bool(find_names(text)),
        not _REASONS.isdisjoint(split_words(text)),
    )


@cache
def _models() -> tuple[Scorer, Scorer, float]:
    text = resources.files("hiersum.checking").joinpath(_WEIGHTS_FILE).read_text("utf-8")
    stored = json.loads(text)
    return Scorer(**stored["sentences"]), Scorer(**stored["folder"]), float(stored["threshold"])
