"""The decoder's state during search: the source once per cluster, the summaries as a tree.

Source keys and values are shared by all hypotheses of a cluster. Neighbouring sources of equal
length form one block, read by one kernel call: a step has so few queries that the overhead of a
call matters.

The hypotheses of a cluster branch from each other, so their tokens form a tree: a token is stored
once, however many hypotheses continue it, and never moves when they are reordered. A small table
says which stored tokens belong to which hypothesis; the others are masked. When the store is full,
tokens without a live descendant are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from hiersum.model.kernel import attend_tiled, has_kernel, tile_keys
from hiersum.model.spans import Spans

FIRST_CAPACITY = 64


@dataclass(frozen=True)
class SourceBlock:
    """Keys and values of C equally long sources in one decoder layer; queries are the beam."""

    key_CHMK: Tensor
    value_CHMK: Tensor

    def __len__(self) -> int:
        return len(self.key_CHMK)

    def attend(self, query_CNHK: Tensor, scale: float) -> Tensor:
        """Return mixed_CNHK."""
        mixed_CHNK = F.scaled_dot_product_attention(
            query_CNHK.transpose(1, 2), self.key_CHMK, self.value_CHMK, scale=scale
        )
        return mixed_CHNK.transpose(1, 2)

    def rows(self, start: int, end: int) -> SourceBlock:
        """Return some of the sources, as views."""
        return type(self)(self.key_CHMK[start:end], self.value_CHMK[start:end])


class HalfSourceBlock(SourceBlock):
    """The same in bfloat16: half the bytes, and faster products on some processors.

    For so few queries, two plain products beat the fused kernel.
    """

    def attend(self, query_CNHK: Tensor, scale: float) -> Tensor:
        """Return mixed_CNHK in the query's type."""
        query_CHNK = (query_CNHK * scale).bfloat16().transpose(1, 2)
        weights_CHNM = (query_CHNK @ self.key_CHMK.transpose(2, 3)).softmax(-1)
        return (weights_CHNM @ self.value_CHMK).transpose(1, 2).to(query_CNHK.dtype)


class TiledSourceBlock(SourceBlock):
    """The same for `kernel.py`, with keys in tiles."""

    def attend(self, query_CNHK: Tensor, scale: float) -> Tensor:
        """Return mixed_CNHK."""
        return attend_tiled(query_CNHK, self.key_CHMK, self.value_CHMK, scale)


def source_blocks(
    key_RHK: Tensor, value_RHK: Tensor, sources: Spans, num_beams: int, *, half: bool = False
) -> list[SourceBlock]:
    """Group keys and values of flat rows by runs of equally long sources; in bfloat16 if `half`."""
    kind = HalfSourceBlock if half else SourceBlock
    if half:
        key_RHK, value_RHK = key_RHK.bfloat16(), value_RHK.bfloat16()
    # (C, M, H, K) -> (C, H, M, K), each head's rows contiguous
    keys, values = (
        [block.transpose(1, 2).contiguous() for block in sources.blocks(rows)]
        for rows in (key_RHK, value_RHK)
    )
    return [
        TiledSourceBlock(tile_keys(key), value)
        if not half and has_kernel((num_beams, key.size(3)), key.size(2), key)
        else kind(key, value)
        for key, value in zip(keys, values)
    ]


def attend_to_blocks(query_BNHK: Tensor, blocks: Sequence[SourceBlock], scale: float) -> Tensor:
    """Return mixed_BNHK: the queries of each cluster attend to its source."""
    if len(blocks) == 1:
        return blocks[0].attend(query_BNHK, scale)
    queries = query_BNHK.split([len(block) for block in blocks])
    return torch.cat([block.attend(query, scale) for query, block in zip(queries, blocks)])


def keep_sources(blocks: Sequence[SourceBlock], clusters: Sequence[int]) -> list[SourceBlock]:
    """Return the blocks of these clusters, in this order, as views."""
    places = [(block, row) for block in blocks for row in range(len(block))]
    pieces: list[tuple[SourceBlock, int, int]] = []
    for block, row in (places[cluster] for cluster in clusters):
        if pieces and pieces[-1][0] is block and pieces[-1][2] == row:
            pieces[-1] = (block, pieces[-1][1], row + 1)
        else:
            pieces.append((block, row, row + 1))
    return [block.rows(start, end) for block, start, end in pieces]


