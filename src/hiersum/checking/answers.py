"""Which sentences answer a question, and whether any does.

The checker reads the question beside the paragraphs nearest to it in meaning, then beside the sentences
of the best of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from hiersum.checking.checker import Checker, is_checkable
from hiersum.checking.comparison import Statement

NO_ANSWER = "No document answers this."
ANSWERED_FROM = 0.5
"""Chance of the best paragraph from which a question counts as answered."""
MAX_PARAGRAPHS = 24
"""Paragraphs that are read for a question; all of a small folder."""
MAX_OPENED = 4
"""Of these, those whose sentences are read one by one."""


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
        checker: reads question and text.
    """
    relevance = np.zeros(len(statements))
    if not statements or not is_checkable(question):
        return Answers(relevance.tolist(), False, 0.0)
    paragraphs = [
        list(numbers)
        for _, numbers in groupby(range(len(statements)), key=lambda n: statements[n][:2])
    ]
    texts = [" ".join(statements[n].text for n in numbers) for numbers in paragraphs]
    nearest = _nearest(question, texts, checker)
    chances = dict(zip(nearest, checker.answered(question, [texts[n] for n in nearest])))
    opened = sorted(nearest, key=lambda n: -chances[n])[:MAX_OPENED]
    inside = [number for n in opened for number in paragraphs[n]]
    answers = checker.answered(question, [statements[number].text for number in inside])
    by_sentence = dict(zip(inside, answers))
    for n in opened:
        best = max(by_sentence[number] for number in paragraphs[n])
        for number in paragraphs[n]:
            relevance[number] = chances[n] * by_sentence[number] / max(best, 1e-9)
    chance = max(chances.values())
    return Answers(relevance.tolist(), chance >= ANSWERED_FROM, chance)


def _nearest(question: str, texts: Sequence[str], checker: Checker) -> list[int]:
    if len(texts) <= MAX_PARAGRAPHS:
        return list(range(len(texts)))
    asked, *vectors = checker.vectors([question, *texts])
    order = np.argsort(-(np.array(vectors) @ asked), kind="stable")
    return sorted(order[:MAX_PARAGRAPHS].tolist())
