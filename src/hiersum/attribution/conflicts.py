"""Sources that say something different: another number or date for the same thing.

Two mentions are of the same thing if their sentences share most of their content words, and so do the
words around the two numbers, and what is counted is the same (486 metres, 468 metres). It points out, it
does not judge: the two may speak of different days. Documents that have the summary's own number are not
asked for another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import cache, cached_property
from typing import NamedTuple

from hiersum.text.facts import Fact, find_facts
from hiersum.text.numbers import date_holds
from hiersum.text.sentences import split_sentences
from hiersum.text.words import FUNCTION_WORDS, split_stems
from hiersum.types import Conflict, Paragraph, SummarySentence

_MIN_SHARED = 2  # content words
_MIN_SENTENCE_SHARE = 0.5
_MIN_CONTEXT_SHARE = 0.6
_CONTEXT_CHARACTERS = 60
_CONTEXT_STEMS = 5
_MAX_EXPONENT = 20
_MAX_CONFLICTS = 3  # of one sentence
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_UNIT = re.compile(r"[\s-]?(%|[^\W\d_]+)")
_CURRENCIES = ("$", "\u20ac", "\u00a3", "\u00a5")
_FUNCTION_STEMS = frozenset(stem for word in FUNCTION_WORDS for stem in split_stems(word))


class _Mention(NamedTuple):
    """A number or date, and the words around it."""

    fact: Fact
    shape: str
    """Only what has the same shape can contradict: years, weekdays, dates, metres, dollars."""
    context: frozenset[str]
    nearest: frozenset[str]
    """The content word before it and the one after."""


class _Said(NamedTuple):
    """A sentence of a source."""

    text: str
    content: frozenset[str]
    paragraph: Paragraph


class Statements:
    """What paragraphs say, sentence by sentence."""

    def __init__(self, paragraphs: Sequence[Paragraph]) -> None:
        self._paragraphs = paragraphs
        self._mentions = cache(_mentions)  # of a source's sentence, which many may be held to

    @cached_property
    def _said(self) -> list[_Said]:
        return [
            _Said(text, _content(text), paragraph)
            for paragraph in self._paragraphs
            for text in split_sentences(paragraph.text)
        ]

    def conflicts(self, sentence: SummarySentence) -> tuple[Conflict, ...]:
        """Return what sources have in place of the numbers and dates of a sentence."""
        mentions = _mentions(sentence.text)
        if not mentions:
            return ()
        content = _content(sentence.text)
        alike = [said for said in self._said if _shares(content, said.content, _MIN_SENTENCE_SHARE)]
        found: dict[tuple[int, str], Conflict] = {}
        for mention in mentions:
            agreeing = {
                said.paragraph.document
                for said in alike
                if any(_agree(mention, other) for other in self._mentions(said.text))
            }
            for said in alike:
                if said.paragraph.document in agreeing:
                    continue
                for other in self._mentions(said.text):
                    if _contradicts(other, mention) and not any(_agree(m, other) for m in mentions):
                        key = (mention.fact.start, other.fact.value)
                        found.setdefault(key, _conflict(mention.fact, other.fact, said.paragraph))
        return tuple(found.values())[:_MAX_CONFLICTS]


def _contradicts(other: _Mention, mention: _Mention) -> bool:
    return (
        other.shape == mention.shape
        and not _agree(other, mention)
        and _shares(other.context, mention.context, _MIN_CONTEXT_SHARE)
        # Built in 1931, painted in 1960: the bridge is the same, what was done is not.
        and not other.nearest.isdisjoint(mention.context)
        and not mention.nearest.isdisjoint(other.context)
    )


def _agree(one: _Mention, other: _Mention) -> bool:
    """Are two values the same, or may they be: less exact, rounded, or only the year of a date?"""
    left, right = one.fact.value, other.fact.value
    if one.fact.kind == other.fact.kind == "date":
        return date_holds(left, right) or date_holds(right, left)
    if one.fact.kind == other.fact.kind:
        if left == right:
            return True
        return one.shape != "year" and (_is_rounded(left, right) or _is_rounded(right, left))
    return left.startswith(f"{right}-") or right.startswith(f"{left}-")


def _is_rounded(value: str, exact: str) -> bool:
    """Is one number the other, to fewer digits: 500 for 486, 12 for 12.4, but not 10 for 12?"""
    try:
        rounded, number = Decimal(value), Decimal(exact)
    except InvalidOperation:  # the 1990s
        return False
    exponent = rounded.normalize().as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > _MAX_EXPONENT:
        return False
    unit = Decimal(10) ** exponent
    looks_round = exponent >= 2 or unit * 10 <= abs(rounded)
    return looks_round and bool(abs(number - rounded) * 2 <= unit)


def _mentions(text: str) -> tuple[_Mention, ...]:
    mentions = []
    for fact in find_facts(text):
        if fact.kind != "name":
            before, after = _around(text, fact)
            nearest = frozenset(before[-1:] + after[:1])
            mentions.append(_Mention(fact, _shape(text, fact), frozenset(before + after), nearest))
    return tuple(mentions)


def _shape(text: str, fact: Fact) -> str:
    if fact.kind == "date":
        return "date" if "-" in fact.value else "weekday"
    before = text[fact.start - 1 : fact.start]
    if before in _CURRENCIES:
        return before
    unit = _UNIT.match(text, fact.end)
    if unit is not None and unit[1] == "%":
        return "%"
    if _YEAR.fullmatch(fact.text):
        return "year"
    stem = "" if unit is None else split_stems(unit[1])[0]
    return f"count of {'' if stem in _FUNCTION_STEMS else stem}"


def _around(text: str, fact: Fact) -> tuple[list[str], list[str]]:
    """The content words next to a fact, before and after it."""
    before = text[max(0, fact.start - _CONTEXT_CHARACTERS) : fact.start]
    after = text[fact.end : fact.end + _CONTEXT_CHARACTERS]
    # A word cut at the edge of the window is none.
    before = before.partition(" ")[2] if fact.start > _CONTEXT_CHARACTERS else before
    after = after.rpartition(" ")[0] if fact.end + _CONTEXT_CHARACTERS < len(text) else after
    return _content_stems(before)[-_CONTEXT_STEMS:], _content_stems(after)[:_CONTEXT_STEMS]


def _content(text: str) -> frozenset[str]:
    return frozenset(_content_stems(text))


def _content_stems(text: str) -> list[str]:
    return [s for s in split_stems(text) if s not in _FUNCTION_STEMS and not s[0].isdigit()]


def _shares(one: frozenset[str], other: frozenset[str], share: float) -> bool:
    """Do two sets of words have enough in common: a share of the smaller, and half of that of both?"""
    num_shared = len(one & other)
    return (
        num_shared >= _MIN_SHARED
        and num_shared >= share * min(len(one), len(other))
        and num_shared >= share / 2 * max(len(one), len(other))
    )


def _conflict(fact: Fact, other: Fact, paragraph: Paragraph) -> Conflict:
    return Conflict(
        text=fact.text,
        start=fact.start,
        end=fact.end,
        kind=fact.kind,
        other=other.text,
        document=paragraph.document,
        paragraph=paragraph.position,
    )
