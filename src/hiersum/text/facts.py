"""Names, numbers and dates of a text, and whether sources contain them.

`SourceFacts` looks up each fact in any spelling: thousands with or without separators, numbers as
words, names with or without accents, possessives, initials or titles, in other case, or as an
acronym. `Evidence` is a coarser test for training targets: most content words and all numbers must
occur.

Names are found by rule, for English: runs of capitalized words. The first word of a sentence counts
only if it has a capital or a digit further on (NATO, iPhone, K2) or is capitalized within a
sentence elsewhere. Lower-case joiners continue a name (University of Oxford); function words at its
start are left out (The Hague is Hague). In scripts without capitals only numbers are found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from hiersum.text.numbers import (
    MONTHS,
    NUMBER_WORDS,
    WEEKDAYS,
    Found,
    date_holds,
    find_digits,
    find_numbers_and_dates,
)
from hiersum.text.sentences import split_sentences
from hiersum.text.words import FUNCTION_WORDS, split_words, stem_word
from hiersum.types import Paragraph

_TOKEN = re.compile(r"[^\W\d_](?:\.[^\W\d_])+\.?|[^\W_]+(?:['\u2019][^\W\d_]+)*")
_JOINERS = frozenset(
    "of the de del della di da do dos du la le van von der den ter bin ibn al el y e".split()
)
_TITLES = frozenset(
    """mr mrs ms mx dr prof sir lady lord dame president vice prime minister chancellor king queen prince
    princess emperor pope bishop captain colonel general lieutenant major sergeant senator governor mayor
    professor doctor chairman chairwoman director judge justice saint st""".split()
)
# Always capitalized in English, but dates or too common to be names.
_NOT_NAMES = frozenset(
    [
        *MONTHS,
        *WEEKDAYS,
        *"i jan feb mar apr jun jul aug sep sept oct nov dec ok am pm mr mrs ms".split(),
    ]
)
# Capitalized at the start of a sentence before a name: "The", "In", "Twelve".
_ACCIDENTAL = FUNCTION_WORDS | NUMBER_WORDS
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_HYPHENS = ("-", "\u2010", "\u2011")
_ACCENTS = re.compile("[\u0300-\u036f]")
_ASIDE = re.compile(r"(\s*\((?:[^()]|\([^()]*\))*\))")
_DIGIT = re.compile(r"\d")
_MIN_SUPPORTED_SHARE = 0.6

Kind = Literal["name", "number", "date"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A name, number or date at `text[start:end]`."""

    text: str
    start: int
    end: int
    kind: Kind
    value: str
    """The normalized form for comparison."""


def find_facts(text: str) -> list[Fact]:
    """Return the names, numbers and dates of a text, in order."""
    numbers, dates = find_numbers_and_dates(text)
    in_dates = {place for date in dates for place in range(date.start, date.end)}
    numbers = [n for n in numbers if n.start not in in_dates and not n.is_weak]
    facts = [_fact(text, number, "number") for number in numbers]
    facts += [_fact(text, date, "date") for date in dates]
    names = find_names(text)
    # A number that is part of a name (Boeing 747, Apollo 11) is checked with it.
    in_names = {place for name in names for place in range(name.start, name.end)}
    facts = [fact for fact in facts if in_names.isdisjoint(range(fact.start, fact.end))]
    facts += [_fact(text, name, "name") for name in names]
    return sorted(facts, key=lambda fact: fact.start)


def _fact(text: str, found: Found, kind: Kind) -> Fact:
    return Fact(text[found.start : found.end], found.start, found.end, kind, found.value)


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """The names, numbers and dates of sources."""

    words: str
    """All their words, each between spaces."""
    acronyms: frozenset[str]
    numbers: frozenset[str]
    dates: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str | Paragraph]) -> SourceFacts:
        """Collect the facts of texts and paragraphs."""
        words: list[str] = []
        acronyms: set[str] = set()
        numbers: set[str] = set()
        dates: set[str] = set()
        for source in texts:
            text, sentences = (source, None) if isinstance(source, str) else _split(source)
            words += [*name_words(text), "|"]  # keeps names from spanning two texts
            names = find_names(text, sentences)
            acronyms |= {acronym(name.value) for name in names if " " in name.value}
            found = find_numbers_and_dates(text)
            numbers |= {number.value for number in found[0]}
            dates |= {date.value for date in found[1]}
        return cls(
            f" {' '.join(words)} ", frozenset(acronyms), frozenset(numbers), frozenset(dates)
        )

    def holds(self, fact: Fact) -> bool:
        """Whether the sources contain the fact."""
        if fact.kind == "number":
            return fact.value in self.numbers
        if fact.kind == "date":
            return any(date_holds(date, fact.value) for date in self.dates)
        name = fact.value.removesuffix("s")
        spellings = (fact.value, name, f"{name}s")  # a German, the Germans
        return fact.value in self.acronyms or any(f" {n} " in self.words for n in spellings)

    def missing(self, text: str) -> list[Fact]:
        """Return the facts of a text that the sources lack."""
        return self.without(find_facts(text))

    def missing_of(self, texts: Iterable[str]) -> list[list[Fact]]:
        """Return the facts of each text that the sources lack."""
        return [self.missing(text) for text in texts]

    def without(self, facts: Iterable[Fact]) -> list[Fact]:
        """Return the facts that the sources lack."""
        return [fact for fact in facts if not self.holds(fact)]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The content words (as stems) and numbers of sources.

    A model trained on unsupported targets learns to invent: dates of birth and nationalities often
    occur only in the lead.
    """

    stems: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Evidence:
        """Collect the words and numbers of texts."""
        words: set[str] = set()
        numbers: set[str] = set()
        for text in texts:
            words.update(split_words(text))
            numbers |= find_digits(text)
        return cls(frozenset(_content(words)), frozenset(numbers))

    def supports(self, text: str) -> bool:
        """Whether the sources have 60 % of a text's content words and all its numbers."""
        stems, numbers = _content(set(split_words(text))), find_digits(text)
        return (
            bool(stems or numbers)
            and len(stems & self.stems) >= _MIN_SUPPORTED_SHARE * len(stems)
            and numbers <= self.numbers
        )


