"""Pairs of statements that may be about one thing, and what is known of a pair before it is read.

Candidates are each sentence's nearest neighbors in other documents, by vector, if the two differ in a
value: an amount, a date or a time. A few features say which of them are worth reading by the checker;
`recipes/checker/fit_disagreements.py` fits the weights.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiersum.checking.amounts import Value, find_values, gap
from hiersum.text.facts import find_names
from hiersum.text.words import content_stems

Vectors = NDArray[np.float32]

_NEIGHBORS = 12
_BLOCK = 1_024
_MAX_PAIRS = 2_000


class Statement(NamedTuple):
    """A sentence of a source and where it stands."""

    document: int
    paragraph: int
    text: str


@dataclass(frozen=True)
class Analysis:
    """What is read off a statement once."""

    text: str

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its content words, numbers left out."""
        return _stems(self.text)

    @cached_property
    def names(self) -> frozenset[str]:
        """The words of its names."""
        return frozenset(word for name in find_names(self.text) for word in name.value.split())

    @cached_property
    def values(self) -> list[Value]:
        """Its amounts, dates and times."""
        return find_values(self.text)

    def near(self, value: Value) -> frozenset[str]:
        """Return the content words around a value, the nearest few on either side."""
        after = _stems_in_order(self.text[value.end :])[:3]
        return frozenset(_stems_in_order(self.text[: value.start])[-3:] + after)


class Candidate(NamedTuple):
    """Two statements of different documents, the values that differ, and what is known of them."""

    one: int
    other: int
    values: tuple[Value, Value]
    features: list[float]


def near_pairs(statements: Sequence[Statement], vectors: Vectors) -> list[tuple[int, int]]:
    """Return pairs (i < j) of different documents, each among the other's nearest neighbors."""
    documents = np.array([s.document for s in statements])
    found: dict[tuple[int, int], float] = {}
    for start in range(0, len(statements), _BLOCK):
        cosines = vectors[start : start + _BLOCK] @ vectors.T
        cosines[documents[start : start + _BLOCK, None] == documents] = -1.0
        count = min(_NEIGHBORS, cosines.shape[1])
        best = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        for row, columns in enumerate(best.tolist()):
            for column in columns:
                if cosines[row, column] > 0:
                    i, j = sorted((start + row, column))
                    found[i, j] = float(cosines[row, column])
    ranked = sorted(found, key=lambda pair: (-found[pair], pair))
    return sorted(ranked[:_MAX_PAIRS])


class Comparer:
    """Compares the statements of one folder."""

    def __init__(self, statements: Sequence[Statement], vectors: Vectors) -> None:
        self.statements = statements
        self.analyses = [Analysis(s.text) for s in statements]
        self._vectors = vectors
        counts = Counter(stem for a in self.analyses for stem in a.stems)
        self._idf = {s: math.log(1 + len(statements) / n) for s, n in counts.items()}

    def candidates(self) -> list[Candidate]:
        """Return near pairs that differ in a value, with their features."""
        pairs = near_pairs(self.statements, self._vectors)
        ranks = self._ranks(pairs)
        return [
            Candidate(i, j, values, self._features(i, j, values, ranks))
            for i, j in pairs
            if (values := self.differing(i, j)) is not None
        ]

    def differing(self, one: int, other: int) -> tuple[Value, Value] | None:
        """Return the two values in which statements differ most likely: those in like company.

        None if all their values agree, or none is of a kind that the other has too. Zeros are not
        compared: "no car may enter" counts nothing.
        """
        a, b = self.analyses[one], self.analyses[other]
        pairs = _comparable(a, b)
        agreed = {value for pair in pairs if gap(*pair) == 0 for value in pair}
        differ = [pair for pair in pairs if gap(*pair) > 0 and agreed.isdisjoint(pair)]
        return max(differ, key=lambda p: self._overlap(a.near(p[0]), b.near(p[1])), default=None)

    def _ranks(self, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """Number each sentence's neighbors within each other document, the nearest 0."""
        best: dict[tuple[int, int], list[tuple[float, int]]] = {}
        for i, j in pairs:
            cosine = float(self._vectors[i] @ self._vectors[j])
            for one, other in ((i, j), (j, i)):
                key = (one, self.statements[other].document)
                best.setdefault(key, []).append((-cosine, other))
        return {
            (one, other): rank
            for (one, _), others in best.items()
            for rank, (_, other) in enumerate(sorted(others))
        }

    def _features(
        self, i: int, j: int, values: tuple[Value, Value], ranks: dict[tuple[int, int], int]
    ) -> list[float]:
        one, other = self.analyses[i], self.analyses[j]
        return [
            float(self._vectors[i] @ self._vectors[j]),
            1 / (1 + ranks[i, j] + ranks[j, i]),
            self._overlap(one.stems, other.stems),
            min(self._weight(one.stems & other.stems) / 10, 2.0),
            float(min(len(one.names & other.names), 2)),
            self._overlap(one.near(values[0]), other.near(values[1])),
            float(any(gap(v, w) == 0 for v, w in _comparable(one, other))),
            float(values[0].unit != "" or values[0].kind != "number"),
            float(values[0].is_rough) + float(values[1].is_rough),
            math.log(1 + min(len(one.stems), len(other.stems))),
            math.log(1 + max(len(one.stems), len(other.stems))),
        ]

    def _overlap(self, one: frozenset[str], other: frozenset[str]) -> float:
        """Return the weight of the common stems, as a share of the lighter side's."""
        both = self._weight(one & other)
        return both / max(min(self._weight(one), self._weight(other)), 1.0)

    def _weight(self, stems: Iterable[str]) -> float:
        return sum(self._idf.get(stem, 1.0) for stem in stems)


def _comparable(one: Analysis, other: Analysis) -> list[tuple[Value, Value]]:
    """Return all pairs of values of one shape, zeros left out."""
    return [
        (v, w)
        for v in one.values
        for w in other.values
        if v.shape == w.shape and v.high != 0 and w.high != 0
    ]


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stems_in_order(text))


def _stems_in_order(text: str) -> list[str]:
    return [stem for stem in content_stems(text) if not stem[0].isdigit()]


class Scorer:
    """A logistic model over standardized features."""

    def __init__(
        self, mean: Sequence[float], scale: Sequence[float], weights: Sequence[float], bias: float
    ) -> None:
        self._weights = np.array(weights) / np.array(scale)
        self._bias = bias - float(np.array(mean) @ self._weights)

    def logits(
        self, features: NDArray[np.float64] | Sequence[Sequence[float]]
    ) -> NDArray[np.float64]:
        """Return the log odds of each row."""
        rows = np.asarray(features, float).reshape(-1, len(self._weights))
        result: NDArray[np.float64] = rows @ self._weights + self._bias
        return result

    def chances(
        self, features: NDArray[np.float64] | Sequence[Sequence[float]]
    ) -> NDArray[np.float64]:
        """Return the probability of each row."""
        result: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(self.logits(features), -30, 30)))
        return result
