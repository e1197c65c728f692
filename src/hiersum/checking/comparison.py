"""Pairs of statements that may be about one thing, and the features by which they are judged.

Candidates are each sentence's nearest neighbors in other documents, by vector. Two kinds are
judged: a pair of *values* of one shape that differ (27 and 41 people), and a pair of *claims*, whole
sentences. `recipes/checker/fit_disagreements.py` fits the weights.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiersum.checking.amounts import Value, gap, values_of
from hiersum.checking.checker import Checker
from hiersum.text.facts import names_of
from hiersum.text.words import Words, words_of
from hiersum.types import Sentence

Vectors = NDArray[np.float32]

LIKENESS = {
    "values": (0, 1, 2, 3, 4, 5, 13, 14, 15, 16, 17, 28, 29, 32),
    "claims": (0, 1, 2, 3, 4, 5),
}
"""Features that say how alike two statements are; no fit may count them against a disagreement."""
_NEIGHBORS = 12
_BLOCK = 1_024
_MAX_PAIRS = 2_000
_FAR = 0.9
_MAX_HEADING = 8  # words
_DENIAL = re.compile(
    r"\b(?:not|from|instead of|rather than|no longer|previously)\s(?:\w+\s){0,2}$", re.I
)
NEGATIONS = frozenset(
    "no not never none nobody nothing neither nor without cannot can't isn't wasn't aren't weren't "
    "don't doesn't didn't won't hasn't haven't hadn't hardly nowhere unlikely".split()
)
CORRECTIONS = frozenset(
    "now instead longer new moved moves replaces replaced replaces changed corrected correction wrong "
    "revised postponed cancelled later actually contrary update updated final right pushed only".split()
)
_SCOPES = frozenset(
    "including excluding only further more additional remaining each per total average so far another "
    "other second extra up planned expected reduced from mean".split()
)
_OPPOSITES = [
    tuple(frozenset(side.split("|")) for side in pair.split("/"))
    for pair in """open|opened|opens|reopens/closed|shut|closes|close
    included|includes|free/extra|optional|excluded approved|accepted|agreed/rejected|refused|banned
    all|every|both|whole/only|one|part safe|harmless/danger|dangerous|unsafe
    alive|well|healthy/dead|died|ill
    fewer|lower|fell|decreased|reduced|less/rose|higher|increased|more|difference
    may|can/must|cannot|only works|worked|working/failed|failure|broken before|early/after|late
    win|won|success/lost|failed|failure present|available/absent|missing|unavailable
    buy|bought|keep|kept/sell|sold|cancelled|dropped""".split()
]
_CLAUSE_END = re.compile(
    r";|,\s|\s[\u2013\u2014-]\s|\s(?:but|while|whereas|although|because|which|who|and)\s|[.!?]\s"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A value of a statement and the words around it."""

    value: Value
    clause: str
    """Its part of the sentence, without the value."""
    stems: frozenset[str]
    near: frozenset[str]
    """The content words next to it."""
    label: str
    """The words next to it, as they stand: what is counted."""


@dataclass(frozen=True)
class Analysis:
    """The words, names and values of a statement."""

    text: str
    words: frozenset[str]
    stems: frozenset[str]
    names: frozenset[str]
    """The words of its names."""
    mentions: list[Mention]
    """Its amounts, dates and times."""

    def has(self, words: frozenset[str]) -> bool:
        """Whether it has one of the words."""
        return not words.isdisjoint(self.words)


def analyse(statements: Sequence[Sentence]) -> list[Analysis]:
    """Find the words, names and values of all statements."""
    texts = [statement.text for statement in statements]
    values = values_of(texts)
    clauses = [[_clause(text, value) for value in of_text] for text, of_text in zip(texts, values)]
    parts = {part for of_text in clauses for clause in of_text for part in clause}
    known = {words.text: words for words in words_of(parts)}
    return [
        Analysis(
            statement.text,
            frozenset(statement.words),
            frozenset(_stems(statement)),
            frozenset(word for name in names for word in name.value.split()),
            [
                _mention(value, *(known[part] for part in clause))
                for value, clause in zip(of_text, of_clauses)
            ],
        )
        for statement, names, of_text, of_clauses in zip(
            statements, names_of(texts), values, clauses
        )
    ]


def _stems(text: Words) -> list[str]:
    return [stem for stem in text.content_stems if not stem[0].isdigit()]


def _clause(text: str, value: Value) -> tuple[str, str, str]:
    """Return what stands before and after a value in its part of the sentence, and both."""
    start = max((m.end() for m in _CLAUSE_END.finditer(text, 0, value.start)), default=0)
    end_match = _CLAUSE_END.search(text, value.end)
    end = end_match.start() if end_match else len(text)
    before, after = text[start : value.start], text[value.end : end]
    return before, after, f"{before.strip()} {after.strip()}".strip()