def _content(words: set[str]) -> set[str]:
    """Return the stems of content words without digits; numbers are compared separately."""
    return {stem_word(word) for word in words - FUNCTION_WORDS if not _DIGIT.search(word)}


def without_asides(sentence: str, is_supported: Callable[[str], bool]) -> str:
    """Remove unsupported brackets, such as dates of birth, including nested ones."""
    return "".join(
        part
        for part in _ASIDE.split(sentence)
        if not part.lstrip().startswith("(") or is_supported(part)
    ).strip()


def find_names(text: str, sentences: Iterable[str] | None = None) -> list[Found]:
    """Return the names of a text, in order; by default, each line is split into sentences.

    Their values are words as `name_words` returns them, without leading titles.
    """
    if sentences is None:
        sentences = (part for line in text.split("\n") for part in split_sentences(line))
    tokens = list(_tokens(text, sentences))
    inner = {token.key for token in tokens if token.is_capital and not token.is_first}
    names = (_name_of(run, inner) for run in _runs(text, tokens))
    return [name for name in names if name is not None]


def names_of(texts: Iterable[str]) -> list[list[Found]]:
    """Return the names of each text."""
    return [find_names(text) for text in texts]


def name_words(text: str) -> list[str]:
    """Normalize words for comparing names: no case, accents, possessives, initials or points."""
    return _without_initials(_key(match[0]) for match in _TOKEN.finditer(text))


def _without_initials(keys: Iterable[str]) -> list[str]:
    return [key for key in keys if len(key) > 1 or key.isdigit()]


def acronym(name: str) -> str:
    """Return the initials of a name without joiners: united nations -> un."""
    return "".join(word[0] for word in name.split() if word not in _JOINERS)


def _split(paragraph: Paragraph) -> tuple[str, list[str] | None]:
    """Return the text and sentences of a paragraph; no sentences if it has line breaks."""
    text = paragraph.text
    return text, None if "\n" in text else [sentence.text for sentence in paragraph.sentences]


class _Token(NamedTuple):
    start: int
    end: int
    text: str
    key: str
    is_capital: bool
    is_first: bool
    """Whether it is the first word of a sentence."""

    @property
    def is_marked(self) -> bool:
        """Whether it looks like a name even at the start of a sentence."""
        return any(letter.isupper() or letter.isdigit() for letter in self.text[1:])


def _tokens(text: str, sentences: Iterable[str]) -> Iterator[_Token]:
    start = 0
    for sentence in sentences:
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
        plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", plain))
    return plain.replace(".", "").casefold()


def _runs(text: str, tokens: Iterable[_Token]) -> Iterator[list[_Token]]:
    """Yield runs of capitalized words with the joiners between and after them."""
    run: list[_Token] = []
    for token in tokens:
        if run and (token.is_first or _has_break(text, run[-1], token)):
            yield run
            run = []
        if token.is_capital or (run and token.key in _JOINERS):
            run.append(token)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _has_break(text: str, before: _Token, after: _Token) -> bool:
    """Whether more than a space, a hyphen or an initial's point separates two words."""
    between = text[before.end : after.start]
    return (
        not between.isspace()
        and between not in _HYPHENS
        and not (between.strip() == "." and len(before.key) == 1)
    )


def _name_of(run: Sequence[_Token], inner: set[str]) -> Found | None:
    """Return the name in a run of words; None if it is only a capitalized sentence start."""
    words = list(run)
    while words and words[-1].key in _JOINERS and not words[-1].is_capital:
        words.pop()
    while words and words[0].key in _ACCIDENTAL and not words[0].is_marked:
        words.pop(0)
    while words and words[0].key in _NOT_NAMES:
        words.pop(0)
    while words and words[-1].key in _NOT_NAMES:
        words.pop()
    if not words:
        return None
    lone = words[0]
    if len(words) == 1 and lone.is_first and not lone.is_marked and lone.key not in inner:
        return None
    keys = _without_initials(word.key for word in words)
    while len(keys) > 1 and keys[0] in _TITLES:
        keys.pop(0)
    if not keys or (len(keys) == 1 and (keys[0] in _NOT_NAMES or keys[0] in _TITLES)):
        return None
    return Found(words[0].start, words[-1].end, " ".join(keys))
