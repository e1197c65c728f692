"""What of a target its sources support.

A sentence is supported if most of its content words and all of its numbers stand in the sources or in
the title. A model that learns from anything else learns to invent: dates of birth and nationalities
often stand in a lead alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hiersum.text.stemming import stem
from hiersum.text.words import FUNCTION_WORDS, split_words

MIN_SHARE = 0.6
"""Content words of a sentence that must stand in the sources, if nothing else is said."""
_ASIDE = re.compile(r"\s*\([^()]*\)")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_POSSESSIVE = ("'s", "\u2019s")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The content words (as stems) and numbers of sources."""

    stems: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Evidence:
        """Collect what stands in texts."""
        words: set[str] = set()
        numbers: set[str] = set()
        for text in texts:
            words.update(split_words(text))
            numbers |= _numbers(text)
        return cls(frozenset(_stems(words)), frozenset(numbers))

    def supports(self, text: str, min_share: float = MIN_SHARE) -> bool:
        """Do this share of its content words and all numbers of a text stand here?"""
        stems = _stems(set(split_words(text)))
        return (
            bool(stems)
            and len(stems & self.stems) >= min_share * len(stems)
            and _numbers(text) <= self.numbers
        )

    def share(self, text: str) -> float:
        """Return the share of a text's content words and numbers that stand here; 1 if it has none."""
        words = _stems(set(split_words(text)))
        numbers = _numbers(text)
        found = len(words & self.stems) + len(numbers & self.numbers)
        return found / (len(words) + len(numbers)) if words or numbers else 1.0


def without_asides(sentence: str, is_supported: Callable[[str], bool]) -> str:
    """Leave out brackets that are not supported; dates of birth mostly stand in such."""
    return _ASIDE.sub(lambda aside: aside[0] if is_supported(aside[0]) else "", sentence).strip()


def _stems(words: set[str]) -> set[str]:
    """Stem each content word once; numbers are compared apart."""
    content = {
        word[:-2] if word.endswith(_POSSESSIVE) else word
        for word in words - FUNCTION_WORDS
        if not _DIGIT.search(word)
    }
    return {stem(word) if len(word) > 3 and word.isascii() else word for word in content}


def _numbers(text: str) -> set[str]:
    return {_THOUSANDS.sub("", number) for number in _NUMBER.findall(text)}
