"""The encoder: one state per token of the ranked paragraphs, through local and global layers.

A flat encoder is the same stack without global layers, reading each cluster as one long paragraph.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import torch
from torch import Tensor, nn

from hiersum.errors import InputError
from hiersum.model.batch import Batch
from hiersum.model.hierarchy import GlobalLayer, Layout, make_layout
from hiersum.model.layers import ROWS_AT_ONCE, drop, sinusoid
from hiersum.model.parts import Parts
from hiersum.model.spans import Spans


class LocalLayer(nn.Module):
    """A transformer layer within each paragraph.

    h = LayerNorm(x + MHAtt(x)),   x' = LayerNorm(h + FFN(h));   or pre-norm, see `Residual`.
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.attention = parts.attention()
        self.attention_residual = parts.residual()
        self.feed_forward = parts.feed_forward()
        self.feed_forward_residual = parts.residual()

    def forward(self, states_RD: Tensor, tokens: Spans, bias_HTT: Tensor | None = None) -> Tensor:
        states_RD = self.attention_residual(
            states_RD, lambda x: self.attention(x, tokens, bias_HTT=bias_HTT)
        )
        result: Tensor = self.feed_forward_residual(states_RD, self.feed_forward)
        return result


class SourcePositions(nn.Module):
    """pe_ij = [e_i ; e_j] for token j of the paragraph of rank i; [e_j ; e_i] in the released code.

    Without ranks, e_j takes the full width.
    """

    def __init__(self, *, width: int, with_ranks: bool, rank_first: bool) -> None:
        super().__init__()
        self.width = width
        self.with_ranks = with_ranks
        self.rank_first = rank_first

    def forward(self, tokens: Spans, rank_Q: Tensor) -> Tensor:
        """Return position_RD for paragraphs of these lengths and ranks."""
        width = self.width // 2 if self.with_ranks else self.width
        longest = torch.arange(max(tokens.lengths), device=rank_Q.device)
        token_RD = sinusoid(longest, width)[tokens.positions(rank_Q.device)]
        if not self.with_ranks:
            return token_RD
        rank_RD = tokens.repeat(sinusoid(rank_Q, width))
        return torch.cat([rank_RD, token_RD] if self.rank_first else [token_RD, rank_RD], dim=-1)


class ScaledRank(nn.Module):
    """e_i times a learned scalar that starts at 0, so that a T5 starts unchanged."""

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.width = width
        self.scale = nn.Parameter(torch.zeros(1))

    def forward(self, tokens: Spans, rank_Q: Tensor) -> Tensor:
        """Return rank_RD for paragraphs of these lengths and ranks."""
        return tokens.repeat(self.scale * sinusoid(rank_Q, self.width))


class Encoder(nn.Module):
    """A stack of local and global layers in any order."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        config, profile = parts.config, parts.profile
        has_global = "global" in config.layers
        has_rank = config.paragraph_position and config.architecture == "ht"
        self.is_flat = config.architecture == "ft"
        self.needs_graphs = config.graph_head is not None and has_global
        self.dropout = parts.dropout
        self.layers = nn.ModuleList(
            GlobalLayer(parts) if kind == "global" else LocalLayer(parts) for kind in config.layers
        )
        self.positions = self.rank = None
        if not profile.relative:
            self.positions = SourcePositions(
                width=config.width, with_ranks=has_rank, rank_first=profile.rank_first
            )
        elif has_rank and has_global:
            self.rank = ScaledRank(width=config.width)
        self.relative_bias = parts.relative_bias(bidirectional=True)
        self.final_norm = parts.pre_norm()

    def forward(
        self, words_RD: Tensor, batch: Batch, weights: list[list[Tensor]] | None = None
    ) -> Tensor:
        """Return states_RD in the order of the batch.

        Each global layer appends its attention between paragraphs to `weights`, one weights_HPP per
        cluster.
        """
        if self.needs_graphs and batch.graphs is None:
            raise InputError(
                "this network was built with a graph head (model.graph_head), "
                "but the batch has no graphs; build one per cluster"
            )
        paragraphs = batch.sources if self.is_flat else batch.paragraphs
        layout = make_layout(
            paragraphs, batch.clusters, batch.graphs if self.needs_graphs else None
        )
        states_RD = self._run(paragraphs.take(words_RD, layout.order), layout, batch, weights)
        return layout.tokens.take(states_RD, layout.inverse)

    def silence_global_layers(self) -> None:
        """Zero the last matrices of global layers, so that they add nothing until trained."""
        for layer in self.layers:
            if isinstance(layer, GlobalLayer):
                nn.init.zeros_(layer.fuse.weight)
                nn.init.zeros_(layer.feed_forward.outer.weight)

    def _run(
        self, states_RD: Tensor, layout: Layout, batch: Batch, weights: list[list[Tensor]] | None
    ) -> Tensor:
        """Run all layers on tokens in layout order."""
        rank_Q = self._ranks(layout, batch).to(states_RD.device)
        if self.positions is not None:
            states_RD = states_RD + self.positions(layout.tokens, rank_Q).to(states_RD.dtype)
        states_RD = drop(states_RD, self.dropout.outputs, self.training)
        bias_HTT = None
        if self.relative_bias is not None:
            longest = max(layout.tokens.lengths)
            bias_HTT = self.relative_bias(longest, longest)
        rank = self.rank
        for kind, layers in groupby(self.layers, type):
            if kind is LocalLayer:
                states_RD = _read_apart(states_RD, layout.tokens, bias_HTT, list(layers))
                continue
            if rank is not None:  # added once, below the first global layer
                states_RD = states_RD + rank(layout.tokens, rank_Q).to(states_RD.dtype)
                rank = None
            for layer in layers:
                states_RD = layer(states_RD, layout, weights)
        return states_RD if self.final_norm is None else self.final_norm(states_RD)

    def _ranks(self, layout: Layout, batch: Batch) -> Tensor:
        if self.is_flat:
            return torch.zeros(len(batch), dtype=torch.long)
        ranks = [rank for cluster in batch.ranks for rank in cluster]
        return torch.tensor([ranks[index] for index in layout.order])


def _read_apart(
    states_RD: Tensor, tokens: Spans, bias_HTT: Tensor | None, layers: Sequence[nn.Module]
) -> Tensor:
    """Run local layers; without gradients a few paragraphs at a time, to stay in the CPU cache."""
    parts = [tokens] if torch.is_grad_enabled() else tokens.portions(ROWS_AT_ONCE)
    read = []
    for part, part_RD in zip(parts, states_RD.split([sum(part.lengths) for part in parts])):
        for layer in layers:
            part_RD = layer(part_RD, part, bias_HTT)
        read.append(part_RD)
    return torch.cat(read) if len(read) > 1 else read[0]
