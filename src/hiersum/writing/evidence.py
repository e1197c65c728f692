"""How much of a sentence each paragraph has: the numbers from which its sources are told.

Words are weighed by how rare they are among the paragraphs, so that names and numbers count and function
words hardly do. A word that no paragraph has weighs as much as one that a single paragraph has.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hiersum.text.sentences import split_sentences
from hiersum.text.words import split_stems

Item = TypeVar("Item")

_NEAR = 4  # words between which a pair of neighbours of the summary may stand in a paragraph
_FAINTEST = 0.02  # less of the usual attention than this is as good as none


class Evidence(NamedTuple):
    """What speaks for a paragraph as the source of a sentence; each part is small or around 0 to 1."""

    words: float
    """Share of the sentence's words that the paragraph has."""
    sentence: float
    """The same for the one sentence of the paragraph that has most of them."""
    order: float
    """Share of the sentence's neighbouring words that stand near each other there, in that order."""
    gap: float
    """How much more the paragraph has than the best of the others; negative if less."""
    attention: float = 0.0
    """Logarithm of how many times its usual attention it had from the network."""


class Paragraphs:
    """The paragraphs among which sources are sought."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._stems = [frozenset(split_stems(text)) for text in texts]
        self._counts = Counter(stem for stems in self._stems for stem in stems)

    def evidence(
        self, sentence: str, max_candidates: int, attention: NDArray[np.float64] | None = None
    ) -> dict[int, Evidence]:
        """Return what speaks for the likeliest paragraphs, by their number.

        Args:
            sentence: a sentence of the summary.
            max_candidates: of more paragraphs than this, those with the fewest words are passed over.
            attention: how many times its usual attention each paragraph had, if that is known.
        """
        stems = split_stems(sentence)
        weights = {stem: self._weight(stem) for stem in stems}
        words = [_share(weights, have) for have in self._stems]
        by_words = sorted(range(len(words)), key=lambda number: -words[number])
        chosen = sorted(by_words[:max_candidates])
        pairs = {
            (one, other): weights[one] + weights[other]
            for one, other in zip(stems, stems[1:])
            if one != other
        }
        inner = [
            max((_share(weights, have) for have in _sentences(self._texts[n])), default=0.0)
            for n in chosen
        ]
        order = [_share(pairs, _near_pairs(self._texts[n])) for n in chosen]
        totals = [words[n] + i + o for n, i, o in zip(chosen, inner, order)]
        return {
            number: Evidence(
                words[number],
                inner[place],
                order[place],
                (totals[place] - _best_other(totals, place)) / 3,
                0.0 if attention is None else math.log(max(float(attention[number]), _FAINTEST)),
            )
            for place, number in enumerate(chosen)
        }

    def _weight(self, stem: str) -> float:
        return math.log(1 + len(self._texts) / max(self._counts[stem], 1))


def _share(weights: dict[Item, float], have: frozenset[Item]) -> float:
    total = sum(weights.values())
    return sum(weight for item, weight in weights.items() if item in have) / total if total else 0.0


def _best_other(values: Sequence[float], place: int) -> float:
    return max((*values[:place], *values[place + 1 :]), default=0.0)


@lru_cache(maxsize=2_048)
def _sentences(text: str) -> list[frozenset[str]]:
    return [frozenset(split_stems(sentence)) for sentence in split_sentences(text)]


@lru_cache(maxsize=2_048)
def _near_pairs(text: str) -> frozenset[tuple[str, str]]:
    stems = split_stems(text)
    return frozenset(
        (one, other)
        for place, one in enumerate(stems)
        for other in stems[place + 1 : place + 1 + _NEAR]
    )
