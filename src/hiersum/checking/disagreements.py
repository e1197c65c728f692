"""Where sources disagree: statements of different documents that cannot both be true.

    found = find_disagreements(statements, checker, names=["1-gazette.txt", "3-union.txt"])
    print(found[0].line(names))  # Injured: 27 (1-gazette.txt) or at least 41 (3-union.txt)

Nearest neighbors become candidates (`comparison.py`), and a fitted model scores them. The checker's
`contradiction` judges the best ones, and pairs about one subject are merged. Nothing here decides who
is right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from hiersum.checking.amounts import Value
from hiersum.checking.checker import Checker
from hiersum.checking.comparison import (
    CORRECTIONS,
    NEGATIONS,
    Candidate,
    Comparer,
    Scorer,
)
from hiersum.text.labels import OPENING_CHARACTERS, document_order
from hiersum.text.words import FUNCTION_WORDS, split_words, stem_word
from hiersum.types import (
    Document,
    Paragraph,
    Sentence,
    Side,
    SourceDisagreement,
    SummarySentence,
)

DisagreementKind = Literal["number", "date", "time", "yes/no", "claim"]

REPORTED = ("number", "date", "time")
"""Kinds that are reported. Claims are not: too many candidates only use other words."""
MIN_SCORE = 0.5
"""Minimum score of a reported disagreement."""

_WEIGHTS_FILE = "disagreements.json"
_CHECKED_PER_DOCUMENT, _MAX_CHECKED = 3, 300  # sentence pairs that the checker reads
_MAX_QUOTE = 90
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
        """Return it as one line: what it is about, each version, and the documents' names."""
        versions: dict[str, list[str]] = {}
        for side in self.sides:
            quote = side.value if len(side.value) < len(side.text) else f'"{_shortened(side.text)}"'
            versions.setdefault(quote, []).append(_name(side.document, names))
        said = " or ".join(f"{quote} ({', '.join(whose)})" for quote, whose in versions.items())
        about = self.about[:1].upper() + self.about[1:]
        later = f" (later: {_name(self.later, names)})" if self.later is not None else ""
        return f"{about}: {said}{later}"


class Scored(NamedTuple):
    """A candidate and how likely it is a disagreement."""

    score: float
    candidate: Candidate


def compare_documents(
    documents: Sequence[Document], paragraphs: Sequence[Paragraph], checker: Checker
) -> tuple[SourceDisagreement, ...]:
    """Return the disagreements between documents, in the paragraphs that were read."""
    names = [document.display_name(n) for n, document in enumerate(documents)]
    statements = [
        sentence
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
    statements: Sequence[Sentence], checker: Checker, names: Sequence[str] = ()
) -> list[Disagreement]:
    """Return the disagreements in the sentences of all documents, most certain first.

    Statements are in reading order. Dates in the names of documents ("2-monday.txt") tell which is
    later.
    """
    if len({s.paragraph.document for s in statements}) < 2:
        return []
    comparer = Comparer(statements, checker)
    order = document_order(*_names_and_openings(statements, names))
    found = report(comparer, score(comparer, checker), order)
    return [one for one in found if one.kind in REPORTED and one.score >= MIN_SCORE]


def report(
    comparer: Comparer, scored: Sequence[Scored], order: dict[tuple[int, int], int]
) -> list[Disagreement]:
    """Merge scored candidates, best first; `order` has the later document of each pair."""
    return [_disagreement(comparer, group, order) for group in merge(scored)]


