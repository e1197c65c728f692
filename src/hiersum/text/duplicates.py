"""Find duplicate paragraphs across documents, and source paragraphs that copy the target.

Near duplicates are found by min-hashing word triples, in time linear in the number of paragraphs;
every candidate pair is then compared exactly.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from hiersum.text.numbers import find_amounts
from hiersum.text.overlap import ngram_overlap, split_rouge_words
from hiersum.text.words import split_words
from hiersum.types import Cluster, Document, Paragraph

NEAR_DUPLICATE = 0.8
"""Merge paragraphs that share at least this much of their word triples."""
_CLONE_RECALL = 0.8  # of the target's bigrams (the paper's section 4)
_NUM_HASHES = 32
_BAND_SIZE = 2  # 16 bands of 2: sets that share 80 % meet with probability 1 - 1e-7
_SHINGLE_WORDS = 3
_MAX_CANDIDATES = (
    32  # compared exactly per text, so that thousands of similar texts take linear time
)
_PRIME = np.uint64((1 << 31) - 1)
_BLANKS = re.compile(r"\s+")


def merge_duplicates(
    paragraphs: Sequence[Paragraph], *, near: float = NEAR_DUPLICATE
) -> list[Paragraph]:
    """Keep the first of duplicate paragraphs, with the places of the others.

    Paragraphs are duplicates if their words are equal, or the Jaccard index of their word triples
    is at least `near`; but only if they agree in numbers and negations.
    """
    keys = [(_words_or_text(p.text), find_amounts(p.text)) for p in paragraphs]
    first_with: dict[Hashable, int] = {}
    original = [first_with.setdefault(key, index) for index, key in enumerate(keys)]
    if near < 1:
        distinct = sorted(set(original))
        near_original = _near_duplicates(
            [paragraphs[i].text for i in distinct], [keys[i][1] for i in distinct], near
        )
        moved = {distinct[i]: distinct[j] for i, j in enumerate(near_original)}
        original = [moved[index] for index in original]
    copies: dict[int, list[Paragraph]] = {}
    for index, first in enumerate(original):
        copies.setdefault(first, []).append(paragraphs[index])
    return [
        replace(group[0], also_in=tuple(place for p in group[1:] for place in p.places))
        if len(group) > 1
        else group[0]
        for group in copies.values()
    ]


def _words_or_text(text: str) -> str:
    return " ".join(split_words(text)) or _BLANKS.sub(" ", text)


def is_clone(paragraphs: Sequence[str], target: str) -> list[bool]:
    """Return for each paragraph whether it has more than 80 % of the target's bigrams."""
    suspects = [n for n, text in enumerate(paragraphs) if _may_be_clone(text, target)]
    clones = [False] * len(paragraphs)
    if suspects:
        texts = [paragraphs[number] for number in suspects]
        for number, share in zip(suspects, ngram_overlap(target, texts, 2, stem=False).recall):
            clones[number] = bool(share > _CLONE_RECALL)
    return clones


def _may_be_clone(text: str, target: str) -> bool:
    """Return False if missing words alone rule out a clone: each removes its bigrams.

    Rules out nearly all texts after a few words, far cheaper than counting bigrams.
    """
    num_bigrams, costs = _bigram_costs(target)
    text = text.lower()
    num_left = num_bigrams
    for word, cost in costs:
        if word not in text:
            num_left -= cost
            if num_left <= _CLONE_RECALL * num_bigrams:
                return False
    return num_left > _CLONE_RECALL * num_bigrams


@lru_cache(maxsize=4)
def _bigram_costs(target: str) -> tuple[int, list[tuple[str, int]]]:
    """Return the number of a target's bigrams, and how many each further word adds.

    The longest words come first, as they are the least likely to be found.
    """
    words = split_rouge_words(target)
    num_bigrams = max(len(words) - 1, 0)
    bigrams_of: dict[str, set[int]] = {word: set() for word in words}
    for place, (left, right) in enumerate(zip(words, words[1:])):
        bigrams_of[left].add(place)
        bigrams_of[right].add(place)
    costs = []
    counted: set[int] = set()
    for word in sorted(bigrams_of, key=len, reverse=True):
        if new := bigrams_of[word] - counted:
            counted |= new
            costs.append((word, len(new)))
    return num_bigrams, costs


