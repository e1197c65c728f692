"""Overlap of texts: n-grams and longest common subsequences (LCS).

Used by ROUGE, ranker labels, the oracle and clone removal. Results equal those of the `rouge-score`
package, but all texts of a call become one array of word ids, n-grams become integers, and all
pairs are counted in a few array operations. As in ROUGE, words are runs of a-z and 0-9, so text in
other scripts has none.

ROUGE-Lsum compares each sentence of a target with every sentence of its candidate and takes the
union of their LCSs. Two sentences may have several LCSs; we take the one that `rouge-score` takes.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import LCSseq

from hiersum.text.words import stem as stem_word

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_WORD = re.compile("[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Overlap:
    """The overlap of candidates with their targets; arrays with one entry per pair."""

    matches: Ints
    target_total: Ints
    candidate_total: Ints

    @property
    def recall(self) -> Floats:
        """Share of the target that is covered; 0 if it is empty."""
        return self.matches / np.maximum(self.target_total, 1)

    @property
    def precision(self) -> Floats:
        """Share of the candidate that is in the target; 0 if it is empty."""
        return self.matches / np.maximum(self.candidate_total, 1)

    @property
    def f1(self) -> Floats:
        """Harmonic mean of precision and recall; 0 without overlap."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / np.where(total > 0, total, 1)


def split_rouge_words(text: str) -> list[str]:
    """Return the words that ROUGE counts, not stemmed."""
    return _WORD.findall(text.lower())


def ngram_overlap(
    targets: str | Sequence[str], candidates: Sequence[str], n: int, *, stem: bool = True
) -> Overlap:
    """Count the n-grams that candidates share with their targets, clipped to the target's counts.

    There is one target for all candidates, or one for each of them.
    """
    return count_ngrams(_encode_pairs(targets, candidates, stem), n)


def lcs_overlap(
    targets: str | Sequence[str], candidates: Sequence[str], *, stem: bool = True
) -> Overlap:
    """Measure the longest common subsequence of words of candidates and their targets."""
    return measure_lcs(_encode_pairs(targets, candidates, stem))


@dataclass(frozen=True, slots=True)
class EncodedTexts:
    """Texts as one array of ids; text i is ids[offsets[i]:offsets[i + 1]]."""

    ids: Ints
    offsets: Ints

    def segment_of(self) -> Ints:
        """The text each id belongs to."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def as_arrays(self) -> list[array[int]]:
        """Each text as an array of its ids, which rapidfuzz reads without hashing."""
        ids = array("q", self.ids.tobytes())
        return [ids[start:end] for start, end in zip(self.offsets[:-1], self.offsets[1:])]


@dataclass(frozen=True, slots=True)
class EncodedPairs:
    """Candidates and the targets they are compared with."""

    targets: EncodedTexts
    candidates: EncodedTexts
    target_of: Ints
    """The target each candidate is compared with."""


class WordIds(dict[str, int]):
    """The id of each word's stem; a new stem gets a new id."""

    def __init__(self, stem: bool) -> None:
        self.stem = stem
        self.stem_ids: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        key = stem_word(word) if self.stem and len(word) > 3 else word
        self[word] = word_id = self.stem_ids.setdefault(key, len(self.stem_ids))
        return word_id


def count_ngrams(pairs: EncodedPairs, n: int) -> Overlap:
    """Like `ngram_overlap`, on encoded texts."""
    from scipy import sparse  # slow to import

    num_targets = len(pairs.targets.offsets) - 1
    words = np.concatenate([pairs.targets.ids, pairs.candidates.ids])
    text_of = np.concatenate(
        [pairs.targets.segment_of(), num_targets + pairs.candidates.segment_of()]
    )
    num_grams = max(len(words) - n + 1, 0)
    num_words = int(words.max(initial=0)) + 1
    grams = words[:num_grams]
    for place in range(1, n):  # renumbering keeps any n within 64 bits
        following = words[place : place + num_grams]
        grams = np.unique(grams * num_words + following, return_inverse=True)[1]
    is_whole = text_of[:num_grams] == text_of[len(words) - num_grams :]  # not across two texts
    grams, rows = grams[is_whole], text_of[:num_grams][is_whole]
    shape = (num_targets + len(pairs.target_of), int(grams.max(initial=0)) + 1)
    counts = sparse.csr_matrix((np.ones(len(rows), np.int64), (rows, grams)), shape)
    targets, candidates = counts[:num_targets][pairs.target_of], counts[num_targets:]
    shared = candidates.minimum(targets)
    return Overlap(*(matrix.sum(axis=1).A1 for matrix in (shared, targets, candidates)))


