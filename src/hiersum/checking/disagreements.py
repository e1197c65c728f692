"""Where sources disagree: statements of different documents that cannot both be true.

    found = find_disagreements(statements, checker, names=["1-gazette.txt", "3-union.txt"])
    print(found[0].line(names))  # Injured: 27 (1-gazette.txt) or at least 41 (3-union.txt)

Nearest neighbors become candidates (`comparison.py`), the checker reads the most likely ones, and pairs
about one thing are merged. It points out; it does not say who is right.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from hiersum.checking.amounts import Value
from hiersum.checking.checker import Checker
from hiersum.checking.comparison import Candidate, Comparer, Scorer, Statement
from hiersum.text.labels import OPENING_CHARACTERS, document_order
from hiersum.text.words import FUNCTION_WORDS, split_words, stem_word
from hiersum.types import Document, Paragraph, Side, SourceDisagreement, SummarySentence

DisagreementKind = Literal["number", "date", "time"]

CHECKED_PER_DOCUMENT, MAX_CHECKED = 10, 300
"""Sentence pairs that the checker reads."""

_WEIGHTS_FILE = "disagreements.json"
_QUALIFIER = re.compile(
    r"\b(?:at least|at most|more than|fewer than|less than|up to|about|around|some|roughly|nearly|"
    r"almost|over|under|below|not even|only)\s(?:an?\s)?$",
    re.I,
)
_UNIT_AFTER = re.compile(
    r"\s?(?:%|\u00b0C|(?:per ?cent|percent|degrees|cubic metres|square metres|[mck]?m|kg|ha|km/h|"
    r"hectares?|metres?|meters?|kilomet(?:re|er)s?|centimet(?:re|er)s?|miles?|lit(?:re|er)s?|tonnes?|"
    r"grams?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|knots|kWh|dB|euros?|dollars?|pounds?)\b)"
)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two statements that cannot both be true, and others about the same thing."""

    about: str
    kind: DisagreementKind
    one: Side
    other: Side
    score: float
    """How likely the two disagree, 0 to 1."""
    later: int | None = None
    """The document that supersedes the other, where their dates or words say so."""
    more: tuple[Side, ...] = ()
    """Further documents that take part."""

    @property
    def sides(self) -> tuple[Side, ...]:
        """All statements, in the order of their documents."""
        return tuple(
            sorted((self.one, self.other, *self.more), key=lambda s: (s.document, s.paragraph))
        )

    def line(self, names: Sequence[str]) -> str:
        """Return it as one readable line; `names` are those of the documents."""
        return describe(self, names)


class Scored(NamedTuple):
    """A candidate that was read, and how likely it is a disagreement."""

    score: float
    candidate: Candidate


def compare_documents(
    documents: Sequence[Document], paragraphs: Sequence[Paragraph], checker: Checker
) -> tuple[SourceDisagreement, ...]:
    """Return where documents disagree in the paragraphs that were read of them."""
    names = [document.name or f"document {n + 1}" for n, document in enumerate(documents)]
    statements = [
        Statement(paragraph.document, paragraph.position, sentence.text)
        for paragraph in sorted(paragraphs, key=lambda p: (p.document, p.position))
        for sentence in paragraph.sentences
    ]
    return tuple(
        SourceDisagreement(
            about=found.about,
            kind=found.kind,
            sides=found.sides,
            line=found.line(names),
            score=round(found.score, 3),
            later=found.later,
        )
        for found in find_disagreements(statements, checker, names)
    )


def mark_disputed(
    sentences: Sequence[SummarySentence], disagreements: Sequence[SourceDisagreement]
) -> list[SummarySentence]:
    """Mark the sentences that were written from, or quote, a side of a disagreement."""
    sides = {
        (side.document, side.paragraph, " ".join(side.text.split()))
        for one in disagreements
        for side in one.sides
    }
    return [
        replace(
            sentence,
            is_disputed=any(
                (source.document, source.paragraph, line) in sides
                for source in sentence.sources
                for line in (*source.quote.split("\n"), " ".join(sentence.text.split()))
            ),
        )
        for sentence in sentences
    ]


def find_disagreements(
    statements: Sequence[Statement], checker: Checker, names: Sequence[str] = ()
) -> list[Disagreement]:
    """Return what documents say differently, the surest first, each thing once.

    Args:
        statements: the sentences of all documents, in reading order.
        checker: gives vectors, and judges the best candidates.
        names: of the documents; dates in them ("2-monday.txt") tell which is later.
    """
    if len({s.document for s in statements}) < 2:
        return []
    comparer = Comparer(statements, checker.vectors([s.text for s in statements]))
    order = document_order(*_names_and_openings(statements, names))
    model = _model()
    read = score(comparer, likeliest(comparer, model.first), checker, model.second)
    return report(comparer, [one for one in read if one.score >= model.threshold], order)


def report(
    comparer: Comparer, scored: Sequence[Scored], order: dict[tuple[int, int], int]
) -> list[Disagreement]:
    """Return what scored candidates, the best first, tell a reader; `order`: the later of two."""
    return [_disagreement(comparer, group, order) for group in merge(scored)]