@dataclass
class LayerCache:
    """Keys and values that one decoder layer attends to."""

    sources: list[SourceBlock]
    """Keys and values of all clusters' sources, in order."""
    written_2BHXK: Tensor
    """Keys, then values, of the stored tokens."""

    def append(self, key_BNHK: Tensor, value_BNHK: Tensor, end: int) -> tuple[Tensor, Tensor]:
        """Store the newest tokens before `end`; return key_BHXK and value_BHXK of all up to it."""
        key_BHXK, value_BHXK = self.written_2BHXK[:, :, :, :end]
        start = end - key_BNHK.size(1)
        key_BHXK[:, :, start:] = key_BNHK.transpose(1, 2)
        value_BHXK[:, :, start:] = value_BNHK.transpose(1, 2)
        return key_BHXK, value_BHXK


@dataclass(frozen=True)
class Written:
    """Keys and values of the summaries so far, one per cluster."""

    layers: list[tuple[Tensor, Tensor]]
    """key_YHK and value_YHK of each layer."""
    summaries: Spans
    """Tokens of each summary."""

    def taken(self, places: Sequence[int | None]) -> Written:
        """Return these summaries in this order; None is one not yet begun."""
        kept = [place for place in places if place is not None]
        layers = [
            (self.summaries.take(keys, kept), self.summaries.take(values, kept))
            for keys, values in self.layers
        ]
        lengths = (0 if place is None else self.summaries.lengths[place] for place in places)
        return Written(layers, Spans(tuple(lengths)))


class DecoderState:
    """Unfinished summaries: B clusters with N hypotheses each. `step` writes into it."""

    def __init__(self, layers: list[LayerCache], num_beams: int) -> None:
        self.layers = layers
        self.num_beams = num_beams
        self.length = 0
        device = layers[0].written_2BHXK.device
        num_clusters = layers[0].written_2BHXK.size(1)
        self.is_own_BNX = torch.zeros(num_clusters, num_beams, 0, dtype=torch.bool, device=device)
        """Whether a hypothesis descends from a stored token."""
        self.place_BX = torch.zeros(num_clusters, 0, dtype=torch.long, device=device)
        """Position of each stored token, shifted so that all summaries end at the same position."""
        self.shift_B = torch.zeros(num_clusters, dtype=torch.long, device=device)
        """The shift: tokens by which a summary is shorter than the longest."""
        self.bias_HS: Tensor | None = None
        """The relative bias of the last position to those before it, if the decoder has one."""

    @property
    def num_clusters(self) -> int:
        """Clusters not yet finished."""
        return self.is_own_BNX.size(0)

    @property
    def num_stored(self) -> int:
        """Stored tokens of a cluster, including those of dropped hypotheses."""
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
        """Return the mask to add to scores_BHNX: -inf for tokens of others, else their bias."""
        if bias_HS is None:
            if self.num_beams == 1 and not self.shift_B.any():  # all tokens are its own
                return None
            bias_BHNX = self.layers[0].written_2BHXK.new_zeros(1, 1, 1, 1)
        else:
            bias_BHNX = bias_HS[:, self.place_BX].transpose(0, 1)[:, :, None]
        return bias_BHNX.masked_fill(~self.is_own_BNX[:, None], -torch.inf)

    def continue_from(self, written: Written) -> None:
        """Make every hypothesis of a cluster continue its summary so far."""
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
        """Make hypothesis n of cluster b continue hypothesis parents_BN[b, n]."""
        if self.num_beams > 1:
            index_BNX = parents_BN[:, :, None].expand_as(self.is_own_BNX)
            self.is_own_BNX = self.is_own_BNX.gather(1, index_BNX)

    def keep(self, clusters: Sequence[int]) -> None:
        """Keep only these clusters, in this order."""
        index = torch.tensor(list(clusters), device=self.is_own_BNX.device)
        self.is_own_BNX = self.is_own_BNX[index]
        self.place_BX = self.place_BX[index]
        self.shift_B = self.shift_B[index]
        for layer in self.layers:
            layer.sources = keep_sources(layer.sources, clusters)
            layer.written_2BHXK = layer.written_2BHXK[:, index]

    def _make_room(self) -> None:
        """Drop tokens without live descendants, then at least double the capacity."""
        is_living_BX = self.is_own_BNX.any(1)
        num_kept = int(is_living_BX.sum(1).max()) if self.num_stored else 0
        # Live tokens first, in order; a cluster with fewer keeps some dead ones, still masked.
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
    """Return rows_BHXK: the rows of each summary, padded on the left with zeros."""
    longest = max(summaries.lengths)
    padded = [
        F.pad(part, (0, 0, 0, 0, longest - len(part), 0)) for part in summaries.split(rows_YHK)
    ]
    return torch.stack(padded).transpose(1, 2)