def measure_lcs(pairs: EncodedPairs) -> Overlap:
    """Like `lcs_overlap`, on encoded texts."""
    targets, candidates = pairs.targets.as_arrays(), pairs.candidates.as_arrays()
    if len(targets) == 1:
        lengths = process.cdist(targets, candidates, scorer=LCSseq.similarity, dtype=np.int64)[0]
    else:
        lengths = process.cpdist(targets, candidates, scorer=LCSseq.similarity, dtype=np.int64)
    target_total = np.diff(pairs.targets.offsets)[pairs.target_of]
    return Overlap(lengths, target_total, np.diff(pairs.candidates.offsets))


def _encode_pairs(
    targets: str | Sequence[str], candidates: Sequence[str], stem: bool
) -> EncodedPairs:
    if isinstance(targets, str):
        targets, target_of = [targets], np.zeros(len(candidates), dtype=np.int64)
    else:
        if len(targets) != len(candidates):
            raise ValueError(f"{len(targets)} targets for {len(candidates)} candidates")
        target_of = np.arange(len(candidates))
    word_ids = WordIds(stem)
    return EncodedPairs(
        encode_texts(targets, word_ids), encode_texts(candidates, word_ids), target_of
    )


def encode_texts(texts: Sequence[str], word_ids: WordIds) -> EncodedTexts:
    """Turn texts into word ids; texts to be compared must share `word_ids`."""
    words = [split_rouge_words(text) for text in texts]
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    flat = chain.from_iterable(words)
    return EncodedTexts(
        np.fromiter(map(word_ids.__getitem__, flat), np.int64, offsets[-1]), offsets
    )


@dataclass(frozen=True, slots=True)
class EncodedLines:
    """Texts whose lines are their sentences; text i is lines first[i] to first[i + 1]."""

    lines: EncodedTexts
    first: Ints

    @classmethod
    def of(cls, texts: Sequence[str], word_ids: WordIds) -> EncodedLines:
        """Encode texts; texts to be compared must share `word_ids`."""
        lines_of = [text.split("\n") for text in texts]
        first = np.cumsum([0, *map(len, lines_of)])
        return cls(encode_texts(list(chain.from_iterable(lines_of)), word_ids), first)

    def whole(self) -> EncodedTexts:
        """Return each text as one sequence."""
        return EncodedTexts(self.lines.ids, self.lines.offsets[self.first])

    def sentences(self) -> list[list[array[int]]]:
        """Return the sentences of each text that have words."""
        words = self.lines.as_arrays()
        bounds = zip(self.first[:-1].tolist(), self.first[1:].tolist())
        return [[line for line in words[start:end] if line] for start, end in bounds]


def count_unions(targets: EncodedLines, candidates: EncodedLines) -> Overlap:
    """Count the words in the union of LCSs of each target and its candidate, as ROUGE-Lsum does.

    A word counts at most as often as both texts have it.
    """
    matches = [_union_matches(*pair) for pair in zip(targets.sentences(), candidates.sentences())]
    totals = (np.diff(side.whole().offsets) for side in (targets, candidates))
    return Overlap(np.array(matches, dtype=np.int64), *totals)


def _union_matches(target: Sequence[array[int]], candidate: Sequence[array[int]]) -> int:
    if len(target) == len(candidate) == 1:  # nothing to merge
        return LCSseq.similarity(target[0], candidate[0])
    united: Counter[int] = Counter()
    for sentence in target:
        masks: dict[int, int] = {}
        for place, word in enumerate(sentence):
            masks[word] = masks.get(word, 0) | 1 << place
        places = {place for other in candidate for place in _lcs_places(sentence, masks, other)}
        united.update(sentence[place] for place in places)
    written = Counter(word for sentence in candidate for word in sentence)
    return (united & written).total()


def _lcs_places(
    sentence: Sequence[int], masks: Mapping[int, int], other: Sequence[int]
) -> Iterator[int]:
    """Yield the places of a sentence that are in its LCS with another, from the last one.

    `masks` has the places of each word of the sentence, as bits.
    The lengths of LCSs are counted on bit vectors (Hyyrö's). `rouge-score` walks back from the ends
    of both, takes every match, and otherwise steps back in the sentence unless that shortens the LCS.
    """
    everything = (1 << len(sentence)) - 1
    flat = everything
    rises = [0]  # bit i of rises[j]: the LCS with the first j words of `other` grows at place i
    for word in other:
        hits = flat & masks.get(word, 0)
        flat = ((flat + hits) | (flat - hits)) & everything
        rises.append(everything ^ flat)
    i, j = len(sentence), len(other)
    while i and j:
        last = 1 << (i - 1)
        below = last - 1
        if sentence[i - 1] == other[j - 1]:
            yield i - 1
            i, j = i - 1, j - 1
        elif (
            rises[j] & last
            and (rises[j - 1] & (last | below)).bit_count() > (rises[j] & below).bit_count()
        ):
            j -= 1
        else:
            i -= 1