def remove_clones(cluster: Cluster, paragraphs_of: Iterable[Sequence[str]]) -> tuple[Cluster, int]:
    """Remove source paragraphs that copy the target, and count them; for training and test data.

    Args:
        cluster: returned unchanged if it has no target.
        paragraphs_of: the paragraphs of each document.
    """
    if not cluster.summary:
        return cluster, 0
    documents: list[Document] = []
    num_dropped = 0
    for document, paragraphs in zip(cluster.documents, paragraphs_of, strict=True):
        clones = is_clone(paragraphs, cluster.summary)
        kept = [text for text, clone in zip(paragraphs, clones) if not clone]
        num_dropped += len(paragraphs) - len(kept)
        documents.append(Document.from_paragraphs(kept, document.name, document.url))
    return replace(cluster, documents=tuple(documents)), num_dropped


def _near_duplicates(
    texts: Sequence[str], amounts: Sequence[frozenset[str]], near: float
) -> list[int]:
    """Return for each text the index of the first near duplicate, or its own."""
    shingles = _Shingles(texts)
    bands = shingles.bands()
    buckets: dict[Hashable, list[int]] = {}
    original = list(range(len(texts)))
    for index in np.flatnonzero(_meets_another(bands)).tolist():
        # Texts that differ in their numbers never share a bucket.
        keys = [(amounts[index], band) for band in enumerate(bands[index].tolist())]
        meetings = Counter(i for key in keys for i in buckets.get(key, ()))
        for candidate in sorted(i for i, _ in meetings.most_common(_MAX_CANDIDATES)):
            if _jaccard(shingles[index], shingles[candidate]) >= near:
                original[index] = candidate
                break
        else:  # only originals enter, so that chains of small changes do not drift
            for key in keys:
                bucket = buckets.setdefault(key, [])
                if len(bucket) < _MAX_CANDIDATES:
                    bucket.append(index)
    return original


def _meets_another(bands: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return for each text whether another one shares a band with it."""
    meets = np.zeros(len(bands), dtype=bool)
    for column in bands.T:
        _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
        meets |= counts[inverse] > 1
    return meets


def _jaccard(left: frozenset[int], right: frozenset[int]) -> float:
    num_shared = len(left & right)
    return num_shared / (len(left) + len(right) - num_shared)


class _Shingles:
    """The word triples of all texts as numbers in one array."""

    def __init__(self, texts: Sequence[str]) -> None:
        hashes = _WordHashes()
        words = [split_words(text) for text in texts]
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        flat = chain.from_iterable(words)
        ids = np.fromiter(map(hashes.__getitem__, flat), np.uint64, lengths.sum())
        triples = ids[:-2] * 31 + ids[1:-1] * 131 + ids[2:] * 524_287
        text_of = np.repeat(np.arange(len(words)), lengths)
        is_whole = text_of[:-2] == text_of[2:]  # not across two texts
        self._values = triples[is_whole] % _PRIME
        self._counts = np.maximum(lengths - _SHINGLE_WORDS + 1, 0)
        self._ends = np.cumsum(self._counts)

    def __getitem__(self, index: int) -> frozenset[int]:
        end = self._ends[index]
        return frozenset(self._values[end - self._counts[index] : end].tolist())

    def bands(self) -> NDArray[np.uint64]:
        """Return a key per text and band; similar texts share at least one of them.

        A text without triples shares none.
        """
        has_any = self._counts > 0
        starts = (self._ends - self._counts)[has_any]
        bands = np.empty((len(self._counts), _NUM_HASHES // _BAND_SIZE), dtype=np.uint64)
        bands[~has_any] = np.arange(np.count_nonzero(~has_any))[:, None] + (1 << 62)
        if not len(starts):
            return bands
        lowest = [
            np.minimum.reduceat((self._values * factor + offset) % _PRIME, starts)
            for factor, offset in zip(*_hash_functions())
        ]
        for number, (first, second) in enumerate(zip(lowest[::2], lowest[1::2])):
            bands[has_any, number] = first << np.uint64(31) | second
        return bands


class _WordHashes(dict[str, int]):
    """A number for every word, the same in every process."""

    def __missing__(self, word: str) -> int:
        self[word] = number = zlib.crc32(word.encode("utf-8", "replace"))
        return number


@lru_cache(maxsize=1)
def _hash_functions() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    generator = np.random.default_rng(seed=0)
    return (
        generator.integers(1, int(_PRIME), _NUM_HASHES, dtype=np.uint64),
        generator.integers(0, int(_PRIME), _NUM_HASHES, dtype=np.uint64),
    )
