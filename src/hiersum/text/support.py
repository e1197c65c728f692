"""What of a target its sources support.

A sentence is supported if most of its content words and all of its numbers stand in the sources or in
the title. A model that learns from anything else learns to invent: dates of birth and nationalities
often stand in a lead alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hiersum.text.numbers import find_digits
from hiersum.text.words import FUNCTION_WORDS, split_words, stem_word

MIN_SHARE = 0.6
"""Content words of a sentence that must stand in the sources, if nothing else is said."""
_ASIDE = re.compile(r"(\s*\((?:[^()]|\([^()]*\))*\))")
_DIGIT = re.compile(r"\d")


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
            numbers |= find_digits(text)
        return cls(frozenset(_stems(words)), frozenset(numbers))

    def supports(self, text: str, min_share: float = MIN_SHARE) -> bool:
        """Do this share of its content words and all numbers of a text stand here?"""
        stems, numbers = _stems(set(split_words(text))), find_digits(text)
        return (
            bool(stems or numbers)
            and len(stems & self.stems) >= min_share * len(stems)
            and numbers <= self.numbers
        )


def without_asides(sentence: str, is_supported: Callable[[str], bool]) -> str:
    """Leave out brackets that are not supported; dates of birth mostly stand in such.

    Brackets within others are judged with them.
    """
    kept = [
        part
        for part in _ASIDE.split(sentence)
        if not part.lstrip().startswith("(") or is_supported(part)
    ]
    return "".join(kept).strip()


def _stems(words: set[str]) -> set[str]:
    """Stem each content word once; numbers are compared apart."""
    return {stem_word(word) for word in words - FUNCTION_WORDS if not _DIGIT.search(word)}
