"""Which sentences answer a question, and whether any does.

The checker reads the question together with each paragraph and each of its sentences; in a large
folder, only with the paragraphs nearest in meaning. A small fitted model combines its scores with how
many words question and paragraph share (`recipes/checker/fit_answers.py`).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiersum.checking.checker import Checker, is_checkable
from hiersum.checking.comparison import Scorer
from hiersum.text.words import content_stems
from hiersum.types import Sentence

MAX_PARAGRAPHS = 24
"""Paragraphs that are read for a question; all of a small folder."""
_WEIGHTS_FILE = "answers.json"


class Answers(NamedTuple):
    """How well each sentence answers a question."""

    relevance: list[float]
    """0 to 1, one per sentence."""
    is_answered: bool
    """Whether a document answers the question."""
    chance: float
    """The probability of that."""


class ReadParagraphs(NamedTuple):
    """The scores of the paragraphs that were read for a question."""

    features: NDArray[np.float64]
    """One row per paragraph."""
    sentences: list[list[int]]
    """The numbers of each one's sentences."""
    chances: dict[int, float]
    """The probability that a sentence alone answers, by its number."""
    best: list[float]
    """The highest of these chances in each paragraph."""


def find_answers(question: str, statements: Sequence[Sentence], checker: Checker) -> Answers:
    """Judge the sentences of all documents, in reading order, by a question or just keywords."""
    relevance = [0.0] * len(statements)
    if not statements or not is_checkable(question):
        return Answers(relevance, False, 0.0)
    model, threshold = _model()
    read = read_paragraphs(question, statements, checker)
    chances = model.chances(read.features).tolist()
    for chance, numbers, best in zip(chances, read.sentences, read.best):
        for number in numbers:
            relevance[number] = chance * read.chances[number] / max(best, 1e-9)
    return Answers(relevance, max(chances) >= threshold, max(chances))


def read_paragraphs(
    question: str, statements: Sequence[Sentence], checker: Checker
) -> ReadParagraphs:
    """Read the paragraphs nearest to a question, and their sentences."""
    groups = groupby(range(len(statements)), key=lambda n: statements[n].place)
    paragraphs = [list(numbers) for _, numbers in groups]
    texts = [" ".join(statements[n].text for n in numbers) for numbers in paragraphs]
    asked, *vectors = checker.vectors([question, *texts])
    likeness = np.array(vectors) @ asked
    chosen = np.sort(np.argsort(-likeness, kind="stable")[:MAX_PARAGRAPHS]).tolist()
    sentences = [paragraphs[n] for n in chosen]
    numbers = [number for of_paragraph in sentences for number in of_paragraph]
    answers = checker.answered(question, [statements[number].text for number in numbers])
    chances = dict(zip(numbers, answers))
    whole = checker.answered(question, [texts[n] for n in chosen])
    best = [max(chances[number] for number in of_paragraph) for of_paragraph in sentences]
    shares = _shares(question, texts)[chosen]
    columns = [_log_odds(whole), _log_odds(best), likeness[chosen], shares]
    return ReadParagraphs(np.column_stack(columns).astype(float), sentences, chances, best)


def _shares(question: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return how much of the question's content words each text has, rare words counting more."""
    stems = [frozenset(content_stems(text)) for text in texts]
    counts = Counter(stem for one in stems for stem in one)
    weights = {
        stem: math.log(1 + len(texts) / (1 + counts[stem])) for stem in content_stems(question)
    }
    total = max(sum(weights.values()), 1e-9)
    shares = [sum(w for stem, w in weights.items() if stem in one) / total for one in stems]
    return np.array(shares)


def _log_odds(chances: Sequence[float]) -> NDArray[np.float64]:
    bounded = np.clip(np.array(chances, float), 1e-4, 1 - 1e-4)
    odds: NDArray[np.float64] = np.log(bounded / (1 - bounded))
    return odds


@cache
def _model() -> tuple[Scorer, float]:
    text = resources.files("hiersum.checking").joinpath(_WEIGHTS_FILE).read_text("utf-8")
    stored = json.loads(text)
    return Scorer(**stored["paragraphs"]), float(stored["threshold"])
