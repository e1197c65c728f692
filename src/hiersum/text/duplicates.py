"""Merge duplicate paragraphs, which keep the places of all copies.

Near duplicates share one of their rarest word triples (prefix filtering), which finds all of them in
nearly linear time.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from hiersum.text.numbers import find_amounts
from hiersum.text.words import split_words
from hiersum.types import Paragraph, Place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAR_DUPLICATE = 0.8
"""Merge paragraphs that share at least this much of their word triples."""
_MAX_CANDIDATES = 32  # of each triple, so that thousands of similar texts take linear time
_TRIPLES_AT_ONCE = 1 << 20
_CHARACTERS_AT_ONCE = 1 << 22
_BLANKS = re.compile(r"\s+")


def merge_duplicates(
    paragraphs: Iterable[Paragraph], *, near: float = NEAR_DUPLICATE
) -> list[Paragraph]:
    """Keep the first of duplicate paragraphs, with the places of the others.

    Paragraphs are duplicates if their words are equal, or the Jaccard index of their word triples
    is at least `near`; but only if they agree in numbers and negations.
    """
    # Digests, since the words of a folder of thousands of documents would fill the memory.
    first_with: dict[bytes, int] = {}
    having: dict[str, list[int]] = {}
    taken: list[Paragraph] = []
    original: list[int] = []
    for index, paragraph in enumerate(paragraphs):
        words = split_words(paragraph.text)
        amounts = " ".join(sorted(find_amounts(paragraph.text)))
        key = f"{' '.join(words) or _BLANKS.sub(' ', paragraph.text)}\n{amounts}"
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        taken.append(paragraph)
        original.append(first_with.setdefault(digest, index))
        if original[-1] == index:
            having.setdefault(amounts, []).append(index)
    if near < 1:
        del first_with
        moved: dict[int, int] = {}
        for distinct, groups in _in_portions(having.values(), taken):
            found = _near_duplicates([taken[index].text for index in distinct], groups, near)
            moved |= {distinct[i]: distinct[j] for i, j in found.items()}
        original = [moved.get(index, index) for index in original]
    del having
    places: dict[int, list[Place]] = {}
    for index, first in enumerate(original):
        if first != index:
            places.setdefault(first, []).extend(taken[index].places)
    return [
        replace(taken[index], also_in=tuple(places[index])) if index in places else taken[index]
        for index, first in enumerate(original)
        if first == index
    ]


def _in_portions(
    groups: Iterable[Sequence[int]], paragraphs: Sequence[Paragraph]
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the members of some groups of paragraphs at a time, and the group of each.

    Paragraphs alone in their group are left out.
    """
    members: list[int] = []
    group_of: list[int] = []
    room = _CHARACTERS_AT_ONCE
    for number, group in enumerate(groups):
        if len(group) > 1:
            members += group
            group_of += [number] * len(group)
            room -= sum(len(paragraphs[index].text) for index in group)
        if room <= 0:
            yield members, group_of
            members, group_of, room = [], [], _CHARACTERS_AT_ONCE
    if members:
        yield members, group_of


def _near_duplicates(texts: Sequence[str], groups: Sequence[int], near: float) -> dict[int, int]:
    """Return the index of the first near duplicate of each text that has one, in its group.

    Args:
        texts: the texts.
        groups: the group of each.
        near: the least Jaccard index.
    """
    number_of: defaultdict[str, int] = defaultdict()
    number_of.default_factory = number_of.__len__
    words = [array("i", map(number_of.__getitem__, split_words(text))).tobytes() for text in texts]
    shared, sizes = _shared_triples(words, len(number_of))
    having: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    original: dict[int, int] = {}
    for index, triples in shared.items():
        # A near duplicate shares `num_needed` triples, so at least one of the rarest.
        num_needed = max(1, math.ceil(near * sizes[index]))
        num_rarest = max(len(triples) - num_needed + 1, 0)
        keys = [(groups[index], triple) for triple in triples[:num_rarest]]
        for candidate in sorted({i for key in keys for i in having[key]}):
            num_common = len(set(triples).intersection(shared[candidate]))
            if num_common >= near * (sizes[index] + sizes[candidate] - num_common):
                original[index] = candidate
                break
        else:  # only originals enter, so that chains of small changes do not drift
            for key in keys:
                if len(having[key]) < _MAX_CANDIDATES:
                    having[key].append(index)
    return original


def _shared_triples(
    texts: Sequence[bytes], num_words: int
) -> tuple[dict[int, list[int]], NDArray[np.int64]]:
    """Return each text's triples that occur elsewhere, rarest first, and how many it has in all.

    Triples are numbered by rarity; texts that share none are left out.
    """
    import numpy as np

    lengths = np.array([len(words) // array("i").itemsize for words in texts], np.int64)
    words = np.frombuffer(b"".join(texts), np.int32)
    text_of = np.repeat(np.arange(len(texts), dtype=np.int32), lengths)
    is_whole = text_of[:-2] == text_of[2:]
    # No two triples get the same number while there are less than two million different words.
    triples = words[:-2].astype(np.int64)
    for following in (words[1:-1], words[2:]):
        triples *= num_words
        triples += following
    del words, following
    triples, text_of = triples[is_whole], text_of[:-2][is_whole]
    ordered = np.sort(triples)
    repeated, counts = np.unique(ordered[1:][ordered[1:] == ordered[:-1]], return_counts=True)
    del ordered
    rarity = np.empty(len(repeated) + 1, np.int64)
    rarity[np.argsort(counts, kind="stable")] = np.arange(len(repeated))
    ends = np.append(repeated, -1)  # a triple beyond the last repeated one finds this
    ranks = np.empty(len(triples), np.int32)
    for at in range(0, len(triples), _TRIPLES_AT_ONCE):
        part = slice(at, at + _TRIPLES_AT_ONCE)
        places = np.searchsorted(repeated, triples[part])
        ranks[part] = np.where(ends[places] == triples[part], rarity[places], -1)
    del triples
    is_shared = ranks >= 0
    sizes = np.bincount(text_of[~is_shared], minlength=len(texts))
    pairs = np.unique(text_of[is_shared] * np.int64(len(repeated)) + ranks[is_shared])
    owners, found = np.divmod(pairs, max(len(repeated), 1))
    sizes += np.bincount(owners, minlength=len(texts))
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    parts = np.split(found, starts[1:])
    return {int(owners[at]): part.tolist() for at, part in zip(starts, parts)}, sizes