def _names_and_openings(
    statements: Sequence[Statement], names: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the name and the first words of each document."""
    openings: dict[int, str] = {}
    for statement in statements:
        known = openings.get(statement.document, "")
        if len(known) < OPENING_CHARACTERS:
            openings[statement.document] = f"{known} {statement.text}"
    numbers = range(max(openings) + 1)
    return (
        [names[n] if n < len(names) else "" for n in numbers],
        [openings.get(n, "") for n in numbers],
    )


def likeliest(comparer: Comparer, first: Scorer) -> list[tuple[float, Candidate]]:
    """Return the candidates that the checker is to read, each with its log odds, best first."""
    candidates = comparer.candidates()
    num_documents = len({s.document for s in comparer.statements})
    logits = first.logits([candidate.features for candidate in candidates])
    ranked = sorted(zip(logits.tolist(), candidates), key=lambda item: -item[0])
    return ranked[: min(CHECKED_PER_DOCUMENT * num_documents, MAX_CHECKED)]


def score(
    comparer: Comparer,
    candidates: Sequence[tuple[float, Candidate]],
    checker: Checker,
    second: Scorer,
) -> list[Scored]:
    """Let the checker read candidates; return them with their chances, best first."""
    statements = comparer.statements
    texts = [(statements[c.one].text, statements[c.other].text) for _, c in candidates]
    rows = [
        evidence(logit, chance)
        for (logit, _), chance in zip(candidates, checker.contradiction(texts))
    ]
    scored = [
        Scored(chance, candidate)
        for chance, (_, candidate) in zip(second.chances(rows).tolist(), candidates)
    ]
    return sorted(scored, key=lambda one: -one.score)


def evidence(first_logit: float, contradiction: float) -> list[float]:
    """Return what the second model weighs: the log odds before reading and after."""
    bounded = min(max(contradiction, 1e-4), 1 - 1e-4)
    return [first_logit, math.log(bounded / (1 - bounded))]


def merge(scored: Sequence[Scored]) -> list[list[Scored]]:
    """Group pairs about one thing: those that share a value."""
    groups: list[list[Scored]] = []
    places: list[set[tuple[int, int]]] = []
    for item in scored:
        mine = _places(item.candidate)
        for group, known in zip(groups, places):
            if known & mine:
                known |= mine
                group.append(item)
                break
        else:
            groups.append([item])
            places.append(mine)
    return groups


def _places(candidate: Candidate) -> set[tuple[int, int]]:
    one, other = candidate.values
    return {(candidate.one, one.start), (candidate.other, other.start)}


def _disagreement(
    comparer: Comparer, group: Sequence[Scored], order: dict[tuple[int, int], int]
) -> Disagreement:
    best = group[0].candidate
    one, other = _sides(comparer, best)
    known = {one.document, other.document}
    more: list[Side] = []
    for item in group[1:]:
        for side in _sides(comparer, item.candidate):
            if side.document not in known:
                known.add(side.document)
                more.append(side)
    return Disagreement(
        about=_about(one, other),
        kind=best.values[0].kind,
        one=one,
        other=other,
        score=group[0].score,
        later=order.get((one.document, other.document)),
        more=tuple(more),
    )


def _sides(comparer: Comparer, candidate: Candidate) -> tuple[Side, Side]:
    one = _side(comparer.statements[candidate.one], candidate.values[0])
    other = _side(comparer.statements[candidate.other], candidate.values[1])
    return (one, other) if one.document < other.document else (other, one)


def _side(statement: Statement, value: Value) -> Side:
    text = statement.text
    before = _QUALIFIER.search(text[: value.start])
    after = _UNIT_AFTER.match(text, value.end) if value.kind == "number" else None
    start = before.start() if before else value.start
    if text[start - 1 : start] in ("$", "\u20ac", "\u00a3"):
        start -= 1
    return Side(
        statement.document, statement.paragraph, text, start, after.end() if after else value.end
    )


def _about(one: Side, other: Side) -> str:
    """Name the thing in a word or two: what both say next to the value, else what both say."""
    words = _common(_around(one), _around(other))
    if words:
        return " ".join(words[:2])
    words = _common(_content(one.text), _content(other.text))
    return " ".join(words[:3]) or " ".join(_content(one.text)[:3])


def _around(side: Side) -> list[str]:
    """The content words next to the value: those after it, then those before, the nearest first."""
    after = _content(side.text[side.end :])[:4]
    return after + _content(side.text[: side.start])[::-1][:4]


def _content(text: str) -> list[str]:
    return [
        w
        for w in split_words(text)
        if w not in FUNCTION_WORDS and not w[0].isdigit() and len(w) > 2
    ]


def _common(words: Sequence[str], others: Sequence[str]) -> list[str]:
    stems = {stem_word(word) for word in others}
    return list(dict.fromkeys(word for word in words if stem_word(word) in stems))


def describe(found: Disagreement, names: Sequence[str]) -> str:
    """Return a disagreement as one line: what it is about, each version, and whose it is."""
    versions: dict[str, list[str]] = {}
    for side in found.sides:
        versions.setdefault(side.value, []).append(_name(side.document, names))
    said = " or ".join(f"{value} ({', '.join(whose)})" for value, whose in versions.items())
    about = found.about[:1].upper() + found.about[1:]
    later = f" (later: {_name(found.later, names)})" if found.later is not None else ""
    return f"{about}: {said}{later}"


def _name(document: int, names: Sequence[str]) -> str:
    return (
        names[document] if document < len(names) and names[document] else f"document {document + 1}"
    )


class _Model(NamedTuple):
    first: Scorer
    """Which candidates are worth reading."""
    second: Scorer
    """What it means that the checker reads them so."""
    threshold: float
    """Chance from which a disagreement is told."""


@cache
def _model() -> _Model:
    text = resources.files("hiersum.checking").joinpath(_WEIGHTS_FILE).read_text("utf-8")
    stored: dict[str, Any] = json.loads(text)
    return _Model(Scorer(**stored["first"]), Scorer(**stored["second"]), stored["threshold"])
