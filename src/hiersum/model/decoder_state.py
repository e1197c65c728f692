"""What a decoder remembers while it writes: the source once per cluster, the summaries as a tree.

The hypotheses of a cluster grow out of each other, so what they have written is a tree: a token is
stored once, however many hypotheses continue it, and never moves when they change places. A small
table says which stored tokens are a hypothesis's own; the others are masked. When the store is
full, tokens that no living hypothesis descends from make room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from hiersum.model.source_cache import SourceBlock, keep_sources
from hiersum.model.spans import Spans

FIRST_CAPACITY = 64


@dataclass
class LayerCache:
    """Keys and values that one decoder layer attends to."""

    sources: list[SourceBlock]
    """Keys and values of all clusters' sources, in order."""
    written_2BHXK: Tensor
    """Keys, then values, of the stored tokens."""

    def by_block(self, query_BNHK: Tensor) -> list[tuple[Tensor, SourceBlock]]:
        """Return query_CNHK beside each block of sources."""
        queries = query_BNHK.split([len(block) for block in self.sources])
        return list(zip(queries, self.sources))

    def append(self, key_BNHK: Tensor, value_BNHK: Tensor, end: int) -> tuple[Tensor, Tensor]:
        """Store the newest tokens before `end`; return key_BHXK and value_BHXK of all up to it."""
        key_BHXK, value_BHXK = self.written_2BHXK[:, :, :, :end]
        start = end - key_BNHK.size(1)
        key_BHXK[:, :, start:] = key_BNHK.transpose(1, 2)
        value_BHXK[:, :, start:] = value_BNHK.transpose(1, 2)
        return key_BHXK, value_BHXK


@dataclass(frozen=True)
class Written:
    """Summaries so far, one of each cluster, as the layers of a decoder attend to them."""

    layers: list[tuple[Tensor, Tensor]]
    """key_YHK and value_YHK of each layer."""
    summaries: Spans
    """Tokens of each summary."""


