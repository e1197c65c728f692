"""Labels: who wrote a document and when, as far as its name and first line say.

A summary that names its speakers ("The union says ...") and days needs to know them, but a paragraph
rarely repeats them. So every paragraph is read with the label of its document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from hiersum.text.dates import document_ages
from hiersum.text.sentences import ends_sentence, split_sentences
from hiersum.text.words import count_words
from hiersum.types import Document

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
    """Return who speaks in each document and when, and whether it is the latest word.

    A label is empty if neither the name nor the first line says anything.
    """
    first_lines = [_first_line(document) for document in documents]
    names = [document.name for document in documents]
    ages = document_ages(names, first_lines)
    parts = zip(map(speaker_of, names), map(_header, first_lines), ages)
    return [", ".join(filter(None, of_document)) for of_document in parts]


def speaker_of(name: str) -> str:
    """Return the telling words of a file name or address: "3-union.txt" is the union's."""
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