def _mention(value: Value, before: Words, after: Words, clause: Words) -> Mention:
    near = _stems(before)[-1:] + _stems(after)[:2]
    label = " ".join(before.content_words[-2:] + after.content_words[:2])
    return Mention(value, clause.text, frozenset(_stems(clause)), frozenset(near), label)


def near_pairs(statements: Sequence[Sentence], vectors: Vectors) -> list[tuple[int, int]]:
    """Return pairs (i < j) of different documents, each among the other's nearest neighbors."""
    documents = np.array([s.paragraph.document for s in statements])
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


class Candidate(NamedTuple):
    """Two statements, and the two values that differ; no values for a pair of claims."""

    one: int
    other: int
    values: tuple[Value, Value] | None
    features: list[float]


class Comparer:
    """Compares the statements of one folder."""

    def __init__(self, statements: Sequence[Sentence], checker: Checker) -> None:
        self.statements = statements
        self.analyses = analyse(statements)
        self._checker = checker
        self._vectors = checker.vectors([s.text for s in statements])
        counts = Counter(stem for a in self.analyses for stem in a.stems)
        self._idf = {s: math.log(1 + len(statements) / n) for s, n in counts.items()}
        self._clauses: dict[str, int] = {}
        self._headings = [float(self._is_heading(n)) for n in range(len(statements))]

    def candidates(self) -> tuple[list[Candidate], list[Candidate]]:
        """Return pairs of values and pairs of claims, with their features."""
        pairs = [
            (i, j) for i, j in near_pairs(self.statements, self._vectors)
            if min(len(self.analyses[i].stems), len(self.analyses[j].stems)) > 1
            and self.analyses[i].words != self.analyses[j].words
        ]  # fmt: skip
        if not pairs:
            return [], []
        self._embed_clauses({n for pair in pairs for n in pair})
        ranks = self._ranks(pairs)
        shared = [self._shared_features(i, j, ranks) for i, j in pairs]
        values = self._value_candidates(pairs, shared)
        claims = [
            Candidate(i, j, None, [*base, *self._claim_features(i, j)])
            for (i, j), base in zip(pairs, shared)
        ]
        return values, claims

    def _embed_clauses(self, numbers: Iterable[int]) -> None:
        mentions = [m for n in numbers for m in self.analyses[n].mentions]
        clauses = {m.clause for m in mentions} | {m.label for m in mentions}
        self._clauses = {clause: row for row, clause in enumerate(sorted(clauses))}
        self._clause_vectors = self._checker.vectors(list(self._clauses))

    def _ranks(self, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """Number each sentence's neighbors within each other document, the nearest 0."""
        best: dict[tuple[int, int], list[tuple[float, int]]] = {}
        for i, j in pairs:
            cosine = float(self._vectors[i] @ self._vectors[j])
            for one, other in ((i, j), (j, i)):
                key = (one, self.statements[other].paragraph.document)
                best.setdefault(key, []).append((-cosine, other))
        return {
            (one, other): rank
            for (one, _), others in best.items()
            for rank, (_, other) in enumerate(sorted(others))
        }

    def _overlap(self, one: frozenset[str], other: frozenset[str]) -> float:
        """Return the weight of the common stems, as a share of the lighter side's."""
        both = self._weight(one & other)
        return both / max(min(self._weight(one), self._weight(other)), 1.0)

    def _weight(self, stems: Iterable[str]) -> float:
        return sum(self._idf.get(stem, 1.0) for stem in stems)

    def _shared_features(self, i: int, j: int, ranks: dict[tuple[int, int], int]) -> list[float]:
        one, other = self.analyses[i], self.analyses[j]
        common = one.stems & other.stems
        names = one.names & other.names
        return [
            float(self._vectors[i] @ self._vectors[j]),
            float(ranks[i, j] == 0) + float(ranks[j, i] == 0),
            1 / (1 + ranks[i, j] + ranks[j, i]),
            self._overlap(one.stems, other.stems),
            min(self._weight(common) / 10, 2.0),
            min(len(names), 2),
            float(bool(one.names and other.names and not names)),
            float(one.has(NEGATIONS) != other.has(NEGATIONS)),
            float(one.has(CORRECTIONS) or other.has(CORRECTIONS)),
            float(one.has(_SCOPES)) + float(other.has(_SCOPES)),
            self._headings[i] + self._headings[j],
            math.log(min(len(one.words), len(other.words))),
            math.log(max(len(one.words), len(other.words))),
        ]

    def _is_heading(self, number: int) -> bool:
        """Whether it is a line without a sentence end, or a short first line of a document."""
        line = self.statements[number]
        before = self.statements[number - 1].paragraph.document if number else None
        is_first = before != line.paragraph.document
        return not line.ends_sentence or (is_first and len(line.words) <= _MAX_HEADING)

    def _claim_features(self, i: int, j: int) -> list[float]:
        one, other = self.analyses[i], self.analyses[j]
        mentions = [(m, n) for m in one.mentions for n in other.mentions if _alike(m, n)]
        return [
            float(any(_opposed(one, other, *pair) for pair in _OPPOSITES)),
            float(any(gap(m.value, n.value) == 0 for m, n in mentions)),
            float(any(gap(m.value, n.value) > 0 for m, n in mentions)),
            float(bool(one.mentions)) + float(bool(other.mentions)),
        ]

    def _value_candidates(
        self, pairs: Sequence[tuple[int, int]], shared: Sequence[list[float]]
    ) -> list[Candidate]:
        found: list[tuple[int, int, Mention, Mention, list[float], float]] = []
        best: dict[tuple[int, int, int], float] = {}  # statement, place, document -> cosine
        agreed: dict[tuple[int, int, int], float] = {}
        for (i, j), base in zip(pairs, shared):
            for m in self.analyses[i].mentions:
                for n in self.analyses[j].mentions:
                    if not _alike(m, n):
                        continue
                    cosine = self._cosine(m.clause, n.clause)
                    differ = gap(m.value, n.value) > 0
                    table = best if differ else agreed
                    for key in (self._key(i, m, j), self._key(j, n, i)):
                        table[key] = max(table.get(key, 0.0), cosine)
                    if differ:
                        found.append((i, j, m, n, base, cosine))
        return [
            Candidate(
                i,
                j,
                (m.value, n.value),
                [
                    *base,
                    cosine,
                    *self._value_features(i, j, m, n),
                    float(cosine >= best[self._key(i, m, j)])
                    + float(cosine >= best[self._key(j, n, i)]),
                    max(agreed.get(self._key(i, m, j), 0.0), agreed.get(self._key(j, n, i), 0.0)),
                ],
            )
            for i, j, m, n, base, cosine in found
        ]

    def _key(self, i: int, mention: Mention, j: int) -> tuple[int, int, int]:
        return i, mention.value.start, self.statements[j].paragraph.document

    def _cosine(self, one: str, other: str) -> float:
        rows = self._clause_vectors
        return float(rows[self._clauses[one]] @ rows[self._clauses[other]])

    def _value_features(self, i: int, j: int, m: Mention, n: Mention) -> list[float]:
        one, other = self.analyses[i], self.analyses[j]
        v, w = m.value, n.value
        is_number = v.kind == "number"
        agree_elsewhere = any(
            _alike(p, q) and gap(p.value, q.value) == 0
            for p in one.mentions
            for q in other.mentions
        )
        near = float(not m.near.isdisjoint(n.stems)) + float(not n.near.isdisjoint(m.stems))
        is_date, distance = v.kind == "date", gap(v, w)
        label = self._cosine(m.label, n.label)
        return [
            self._overlap(m.stems, n.stems),
            float(not m.near.isdisjoint(n.near)),
            near,
            label,
            distance if is_number else 0.0,
            float(is_number and distance > _FAR),
            float(v.low == 0 == v.high or w.low == 0 == w.high),
            float(v.is_rough) + float(w.is_rough),
            float(v.unit == ""),
            float(v.unit in ("s", "%")),
            float(is_date),
            float(v.kind == "time"),
            float(v.scale == w.scale),
            float(agree_elsewhere),
            _names_old(one, w) + _names_old(other, v),
            _denies(one, w) + _denies(other, v),
            math.log(len(one.mentions) * len(other.mentions)),
            float(len(m.stems) < 2) + float(len(n.stems) < 2),
        ]


def _alike(m: Mention, n: Mention) -> bool:
    return m.value.shape == n.value.shape


def _is_value(value: Value, other: Value) -> bool:
    """Whether two values are equal; a bare number may omit its unit: "2.4 %, not 2.2"."""
    if value.kind == other.kind == "number" and "" in (value.unit, other.unit):
        return value.low / value.scale == other.low / other.scale != 0
    return value.shape == other.shape and gap(value, other) == 0


def _names_old(analysis: Analysis, value: Value) -> float:
    """1 if a statement also has the other's value, as in "five of them, not four"."""
    return float(any(_is_value(m.value, value) for m in analysis.mentions))


def _denies(analysis: Analysis, value: Value) -> float:
    """1 if a statement has the other's value after "not", "from" or "instead of"."""
    return float(
        any(
            _is_value(m.value, value)
            and _DENIAL.search(analysis.text[max(0, m.value.start - 40) : m.value.start])
            for m in analysis.mentions
        )
    )


def _opposed(one: Analysis, other: Analysis, left: frozenset[str], right: frozenset[str]) -> bool:
    a, b = one.words, other.words
    return (not a.isdisjoint(left) and not b.isdisjoint(right)) or (
        not a.isdisjoint(right) and not b.isdisjoint(left)
    )


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
