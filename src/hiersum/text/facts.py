"""Names, numbers and dates of a text: what a summary must not make up.

`find_facts` finds them with their places; `SourceFacts` says which of them its sources hold, however
they are spelt there: thousands with or without separators, numbers as words, names with or without
accents, possessives, initials, titles or in other case, and a name's acronym for the name. By rule and
for English; text in scripts without capitals has only its numbers checked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from hiersum.text.names import Name, acronym, find_names, name_words
from hiersum.text.numbers import Amount, date_holds, find_numbers_and_dates

Kind = Literal["name", "number", "date"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A name, number or date of a text; `text[start:end]` is how it stands there."""

    text: str
    start: int
    end: int
    kind: Kind
    value: str
    """The form in which it is compared."""


def find_facts(text: str) -> list[Fact]:
    """Return the names, numbers and dates of a text, in order."""
    numbers, dates = find_numbers_and_dates(text)
    in_dates = {place for date in dates for place in range(date.start, date.end)}
    numbers = [n for n in numbers if n.start not in in_dates and not n.is_weak]
    facts = [_fact(text, number, "number") for number in numbers]
    facts += [_fact(text, date, "date") for date in dates]
    names = find_names(text)
    starts = [name.start for name in names]

    def is_in_a_name(fact: Fact) -> bool:
        before = bisect_left(starts, fact.end) - 1
        return before >= 0 and names[before].end > fact.start

    # A number that is part of a name (Boeing 747, Apollo 11) is checked with it.
    facts = [fact for fact in facts if not is_in_a_name(fact)]
    facts += [_fact(text, name, "name") for name in names]
    return sorted(facts, key=lambda fact: fact.start)


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What sources say, ready to be asked."""

    words: str
    """All their words, each between spaces."""
    acronyms: frozenset[str]
    numbers: frozenset[str]
    dates: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> SourceFacts:
        """Collect what stands in texts."""
        words: list[str] = []
        acronyms: set[str] = set()
        numbers: set[str] = set()
        dates: set[str] = set()
        for text in texts:
            words += [*name_words(text), "|"]  # no name runs from one text into the next
            acronyms |= {acronym(name.value) for name in find_names(text) if " " in name.value}
            found = find_numbers_and_dates(text)
            numbers |= {number.value for number in found[0]}
            dates |= {date.value for date in found[1]}
        return cls(
            f" {' '.join(words)} ", frozenset(acronyms), frozenset(numbers), frozenset(dates)
        )

    def holds(self, fact: Fact) -> bool:
        """Does the fact stand in the sources?"""
        if fact.kind == "number":
            return fact.value in self.numbers
        if fact.kind == "date":
            return any(date_holds(date, fact.value) for date in self.dates)
        name = fact.value.removesuffix("s")
        spellings = (fact.value, name, f"{name}s")  # a German, the Germans
        return fact.value in self.acronyms or any(f" {n} " in self.words for n in spellings)

    def missing(self, text: str) -> list[Fact]:
        """Return the facts of a text that the sources do not hold."""
        return [fact for fact in find_facts(text) if not self.holds(fact)]


def _fact(text: str, found: Amount | Name, kind: Kind) -> Fact:
    return Fact(text[found.start : found.end], found.start, found.end, kind, found.value)