class DecoderState:
    """Hypotheses half written: B clusters with N hypotheses each. `step` writes into it."""

    def __init__(self, layers: list[LayerCache], num_beams: int, with_attention: bool) -> None:
        self.layers = layers
        self.num_beams = num_beams
        self.length = 0
        self.with_attention = with_attention
        self.attention: list[Tensor] = []
        """After a step, if asked for: weights_NM of source tokens per cluster; rows sum to 1."""
        device = layers[0].written_2BHXK.device
        num_clusters = layers[0].written_2BHXK.size(1)
        self.is_own_BNX = torch.zeros(num_clusters, num_beams, 0, dtype=torch.bool, device=device)
        """Does a hypothesis descend from a stored token?"""
        self.place_BX = torch.zeros(num_clusters, 0, dtype=torch.long, device=device)
        """Where in its summary a stored token stands, shifted so that all end at one place."""
        self.shift_B = torch.zeros(num_clusters, dtype=torch.long, device=device)
        """By how much: a summary that begins later than the longest one is shorter by that."""

    @property
    def num_clusters(self) -> int:
        """Clusters that are still being written."""
        return self.is_own_BNX.size(0)

    @property
    def num_stored(self) -> int:
        """Stored tokens of a cluster; hypotheses descend from some of them only."""
        return self.is_own_BNX.size(2)

    def advance(self) -> None:
        """Make room for one more token of each hypothesis."""
        if self.num_stored + self.num_beams > self.layers[0].written_2BHXK.size(3):
            self._make_room()
        new_NN = torch.eye(self.num_beams, dtype=torch.bool, device=self.is_own_BNX.device)
        new_BNN = new_NN.expand(self.num_clusters, -1, -1)
        self.is_own_BNX = torch.cat([self.is_own_BNX, new_BNN], dim=2)
        here_BN = self.place_BX.new_full((self.num_clusters, self.num_beams), self.length)
        self.place_BX = torch.cat([self.place_BX, here_BN], dim=1)
        self.length += 1

    def mask(self, bias_HS: Tensor | None) -> Tensor | None:
        """Return what to add to scores_BHNX: the bias of a token's place, -inf if it is foreign."""
        if bias_HS is None:
            if self.num_beams == 1 and not self.shift_B.any():  # everything is its own
                return None
            bias_BHNX = self.layers[0].written_2BHXK.new_zeros(1, 1, 1, 1)
        else:
            bias_BHNX = bias_HS[:, self.place_BX].transpose(0, 1)[:, :, None]
        return bias_BHNX.masked_fill(~self.is_own_BNX[:, None], -torch.inf)

    def continue_from(self, written: Written) -> None:
        """Let every hypothesis of a cluster begin after what was written of it."""
        lengths = torch.tensor(written.summaries.lengths, device=self.place_BX.device)
        longest = int(lengths.max())
        self.shift_B = longest - lengths
        place_X = torch.arange(longest, device=self.place_BX.device)
        self.place_BX = place_X.expand(len(lengths), -1).clone()
        is_own_BX = place_X >= self.shift_B[:, None]
        self.is_own_BNX = is_own_BX[:, None].expand(-1, self.num_beams, -1).clone()
        for layer, sides in zip(self.layers, written.layers, strict=True):
            stored = [_align_right(rows_YHK, written.summaries) for rows_YHK in sides]
            layer.written_2BHXK = torch.stack(stored)
        self.length = longest

    def select(self, parents_BN: Tensor) -> None:
        """Let hypothesis n of cluster b continue what was hypothesis parents_BN[b, n]."""
        if self.num_beams > 1:
            index_BNX = parents_BN[:, :, None].expand_as(self.is_own_BNX)
            self.is_own_BNX = self.is_own_BNX.gather(1, index_BNX)

    def keep(self, clusters: Sequence[int]) -> None:
        """Go on with these clusters only, in this order."""
        index = torch.tensor(list(clusters), device=self.is_own_BNX.device)
        self.is_own_BNX = self.is_own_BNX[index]
        self.place_BX = self.place_BX[index]
        self.shift_B = self.shift_B[index]
        for layer in self.layers:
            layer.sources = keep_sources(layer.sources, clusters)
            layer.written_2BHXK = layer.written_2BHXK[:, index]

    def _make_room(self) -> None:
        """Drop tokens without living descendants; leave as much room as is taken, or more."""
        is_living_BX = self.is_own_BNX.any(1)
        num_kept = int(is_living_BX.sum(1).max()) if self.num_stored else 0
        # Living tokens first, in order; a cluster with fewer keeps some dead ones, still masked.
        kept_BX = (~is_living_BX).long().sort(dim=1, stable=True).indices[:, :num_kept]
        self.is_own_BNX = self.is_own_BNX.gather(2, kept_BX[:, None].expand(-1, self.num_beams, -1))
        self.place_BX = self.place_BX.gather(1, kept_BX)
        capacity = num_kept + max(num_kept, 8 * self.num_beams, FIRST_CAPACITY)
        for layer in self.layers:
            *outer, _, width = layer.written_2BHXK.shape
            roomy = layer.written_2BHXK.new_empty(*outer, capacity, width)
            index = kept_BX[None, :, None, :, None].expand(*outer, -1, width)
            torch.gather(layer.written_2BHXK, 3, index, out=roomy[:, :, :, :num_kept])
            layer.written_2BHXK = roomy


def _align_right(rows_YHK: Tensor, summaries: Spans) -> Tensor:
    """Return rows_BHXK: the rows of each summary at the end, zeros before a shorter one."""
    longest = max(summaries.lengths)
    padded = [
        F.pad(part, (0, 0, 0, 0, longest - len(part), 0)) for part in summaries.split(rows_YHK)
    ]
    return torch.stack(padded).transpose(1, 2)
