"""Who speaks in a text: nobody in an encyclopedia, people in letters, reports and notes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hiersum.text.sentences import split_sentences
from hiersum.text.words import FUNCTION_WORDS

_QUOTED = re.compile(r'"[^"]*"|\u201c[^\u201d]*\u201d')
_WE = re.compile(r"\b(?:[Ww]e|[Oo]urs?|[Oo]urselves|[Mm]y|[Mm]yself|me|us)\b")
_I = re.compile(r"(?:\b([A-Z]\w*)\s+)?\bI\b(?!\.)")
_YOU = re.compile(r"\b(?:you|yours?|yourself|yourselves|please)\b", re.IGNORECASE)
_CALL = re.compile(r"\b[a-z]\w*!\W*$")  # not "Yahoo!"
_END = 40
"""Characters in which a sentence's end is looked for."""
_TOLD = re.compile(
    r"\b(?:said|says|told|asked)\b"
    r"|\b\w+(?:n['\u2019]t|['\u2019](?:re|ve|ll|m|d))\b"
    r"|\b(?:it|that|there|he|she|what|who)['\u2019]s\b",
    re.IGNORECASE,
)
"""Reports, and words drawn together as in speech."""


def speaks_of_itself(sentence: str) -> bool:
    """Does it say "I" or "we"? In quotes it does not count: there it is told who speaks.

    The US, Charles I and World War I are nobody who speaks.
    """
    told = _QUOTED.sub(" ", sentence)
    says_i = any((before or "the").lower() in FUNCTION_WORDS for before in _I.findall(told))
    return says_i or _WE.search(told) is not None


def speaks_to_readers(sentence: str) -> bool:
    """Does it say "you", or call out? In quotes it does not count."""
    told = _QUOTED.sub(" ", sentence)
    return _YOU.search(told) is not None or _CALL.search(told[-_END:]) is not None


def measure_voices(paragraphs: Iterable[str]) -> float:
    """Return in what share of sentences somebody speaks: says I, we or you, asks, or is reported."""
    sentences = [sentence for text in paragraphs for sentence in split_sentences(text)]
    return sum(map(_is_spoken, sentences)) / max(len(sentences), 1)


def _is_spoken(sentence: str) -> bool:
    is_told = _TOLD.search(sentence) is not None or "?" in sentence[-2:]
    return is_told or speaks_of_itself(sentence) or speaks_to_readers(sentence)
