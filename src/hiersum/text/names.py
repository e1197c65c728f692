"""Names in text, by rule: runs of capitalised words, and words that no sentence makes capital.

A capital says nothing at the start of a sentence, so a lone word there counts only if it has a capital
or a digit further on (NATO, iPhone, K2) or stands capitalised within a sentence elsewhere. Lower-case
words between capitals join them (University of Oxford), and function words at the start are left out
(The Hague is Hague; both are found by it).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from hiersum.text.numbers import MONTHS, NUMBER_WORDS, WEEKDAYS
from hiersum.text.sentences import split_sentences
from hiersum.text.words import FUNCTION_WORDS

_TOKEN = re.compile(r"[^\W\d_](?:\.[^\W\d_])+\.?|[^\W_]+(?:['\u2019][^\W\d_]+)*")
_JOINERS = frozenset(
    "of the de del della di da do dos du la le van von der den ter bin ibn al el y e".split()
)
_TITLES = frozenset(
    """mr mrs ms mx dr prof sir lady lord dame president vice prime minister chancellor king queen prince
    princess emperor pope bishop captain colonel general lieutenant major sergeant senator governor mayor
    professor doctor chairman chairwoman director judge justice saint st""".split()
)
# Capitalised in English wherever they stand, and found as dates or said of everyone.
_NOT_NAMES = frozenset(
    [
        *MONTHS,
        *WEEKDAYS,
        *"i jan feb mar apr jun jul aug sep sept oct nov dec ok am pm mr mrs ms".split(),
    ]
)
# At the start of a sentence before a name: "The", "In", "Twelve".
_ACCIDENTAL = FUNCTION_WORDS | NUMBER_WORDS
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_HYPHENS = ("-", "\u2010", "\u2011")
_MARKS = re.compile("[\u0300-\u036f]")


class Name(NamedTuple):
    """A name and where it stands."""

    start: int
    end: int
    value: str
    """Its words in the form that `name_words` gives, without titles before it."""


def find_names(text: str) -> list[Name]:
    """Return the names of a text, in order."""
    tokens = list(_tokens(text))
    inner = {token.key for token in tokens if token.is_capital and not token.is_first}
    names = []
    run: list[_Token] = []
    for token in tokens:
        joins = run and not token.is_first and not _has_break(text, run[-1], token)
        if run and not joins:
            names += _names_of(run, inner)
            run = []
        if token.is_capital or (run and token.key in _JOINERS):
            run.append(token)
        elif run:
            names += _names_of(run, inner)
            run = []
    return names + _names_of(run, inner)


def name_words(text: str) -> list[str]:
    """Return words as names are compared: no case, accents, possessives, initials or points."""
    return [
        key for match in _TOKEN.finditer(text) if len(key := _key(match[0])) > 1 or key.isdigit()
    ]


def acronym(name: str) -> str:
    """Return the first letters of a name's words, joiners left out: united nations -> un."""
    return "".join(word[0] for word in name.split() if word not in _JOINERS)


class _Token(NamedTuple):
    start: int
    end: int
    text: str
    key: str
    is_capital: bool
    is_first: bool
    """The first word of a sentence."""

    @property
    def is_marked(self) -> bool:
        """Does it look like a name whatever stands before it?"""
        return any(letter.isupper() or letter.isdigit() for letter in self.text[1:])


def _tokens(text: str) -> Iterator[_Token]:
    start = 0
    for line in text.split("\n"):
        for sentence in split_sentences(line):
            start = text.index(sentence, start)
            is_first = True
            for match in _TOKEN.finditer(sentence):
                word = match[0]
                begin, end = start + match.start(), start + match.end()
                yield _Token(begin, end, word, _key(word), word != word.lower(), is_first)
                is_first = False
            start += len(sentence)


@lru_cache(maxsize=1 << 16)
def _key(word: str) -> str:
    plain = _POSSESSIVE.sub("", word)
    if not plain.isascii():
        plain = _MARKS.sub("", unicodedata.normalize("NFKD", plain))
    return plain.replace(".", "").casefold()


def _has_break(text: str, before: _Token, after: _Token) -> bool:
    """Is there more than a space, a hyphen or an initial's point between two words?"""
    between = text[before.end : after.start]
    return (
        not between.isspace()
        and between not in _HYPHENS
        and not (between.strip() == "." and len(before.key) == 1)
    )


def _names_of(run: Sequence[_Token], inner: set[str]) -> list[Name]:
    """Turn a run of words into a name, or nothing if a sentence made its capital."""
    words = list(run)
    while words and words[-1].key in _JOINERS and not words[-1].is_capital:
        words.pop()
    while words and words[0].key in _ACCIDENTAL and not words[0].is_marked:
        words.pop(0)
    words = _without_dates(words)
    if not words:
        return []
    lone = words[0]
    if len(words) == 1 and lone.is_first and not lone.is_marked and lone.key not in inner:
        return []
    keys = [key for word in words if len(key := word.key) > 1 or key.isdigit()]
    while len(keys) > 1 and keys[0] in _TITLES:
        keys.pop(0)
    if not keys or (len(keys) == 1 and (keys[0] in _NOT_NAMES or keys[0] in _TITLES)):
        return []
    return [Name(words[0].start, words[-1].end, " ".join(keys))]


def _without_dates(words: list[_Token]) -> list[_Token]:
    while words and words[0].key in _NOT_NAMES:
        words = words[1:]
    while words and words[-1].key in _NOT_NAMES:
        words = words[:-1]
    return words
