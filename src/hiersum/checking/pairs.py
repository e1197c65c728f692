"""Turn texts into network input: ids, segments and matches, back to back without padding."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor

from hiersum.model.spans import Spans

MAX_PREMISE = 200
MAX_HYPOTHESIS = 72
"""Pieces; the rest is cut."""
END = 1
"""Id of the piece that ends a text."""
NUM_SEGMENTS = 3
"""0: premise; 1: hypothesis; 2: question."""
NUM_MATCHES = 6
"""0: end piece; 1: not in the other text; 2: in it; 3, 4, 5: with left, right, both neighbors."""


class EncodedPair(NamedTuple):
    """One sequence: premise </s> hypothesis </s>."""

    ids: list[int]
    segments: list[int]
    matches: list[int]


class PairBatch(NamedTuple):
    """Sequences back to back; neighbors of one length are computed together."""

    ids_R: Tensor
    segments_R: Tensor
    matches_R: Tensor
    tokens: Spans


def encode_pair(
    premise: Sequence[int], hypothesis: Sequence[int], *, is_question: bool = False
) -> EncodedPair:
    """Join two texts given as ids."""
    premise, hypothesis = premise[:MAX_PREMISE], hypothesis[:MAX_HYPOTHESIS]
    segment = 2 if is_question else 1
    return EncodedPair(
        [*premise, END, *hypothesis, END],
        [0] * (len(premise) + 1) + [segment] * (len(hypothesis) + 1),
        [*_matches(premise, hypothesis), 0, *_matches(hypothesis, premise), 0],
    )


def collate(pairs: Sequence[EncodedPair]) -> PairBatch:
    """Concatenate pairs; the caller sorts them by length."""
    ids_R, segments_R, matches_R = (
        torch.tensor(list(chain.from_iterable(column))) for column in zip(*pairs)
    )
    return PairBatch(ids_R, segments_R, matches_R, Spans(tuple(len(pair.ids) for pair in pairs)))


def _matches(text: Sequence[int], other: Sequence[int]) -> list[int]:
    """1: not in the other text; 2: in it; 3, 4, 5: with its left, right, both neighbors."""
    tokens, neighbors = set(other), set(zip(other, other[1:]))
    left = [False, *(pair in neighbors for pair in zip(text, text[1:]))]
    right = [*left[1:], False]
    return [
        2 + has_left + 2 * has_right if token in tokens else 1
        for token, has_left, has_right in zip(text, left, right)
    ]
