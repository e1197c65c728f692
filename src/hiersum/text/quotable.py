"""Which sentences of its sources a summary may be made of, and which of them it may begin with."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hiersum.text.sentences import ends_sentence
from hiersum.text.voices import speaks_of_itself
from hiersum.text.words import content_stems, split_stems

_ADDITION = re.compile(r"\s*\(.*")
_WORDS = range(6, 61)
"""Shorter sentences say little, longer ones are lists."""
_BRACKETS = re.compile(r"\([^()]*\)|\[[^][]*\]")


def is_quotable(sentence: str, title: str) -> bool:
    """Can a sentence stand in a summary: is it whole, and nobody's "I" or "we"?

    "My Fair Lady" is nobody who speaks.
    """
    is_whole = not set("()[]").intersection(_BRACKETS.sub("", _BRACKETS.sub("", sentence)))
    return is_whole and not speaks_of_itself(without_name(sentence, title))


def without_name(sentence: str, title: str) -> str:
    """Return a sentence without the topic's name: what that says is said to nobody."""
    name = _ADDITION.sub("", title)
    return re.sub(rf"\b{re.escape(name)}\b", " ", sentence) if name else sentence


def fills_its_place(sentence: str, num_words: int) -> bool:
    """Is a sentence worth the room it takes: whole, neither a fragment nor a list, and no question?"""
    # A summary answers; a headline may ask.
    return num_words in _WORDS and ends_sentence(sentence) and not sentence.endswith("?")


def find_openings(sentences: Sequence[str], title: str, *, share: float = 1 / 2) -> set[int]:
    """Return which sentences name the topic: that share of as many of its words as any of them has."""
    topic = set(content_stems(title))
    named = [len(topic.intersection(split_stems(sentence))) for sentence in sentences]
    most = max(named, default=0)
    return {number for number, count in enumerate(named) if 0 < share * most <= count}
