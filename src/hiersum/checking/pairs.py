"""Turn texts into network input: ids, segments and matches, padded to the longest in a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

MAX_PREMISE = 160
MAX_HYPOTHESIS = 60
"""Word pieces; the rest is cut."""


class EncodedPair(NamedTuple):
    """One sequence: [CLS] premise [SEP] hypothesis [SEP]."""

    ids: list[int]
    segments: list[int]
    matches: list[int]


def encode_pair(
    premise: Sequence[int], hypothesis: Sequence[int], start: int, end: int
) -> EncodedPair:
    """Join two texts given as ids; `start` and `end` are the ids of [CLS] and [SEP]."""
    premise, hypothesis = premise[:MAX_PREMISE], hypothesis[:MAX_HYPOTHESIS]
    return EncodedPair(
        [start, *premise, end, *hypothesis, end],
        [0] * (len(premise) + 2) + [1] * (len(hypothesis) + 1),
        [0, *_matches(premise, hypothesis), 0, *_matches(hypothesis, premise), 0],
    )


def collate(pairs: Sequence[EncodedPair]) -> tuple[Tensor, Tensor, Tensor]:
    """Pad pairs to one length: ids, segments, matches, each (B, T)."""
    return (
        pad([p.ids for p in pairs]),
        pad([p.segments for p in pairs]),
        pad([p.matches for p in pairs]),
    )


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    """Pad rows with zeros to the longest."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], dtype=torch.long)


def _matches(text: Sequence[int], other: Sequence[int]) -> list[int]:
    """1: not in the other text; 2: in it; 3, 4, 5: with its left, right, both neighbors."""
    tokens, neighbors = set(other), set(zip(other, other[1:]))
    left = [False, *(pair in neighbors for pair in zip(text, text[1:]))]
    right = [*left[1:], False]
    return [
        2 + has_left + 2 * has_right if token in tokens else 1
        for token, has_left, has_right in zip(text, left, right)
    ]
