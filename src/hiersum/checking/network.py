"""The checker's network: a small T5 encoder that reads a pair of texts or a single text.

    pair   premise </s> hypothesis </s>   ->  logits of entailed, neutral, contradicted and answered
    text   text </s>                      ->  one vector, a map of the mean token state

"Answered" is for a pair of a paragraph and a question. Besides its word, each token of a pair carries
its *segment* and a *match*: whether the other text has it, and with the same neighbors. This lets a small
network spot an invented name without having to learn to compare spellings.

Layers and layout are those of the paper's encoder below its global layers (`hiersum.model`); B is the
number of sequences, R that of all their tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from hiersum.config import ModelConfig
from hiersum.model.encoder import LocalLayer
from hiersum.model.parts import Parts
from hiersum.model.spans import Spans

LABELS = ("entailed", "neutral", "contradicted")
ANSWERED = len(LABELS)
"""Column of the logit that a paragraph answers a question."""
VECTOR_WIDTH = 384
_NUM_POOLS = 4
"""Weighted means of the states; the second half sees the hypothesis only."""
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


class CheckerNetwork(nn.Module):
    """Local layers, and two heads: one for pairs, one for vectors."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        parts = Parts(config)
        self.words = parts.words()
        self.segments = nn.Embedding(NUM_SEGMENTS, config.width)
        self.matches = nn.Embedding(NUM_MATCHES, config.width)
        self.relative_bias = parts.relative_bias(bidirectional=True)
        self.layers = nn.ModuleList(LocalLayer(parts) for _ in config.layers)
        self.final_norm = parts.norm()
        self.pooling = nn.Linear(config.width, _NUM_POOLS)
        self.dense = nn.Linear(_NUM_POOLS * config.width, VECTOR_WIDTH)
        self.output = nn.Linear(VECTOR_WIDTH, len(LABELS) + 1)
        self.vector = nn.Linear(config.width, VECTOR_WIDTH)

    def forward(self, batch: PairBatch) -> Tensor:
        """Return the logits of pairs, (B, 4): those of `LABELS`, then "answered"."""
        words_RD = self.words(batch.ids_R)
        words_RD = words_RD + self.segments(batch.segments_R) + self.matches(batch.matches_R)
        states_RD = self._states(words_RD, batch.tokens)
        is_premise_R1 = (batch.segments_R == 0)[:, None]
        scores_RH = self.pooling(states_RD).float()
        late = torch.arange(_NUM_POOLS) >= _NUM_POOLS // 2
        scores_RH = scores_RH.masked_fill(is_premise_R1 & late, -1e4)
        pooled = [
            (scores_QTH.softmax(1).transpose(1, 2) @ states_QTD.float()).flatten(1)
            for scores_QTH, states_QTD in zip(
                batch.tokens.blocks(scores_RH), batch.tokens.blocks(states_RD)
            )
        ]
        logits: Tensor = self.output(torch.tanh(self.dense(torch.cat(pooled))))
        return logits

    def vectors(self, ids_R: Tensor, tokens: Spans) -> Tensor:
        """Return the unit vectors of single texts, (B, VECTOR_WIDTH)."""
        states_RD = self._states(self.words(ids_R), tokens)
        means = torch.cat([block.float().mean(1) for block in tokens.blocks(states_RD)])
        return functional.normalize(self.vector(means), dim=-1)

    def _states(self, words_RD: Tensor, tokens: Spans) -> Tensor:
        longest = max(tokens.lengths)
        assert self.relative_bias is not None, "the checker is a T5"
        bias_HTT = self.relative_bias(longest, longest)
        for layer in self.layers:
            words_RD = layer(words_RD, tokens, bias_HTT)
        states_RD: Tensor = self.final_norm(words_RD)
        return states_RD
