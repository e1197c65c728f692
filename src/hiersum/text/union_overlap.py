"""Summary-level common subsequences: what ROUGE-Lsum counts.

Each sentence of a target is compared with every sentence of its candidate, and the words of all their
longest common subsequences are united. A pair of sentences may have several longest subsequences, and
the union depends on which is taken; `rouge-score` walks back from the ends of both sentences, takes a
match wherever it stands on one, and else goes back in the target unless that would shorten the
subsequence. Here that walk is done column by column on bit vectors (Hyyrö's), so that whole stretches
of it are one operation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from rapidfuzz.distance import LCSseq

from hiersum.text.overlap import EncodedTexts, Ints, Overlap, WordIds, encode_texts


@dataclass(frozen=True, slots=True)
class EncodedLines:
    """Texts whose lines are their sentences; text i is lines first[i] to first[i + 1]."""

    lines: EncodedTexts
    first: Ints

    @classmethod
    def of(cls, texts: Sequence[str], word_ids: WordIds) -> EncodedLines:
        """Encode texts; those that are compared must share `word_ids`."""
        lines_of = [text.split("\n") for text in texts]
        first = np.cumsum([0, *map(len, lines_of)])
        return cls(encode_texts(list(chain.from_iterable(lines_of)), word_ids), first)

    def whole(self) -> EncodedTexts:
        """Return each text as one sequence."""
        return EncodedTexts(self.lines.ids, self.lines.offsets[self.first])

    def sentences(self) -> list[list[list[int]]]:
        """Return the sentences of each text, those without a word left out."""
        words = self.lines.as_lists()
        bounds = zip(self.first[:-1].tolist(), self.first[1:].tolist())
        return [[line for line in words[start:end] if line] for start, end in bounds]


def union_overlap(
    targets: Sequence[str], candidates: Sequence[str], *, stem: bool = True
) -> Overlap:
    """Count the words in the union of common subsequences of each target and its candidate.

    The lines of a text are its sentences. A word counts at most as often as both texts have it.
    """
    if len(targets) != len(candidates):
        raise ValueError(f"{len(targets)} targets for {len(candidates)} candidates")
    word_ids = WordIds(stem)
    return count_unions(EncodedLines.of(targets, word_ids), EncodedLines.of(candidates, word_ids))


def count_unions(targets: EncodedLines, candidates: EncodedLines) -> Overlap:
    """Do what `union_overlap` does, on texts that are encoded already."""
    matches = [_matches(*pair) for pair in zip(targets.sentences(), candidates.sentences())]
    totals = (np.diff(side.whole().offsets) for side in (targets, candidates))
    return Overlap(np.array(matches, dtype=np.int64), *totals)


def _matches(target: Sequence[list[int]], candidate: Sequence[list[int]]) -> int:
    if len(target) == len(candidate) == 1:  # nothing to unite
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
            # A word that the sentence lacks: back to where the subsequence last became longer.
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
