"""Counts of what texts share: n-grams and longest common subsequences.

One core under ranker labels, clone removal, the oracle and ROUGE. The numbers are those of the
`rouge-score` package; the way there is not: all texts of a call are turned into one array of word ids,
n-grams into integers, and every pair is counted in a few array operations. Words are runs of a-z and
0-9, as ROUGE has it, so text in other scripts has no words here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import LCSseq

from hiersum.text.stemming import stem as stem_word

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_WORD = re.compile("[a-z0-9]+")
_SURROGATES = 0xD800  # word ids become characters for rapidfuzz; these code points are not allowed
_NUM_SURROGATES = 0x800
_MAX_CHARACTERS = 0x110000 - _NUM_SURROGATES


@dataclass(frozen=True, slots=True)
class Overlap:
    """What each candidate shares with its target, one entry per pair."""

    matches: Ints
    target_total: Ints
    candidate_total: Ints

    @property
    def recall(self) -> Floats:
        """Shared part of the target; 0 for an empty target."""
        return self.matches / np.maximum(self.target_total, 1)

    @property
    def precision(self) -> Floats:
        """Shared part of the candidate; 0 for an empty candidate."""
        return self.matches / np.maximum(self.candidate_total, 1)

    @property
    def f1(self) -> Floats:
        """Harmonic mean of precision and recall; 0 where nothing is shared."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / np.where(total > 0, total, 1)


def split_rouge_words(text: str) -> list[str]:
    """Return the words that ROUGE counts, unstemmed."""
    return _WORD.findall(text.lower())


def ngram_overlap(
    targets: str | Sequence[str], candidates: Sequence[str], n: int, *, stem: bool = True
) -> Overlap:
    """Count the n-grams that candidates share with their targets, each at most as often as it occurs.

    Args:
        targets: one text for all candidates, or one for each of them.
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
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

    def as_strings(self) -> Sequence[Sequence[object]]:
        """Each text with one character per word, the form that rapidfuzz compares fastest."""
        codes = np.where(self.ids < _SURROGATES, self.ids, self.ids + _NUM_SURROGATES)
        text = codes.astype("<u4").tobytes().decode("utf-32-le")
        return [text[start:end] for start, end in zip(self.offsets[:-1], self.offsets[1:])]

    def as_lists(self) -> list[list[int]]:
        """Each text as a list of its ids."""
        bounds = zip(self.offsets[:-1], self.offsets[1:])
        return [self.ids[start:end].tolist() for start, end in bounds]


@dataclass(frozen=True, slots=True)
class EncodedPairs:
    """Candidates and the targets they are compared with."""

    targets: EncodedTexts
    candidates: EncodedTexts
    target_of: Ints
    """The target each candidate is compared with."""


class WordIds(dict[str, int]):
    """Give every word the id of its stem, a new one when the stem is new."""

    def __init__(self, stem: bool) -> None:
        self.stem = stem
        self.stem_ids: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        key = stem_word(word) if self.stem and len(word) > 3 else word
        self[word] = word_id = self.stem_ids.setdefault(key, len(self.stem_ids))
        return word_id


def count_ngrams(pairs: EncodedPairs, n: int) -> Overlap:
    """Do what `ngram_overlap` does, on texts that are encoded already."""
    target_grams, candidate_grams = _ngram_ids(pairs.targets, pairs.candidates, n)
    return _clipped_matches(target_grams, candidate_grams, pairs.target_of)


def measure_lcs(pairs: EncodedPairs) -> Overlap:
    """Do what `lcs_overlap` does, on texts that are encoded already."""
    # More words than Unicode has room for are compared as lists of numbers, which is slower.
    fits = (
        max(pairs.targets.ids.max(initial=0), pairs.candidates.ids.max(initial=0)) < _MAX_CHARACTERS
    )
    target_texts, candidate_texts = (
        side.as_strings() if fits else side.as_lists() for side in (pairs.targets, pairs.candidates)
    )
    if len(target_texts) == 1:
        lengths = process.cdist(
            target_texts, candidate_texts, scorer=LCSseq.similarity, dtype=np.int64
        )[0]
    else:
        lengths = process.cpdist(
            target_texts, candidate_texts, scorer=LCSseq.similarity, dtype=np.int64
        )
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
    """Turn texts into word ids; texts that are compared must share `word_ids`."""
    words = [split_rouge_words(text) for text in texts]
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    flat = chain.from_iterable(words)
    return EncodedTexts(
        np.fromiter(map(word_ids.__getitem__, flat), np.int64, offsets[-1]), offsets
    )


def _ngram_ids(
    targets: EncodedTexts, candidates: EncodedTexts, n: int
) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """Return (n-gram id, text) arrays for both sides, ids in common and dense."""
    num_targets = len(targets.ids)
    words = np.concatenate([targets.ids, candidates.ids])
    texts = np.concatenate([targets.segment_of(), -1 - candidates.segment_of()])
    num_words = int(words.max(initial=0)) + 1
    grams = words
    for width in range(2, n + 1):
        # An n-gram is its first n-1 words and its last; made dense so that any n fits 64 bits.
        if width > 2:
            grams = np.unique(grams, return_inverse=True)[1]
        grams = grams[: len(words) - width + 1] * num_words + words[width - 1 :]
    num_grams = max(len(words) - n + 1, 0)
    grams = grams[:num_grams]
    is_whole = texts[:num_grams] == texts[len(texts) - num_grams :]  # not across two texts
    is_target = np.arange(num_grams) < num_targets
    target, candidate = is_target & is_whole, ~is_target & is_whole
    return (
        (grams[target], texts[:num_grams][target]),
        (grams[candidate], -1 - texts[:num_grams][candidate]),
    )


def _clipped_matches(
    target_grams: tuple[Ints, Ints], candidate_grams: tuple[Ints, Ints], target_of: Ints
) -> Overlap:
    grams, texts = target_grams
    num_candidates = len(target_of)
    num_targets = int(target_of.max(initial=-1)) + 1
    # Only n-grams of some target can match: number those, and forget the rest.
    known, gram_ids = np.unique(grams, return_inverse=True)
    target_keys, target_counts = np.unique(texts * len(known) + gram_ids, return_counts=True)

    grams, candidates = candidate_grams
    candidate_total = np.bincount(candidates, minlength=num_candidates)
    position = np.searchsorted(known, grams)
    position[position == len(known)] = 0
    hit = known[position] == grams if len(known) else np.zeros(len(grams), dtype=bool)
    keys, counts = np.unique(candidates[hit] * len(known) + position[hit], return_counts=True)
    pair = keys // max(len(known), 1)
    wanted = target_of[pair] * len(known) + keys % max(len(known), 1)
    slot = np.searchsorted(target_keys, wanted)
    slot[slot == len(target_keys)] = 0
    shared = np.minimum(counts, target_counts[slot]) * (target_keys[slot] == wanted)
    matches = np.bincount(pair, weights=shared, minlength=num_candidates).astype(np.int64)
    target_total = np.bincount(texts, minlength=num_targets)[target_of]
    return Overlap(matches, target_total, candidate_total)
