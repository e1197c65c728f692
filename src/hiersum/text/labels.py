"""Labels: who wrote a document and when, judging by its name and first line.

A summary that names its speakers ("The union says ...") and days needs to know them, but a paragraph
rarely repeats them. So every paragraph is read with the label of its document. The same names and
lines tell which of two documents is later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from hiersum.text.numbers import find_numbers_and_dates
from hiersum.text.sentences import ends_sentence, split_sentences
from hiersum.text.words import count_words
from hiersum.types import Document

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = re.compile(
    r"(?<![a-z])(mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?(?:day)?(?![a-z])", re.I
)
_DAY = re.compile(r"(?<![a-z])(day|week)[\s_-]?(\d{1,3})(?!\d)", re.I)
_NAMED = re.compile(r"[_\s-]+")
OPENING_CHARACTERS = 160
STANDARD_INPUT = "standard input"
"""The name of what is piped in; it names nobody."""


def document_order(names: Sequence[str], openings: Sequence[str]) -> dict[tuple[int, int], int]:
    """Return the later document of each pair whose names or opening words say so."""
    moments = [_moments(name, opening) for name, opening in zip(names, openings, strict=True)]
    dated = [(number, found) for number, found in enumerate(moments) if found]
    order = {}
    for one, mine in dated:
        for other, others in dated:
            for kind, moment in mine.items():
                if one != other and kind in others and moment != others[kind]:
                    order[one, other] = one if moment > others[kind] else other
                    break
    return order


def document_ages(names: Sequence[str], openings: Sequence[str]) -> list[str]:
    """Return "latest" or "earlier" for documents whose dates compare; empty for the others.

    A document counts by its most telling kind of date that another one has too.
    """
    moments = [_moments(name, opening) for name, opening in zip(names, openings, strict=True)]
    by_kind: dict[str, list[tuple[int, ...]]] = {}
    for of_document in moments:
        for kind, moment in of_document.items():
            by_kind.setdefault(kind, []).append(moment)
    last = {kind: max(found) for kind, found in by_kind.items()}
    differs = {kind for kind, found in by_kind.items() if len(set(found)) > 1}
    ages = []
    for of_document in moments:
        kind = next((kind for kind in of_document if len(by_kind[kind]) > 1), "")
        age = "latest" if of_document.get(kind) == last.get(kind) else "earlier"
        ages.append(age if kind in differs else "")
    return ages


def _moments(name: str, opening: str) -> dict[str, tuple[int, ...]]:
    """Return what is known of a document's date by kind, the most telling first.

    Only dates of one kind compare.
    """
    found: dict[str, tuple[int, ...]] = {}
    spaced = _NAMED.sub(" ", name.rpartition(".")[0] or name)
    start = opening[:OPENING_CHARACTERS]
    for text in (name, start):
        for date in find_numbers_and_dates(text)[1]:
            parts = date.value.split("-")
            if len(parts) == 3 and "*" not in parts:
                found.setdefault("date", tuple(map(int, parts)))
            if len(parts) == 3 and "*" not in parts[1:]:
                found.setdefault("day of a year", (int(parts[1]), int(parts[2])))
    day = _DAY.search(spaced)
    if day is not None:
        found.setdefault("day", (int(day[2]) * (7 if day[1].lower() == "week" else 1),))
    weekday = _WEEKDAY.search(spaced) or _WEEKDAY.search(start)
    if weekday is not None and day is None and "day of a year" not in found:
        found.setdefault("weekday", (_WEEKDAYS.index(weekday[1].lower()),))
    return found


MAX_NAME_WORDS = 8
MAX_HEADER_WORDS = 14
MAX_SENTENCE_WORDS = 6
"""Longest header that ends with a full stop; a longer one is prose."""
_GENERIC = re.compile(
    r"^(?:(?:document|doc|file|text|page|article|part|source|item|story)s?\d*|untitled|new|copy|index"
    r"|input|stdin|\d{1,2})$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\w+://([^/:?#]+)")
_SEPARATORS = re.compile(r"[\s_+-]+")
_DATE = re.compile(r"\b(\d{4})[-_](\d{1,2})[-_](\d{1,2})\b")
_DATELINE = re.compile(r"^(.{4,70}?)(?:\s[\u2013\u2014-]\s|\s?\u2014\s?|:\s)")
_TELLS_WHEN = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)


def document_labels(documents: Sequence[Document]) -> list[str]:
    """Return who wrote each document and when, and whether it is the latest or an earlier one.

    A label is empty if neither the name nor the first line says anything.
    """
    first_lines = [_first_line(document) for document in documents]
    names = [document.name for document in documents]
    ages = document_ages(names, first_lines)
    parts = zip(map(speaker_of, names), map(_header, first_lines), ages)
    return [", ".join(filter(None, of_document)) for of_document in parts]


def speaker_of(name: str) -> str:
    """Return the telling words of a file name or address: "3-union.txt" is the union's."""
    if name == STANDARD_INPUT:
        return ""
    if address := _ADDRESS.match(name):
        return address[1]
    stem = PurePosixPath(name.replace("\\", "/")).name
    stem = re.sub(r"\.(?:gz|[A-Za-z]{2,4}\d?)$", "", re.sub(r"\.gz$", "", stem))
    stem = _DATE.sub(r"\1/\2/\3", stem)
    return " ".join(
        [word for word in _SEPARATORS.split(stem) if _is_telling(word)][:MAX_NAME_WORDS]
    )


def _is_telling(word: str) -> bool:
    """Whether a word of a file name may name a person, body or day: "union", "0715", not "a8f3e9"."""
    num_letters, num_digits = sum(map(str.isalpha, word)), sum(map(str.isdigit, word))
    is_code = num_letters > 0 and num_digits > 2
    return num_letters + num_digits > 1 and not is_code and not _GENERIC.match(word.strip("()[]"))


def _first_line(document: Document) -> str:
    given = document.paragraphs
    lines = document.text[:2_000].split("\n") if given is None else given[:1]
    line = next((line.strip() for line in lines if line.strip()), "")
    return line.lstrip("#*> ")[:400]


def _header(line: str) -> str:
    """Return the header, dateline or headline that a first line begins with."""
    dateline = _DATELINE.match(line)
    if (
        dateline
        and _TELLS_WHEN.search(dateline[1])
        and count_words(dateline[1]) <= MAX_HEADER_WORDS
    ):
        return dateline[1].strip()
    first = next(iter(split_sentences(line)), "")
    limit = MAX_SENTENCE_WORDS if ends_sentence(first) else MAX_HEADER_WORDS
    return first.rstrip(".:") if 1 < count_words(first) <= limit else ""
