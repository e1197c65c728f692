"""Overlap of texts: n-grams and longest common subsequences (LCS).

Used by ROUGE, ranker labels, the oracle and clone removal. Results equal those of the `rouge-score`
package, but all texts of a call become one array of word ids, n-grams become integers, and all
pairs are counted in a few array operations. As in ROUGE, words are runs of a-z and 0-9, so text in
other scripts has none.

ROUGE-Lsum compares each sentence of a target with every sentence of its candidate and takes the
union of their LCSs. Two sentences may have several LCSs; `rouge-score` walks back from the ends of
both, takes every match, and otherwise steps back in the target unless that shortens the LCS. Here
that walk runs column by column on bit vectors (Hyyrö's), many steps per operation.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
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
    target_grams, candidate_grams = _ngram_ids(pairs.targets, pairs.candidates, n)
    return _clipped_matches(target_grams, candidate_grams, pairs.target_of)


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


def _ngram_ids(
    targets: EncodedTexts, candidates: EncodedTexts, n: int
) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """Return the n-grams of both sides as arrays of shared ids and of text numbers."""
    num_targets = len(targets.ids)
    words = np.concatenate([targets.ids, candidates.ids])
    texts = np.concatenate([targets.segment_of(), -1 - candidates.segment_of()])
    num_words = int(words.max(initial=0)) + 1
    grams = words
    for width in range(2, n + 1):
        # An n-gram is an (n-1)-gram and a word. Renumbering keeps any n within 64 bits.
        if width > 2:
            grams = np.unique(grams, return_inverse=True)[1]
        grams = grams[: len(words) - width + 1] * num_words + words[width - 1 :]
    num_grams = max(len(words) - n + 1, 0)
    grams = grams[:num_grams]
    is_whole = texts[:num_grams] == texts[len(texts) - num_grams :]  # not across texts
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
    # Only n-grams of some target can match: number those, and drop the rest.
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
        for position, word in enumerate(sentence):
            masks[word] = masks.get(word, 0) | 1 << position
        union = 0
        for other in candidate:
            union |= _lcs_positions(masks, len(sentence), other)
        united.update(word for place, word in enumerate(sentence) if union >> place & 1)
    written = Counter(word for sentence in candidate for word in sentence)
    return (united & written).total()


def _lcs_positions(masks: Mapping[int, int], length: int, other: Sequence[int]) -> int:
    """Return the positions of a sentence, as bits, that are in its common subsequence with another.

    Args:
        masks: for each word of the sentence, its positions as bits.
        length: words of the sentence.
        other: the words of the other sentence.
    """
    # One column for each word of the other sentence that this one has. Bit i of `rises` says that
    # the subsequence with the first i + 1 words of the sentence is longer than with the first i.
    everything = (1 << length) - 1
    columns: list[tuple[int, int, bool]] = []
    flat = everything
    gap = False
    for word in other:
        mask = masks.get(word)
        if mask is None:
            gap = True
            continue
        hits = flat & mask
        flat = ((flat + hits) | (flat - hits)) & everything
        columns.append((mask, everything ^ flat, gap))
        gap = False
    return _walk_back(columns, length, gap)


def _walk_back(columns: Sequence[tuple[int, int, bool]], end: int, gap: bool) -> int:
    positions = 0
    for index in range(len(columns) - 1, -1, -1):
        mask, rises, gap_before = columns[index]
        if gap:
            # A word that is not in the sentence: go back to where the LCS last grew.
            end = (rises & ((1 << end) - 1)).bit_length()
        if end == 0:
            break
        earlier = columns[index - 1][1] if index else 0
        match = (mask & ((1 << end) - 1)).bit_length()
        turn = _turn(rises, earlier, match, end)
        if turn:
            end = turn
        elif match:
            positions |= 1 << (match - 1)
            end = match - 1
        else:
            break
        gap = gap_before
    return positions


def _turn(rises: int, earlier: int, match: int, end: int) -> int:
    """Return where, above the match, the walk leaves the column without one; 0 if it does not."""
    places = (earlier & ((1 << end) - 1)) >> match << match
    while places:
        place = places.bit_length()
        below = (1 << (place - 1)) - 1
        if (rises & below).bit_count() == (earlier & below).bit_count():
            return place
        places &= below
    return 0
