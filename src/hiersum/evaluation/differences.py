"""What two texts do not share, for eyes: runs of words, marked where the texts differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Run:
    """Some words of a text, and whether the other text lacks them."""

    text: str
    differs: bool


def mark_differences(first: str, second: str) -> tuple[list[Run], list[Run]]:
    """Return both texts in runs; those that differ are not in the longest common run of words.

    Case and punctuation at the ends of words do not count.
    """
    words = _WORD.findall(first), _WORD.findall(second)
    keys = [[_key(word) for word in side] for side in words]
    blocks = Indel.opcodes(keys[0], keys[1])
    left = [(b.tag != "equal", words[0][b.src_start : b.src_end]) for b in blocks]
    right = [(b.tag != "equal", words[1][b.dest_start : b.dest_end]) for b in blocks]
    return list(_runs(left)), list(_runs(right))


def _key(word: str) -> str:
    return word.strip(".,;:!?\"'()[]\u201c\u201d\u2018\u2019").casefold() or word


def _runs(blocks: Sequence[tuple[bool, Sequence[str]]]) -> Iterator[Run]:
    """Join neighbours that are marked alike."""
    pending: list[str] = []
    mark = False
    for differs, words in blocks:
        if not words:
            continue
        if pending and differs != mark:
            yield Run(" ".join(pending), mark)
            pending = []
        pending += words
        mark = differs
    if pending:
        yield Run(" ".join(pending), mark)