def _names_and_openings(
    statements: Sequence[Sentence], names: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the name and the first words of each document."""
    openings: dict[int, str] = {}
    for statement in statements:
        document = statement.paragraph.document
        known = openings.get(document, "")
        if len(known) < OPENING_CHARACTERS:
            openings[document] = f"{known} {statement.text}"
    numbers = range(max(openings) + 1)
    return (
        [names[n] if n < len(names) else "" for n in numbers],
        [openings.get(n, "") for n in numbers],
    )


def score(comparer: Comparer, checker: Checker) -> list[Scored]:
    """Return the candidates above the threshold, best first."""
    models = _models()
    scored: list[tuple[float, str, Candidate]] = []
    for kind, candidates in zip(("values", "claims"), comparer.candidates()):
        logits = models[kind].first.logits([c.features for c in candidates])
        scored += [(float(logit), kind, c) for logit, c in zip(logits, candidates)]
    scored = checked_pairs(scored, len({s.paragraph.document for s in comparer.statements}))
    statements = comparer.statements
    pairs = list(dict.fromkeys((c.one, c.other) for _, _, c in scored))
    texts = [(statements[i].text, statements[j].text) for i, j in pairs]
    contradictions = dict(zip(pairs, checker.contradiction(texts)))
    chances = [
        float(models[kind].second.chances([[logit, contradictions[c.one, c.other]]])[0])
        for logit, kind, c in scored
    ]
    above = [
        Scored(chance, c)
        for chance, (_, kind, c) in zip(chances, scored)
        if chance >= models[kind].threshold
    ]
    return sorted(above, key=lambda item: -item.score)


def checked_pairs(
    scored: Sequence[tuple[float, str, Candidate]], num_documents: int
) -> list[tuple[float, str, Candidate]]:
    """Return the best candidates, as many sentence pairs as the checker may read."""
    allowed = min(_CHECKED_PER_DOCUMENT * num_documents, _MAX_CHECKED)
    pairs: set[tuple[int, int]] = set()
    kept = []
    for item in sorted(scored, key=lambda item: -item[0]):
        pair = (item[2].one, item[2].other)
        if pair in pairs or len(pairs) < allowed:
            pairs.add(pair)
            kept.append(item)
    return kept


def merge(scored: Sequence[Scored]) -> list[list[Scored]]:
    """Group pairs about one subject: those that share a value or, for claims, a sentence."""
    groups: list[list[Scored]] = []
    places: list[set[tuple[int, int]]] = []
    for item in scored:
        mine = _places(item.candidate)
        for group, known in zip(groups, places):
            sentences = {sentence for sentence, _ in known}
            is_claim = item.candidate.values is None
            if known & mine or (is_claim and sentences & {s for s, _ in mine}):
                if _shape(item.candidate) == _shape(group[0].candidate):
                    known |= mine
                group.append(item)
                break
        else:
            groups.append([item])
            places.append(set(mine))
    return groups


def _shape(candidate: Candidate) -> str:
    return "" if candidate.values is None else candidate.values[0].shape


def _places(candidate: Candidate) -> set[tuple[int, int]]:
    starts = (-1, -1) if candidate.values is None else tuple(v.start for v in candidate.values)
    return {(candidate.one, starts[0]), (candidate.other, starts[1])}


def _disagreement(
    comparer: Comparer, group: Sequence[Scored], order: dict[tuple[int, int], int]
) -> Disagreement:
    best = group[0].candidate
    one, other = _sides(comparer, best)
    known = {one.document, other.document}
    more: list[Side] = []
    for item in group[1:]:
        if _shape(item.candidate) != _shape(best):
            continue  # the same sentences about something else
        for side in _sides(comparer, item.candidate):
            if side.document not in known:
                known.add(side.document)
                more.append(side)
    return Disagreement(
        about=_about(comparer, best, one, other),
        kind=_kind(comparer, best),
        one=one,
        other=other,
        score=group[0].score,
        later=_later(comparer, best, order),
        more=tuple(more),
    )


def _sides(comparer: Comparer, candidate: Candidate) -> tuple[Side, Side]:
    values = candidate.values or (None, None)
    one = _side(comparer.statements[candidate.one], values[0])
    other = _side(comparer.statements[candidate.other], values[1])
    return (one, other) if one.document < other.document else (other, one)


def _side(statement: Sentence, value: Value | None) -> Side:
    text, place = statement.text, statement.place
    if value is None:
        return Side(place.document, place.position, text, 0, len(text))
    before = _QUALIFIER.search(text[: value.start])
    after = _UNIT_AFTER.match(text, value.end) if value.kind == "number" else None
    start = before.start() if before else value.start
    if text[start - 1 : start] in ("$", "\u20ac", "\u00a3"):
        start -= 1
    return Side(place.document, place.position, text, start, after.end() if after else value.end)


def _kind(comparer: Comparer, candidate: Candidate) -> DisagreementKind:
    if candidate.values is not None:
        return candidate.values[0].kind
    one, other = comparer.analyses[candidate.one], comparer.analyses[candidate.other]
    return "yes/no" if one.has(NEGATIONS) != other.has(NEGATIONS) else "claim"


def _about(comparer: Comparer, candidate: Candidate, one: Side, other: Side) -> str:
    """Name the subject in a word or two: what both say next to the value, else what both say."""
    if candidate.values is not None:
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


# "The new bridge" and "only 14 people" correct nothing.
_TELLS_LATER = CORRECTIONS - {"new", "only", "right", "final", "longer"}


def _later(
    comparer: Comparer, candidate: Candidate, order: dict[tuple[int, int], int]
) -> int | None:
    """Return the later document, by the documents' dates, or by one side's words of correction."""
    one, other = (
        comparer.statements[n].paragraph.document for n in (candidate.one, candidate.other)
    )
    known = order.get((one, other))
    if known is not None:
        return known
    corrects = [comparer.analyses[n].has(_TELLS_LATER) for n in (candidate.one, candidate.other)]
    if corrects[0] != corrects[1]:
        return one if corrects[0] else other
    return None


def _name(document: int, names: Sequence[str]) -> str:
    return (
        names[document] if document < len(names) and names[document] else f"document {document + 1}"
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_QUOTE else text[:_MAX_QUOTE].rsplit(" ", 1)[0] + " ..."


class _Model(NamedTuple):
    first: Scorer
    second: Scorer
    threshold: float


@cache
def _models() -> dict[str, _Model]:
    text = resources.files("hiersum.checking").joinpath(_WEIGHTS_FILE).read_text("utf-8")
    stored: dict[str, Any] = json.loads(text)
    return {
        kind: _Model(Scorer(**part["first"]), Scorer(**part["second"]), part["threshold"])
        for kind, part in stored["models"].items()
    }
