"""A checker that compares words: no files, no network.

It detects invented names and numbers and sentences spliced from two, but not wrong word order or
negation in other words. `recipes/checker/fit_lexical.py` fitted the weights to labelled sentences.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hiersum.checking.checker import NEUTRAL, is_checkable
from hiersum.text.facts import SourceFacts, find_facts
from hiersum.text.numbers import find_amounts
from hiersum.text.words import content_stems, split_words

Item = TypeVar("Item")

_DIMENSIONS = 1_024
_NEAR = 3  # maximum distance in a source between two neighboring content words of the sentence
_NEGATIONS = frozenset(
    "no not never none nobody nothing neither nor without cannot can't isn't wasn't aren't weren't "
    "don't doesn't didn't won't hasn't haven't hadn't".split()
)


class Likeness(NamedTuple):
    """How a sentence compares with its sources."""

    words: float
    """Share of its content words in the best single source."""
    order: float
    """Share of its neighboring content words that are close together in one source, in order."""
    facts: float
    """Share of its names, numbers and dates that the sources lack."""
    negation: float
    """1 if only one side, sentence or sources, has a negation."""


class LexicalWeights(NamedTuple):
    """The logistic model over `Likeness`."""

    bias: float
    words: float
    order: float
    facts: float
    negation: float


FITTED = LexicalWeights(bias=-0.55, words=0.86, order=0.08, facts=-1.42, negation=-0.28)


class LexicalChecker:
    """Judges by shared words, names and numbers."""

    def support(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        """Return the probability that each sentence is true to its sources."""
        return [self._support(sentence, sources) for sentence, sources in pairs]

    def _support(self, sentence: str, sources: Sequence[str]) -> float:
        if not is_checkable(sentence) or not any(map(is_checkable, sources)):
            return NEUTRAL
        logit = FITTED.bias + sum(w * x for w, x in zip(FITTED[1:], likeness(sentence, sources)))
        return 1 / (1 + math.exp(-logit))

    def contradiction(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the share of common words if amounts or negations differ, else 0."""
        return [_contradiction(one, other) for one, other in pairs]

    def answered(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the share of the question's content words that each text has."""
        asked = content_stems(question)
        return [_share(asked, set(content_stems(text))) if asked else 0.0 for text in texts]

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of hashed content words; zeros for a text without any."""
        rows = np.zeros((len(texts), _DIMENSIONS), np.float32)
        for row, text in zip(rows, texts):
            for stem in content_stems(text):
                row[zlib.crc32(stem.encode()) % _DIMENSIONS] += 1.0
            row /= max(float(np.linalg.norm(row)), 1e-9)
        return rows


def likeness(sentence: str, sources: Sequence[str]) -> Likeness:
    """Compare a sentence with its sources."""
    stems = content_stems(sentence)
    per_source = [content_stems(source) for source in sources]
    neighbors = list(zip(stems, stems[1:]))
    facts = find_facts(sentence)
    known = SourceFacts.of(sources)
    missing = sum(not known.holds(fact) for fact in facts)
    has_negation = [
        not _NEGATIONS.isdisjoint(split_words(t)) for t in (sentence, " ".join(sources))
    ]
    return Likeness(
        words=max((_share(stems, set(one)) for one in per_source), default=0.0),
        order=max((_share(neighbors, _near_pairs(one)) for one in per_source), default=0.0),
        facts=missing / len(facts) if facts else 0.0,
        negation=float(has_negation[0] != has_negation[1]),
    )


def _share(items: Sequence[Item], have: set[Item]) -> float:
    return sum(item in have for item in items) / len(items) if items else 1.0


def _near_pairs(stems: Sequence[str]) -> set[tuple[str, str]]:
    return {
        (one, other)
        for place, one in enumerate(stems)
        for other in stems[place + 1 : place + 2 + _NEAR]
    }


def _contradiction(one: str, other: str) -> float:
    stems, others = set(content_stems(one)), set(content_stems(other))
    if not stems or not others:
        return NEUTRAL if not is_checkable(one) or not is_checkable(other) else 0.0
    amounts, other_amounts = find_amounts(one), find_amounts(other)
    differ = bool(amounts - other_amounts) and bool(other_amounts - amounts)
    negated = _NEGATIONS.isdisjoint(split_words(one)) != _NEGATIONS.isdisjoint(split_words(other))
    common = len(stems & others) / min(len(stems), len(others))
    return common if differ or negated else 0.0
