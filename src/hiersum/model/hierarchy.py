"""Global layers: pool each paragraph, attend across paragraphs, add the result to each token.

Sections 3.2.3 and 3.2.4 of the paper. Tokens are flat rows sorted by paragraph length; `Layout`
maps between that order and the batch's. The letters of shapes (`states_RD`) are explained in
`batch.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from hiersum.model.attention import attend, attention_weights
from hiersum.model.layers import drop
from hiersum.model.linear import Linear
from hiersum.model.parts import Parts
from hiersum.model.spans import Spans


@dataclass(frozen=True)
class Layout:
    """Paragraphs sorted by length, so that equally long ones form dense blocks."""

    order: tuple[int, ...]
    """For each paragraph in this layout its index in the batch."""
    inverse: tuple[int, ...]
    """For each paragraph in the batch its index in this layout."""
    tokens: Spans
    """Tokens of the paragraphs, in this layout."""
    clusters: Spans
    """Paragraphs of the clusters, in the batch."""
    graphs: tuple[Tensor, ...] | None
    """Row-normalised edges between a cluster's paragraphs, one graph_PP per cluster."""


def make_layout(
    paragraphs: Spans, clusters: Spans, graphs: Sequence[Tensor] | None = None
) -> Layout:
    """Sort a batch's paragraphs by length and normalise its graphs."""
    order = sorted(range(len(paragraphs.lengths)), key=lambda index: paragraphs.lengths[index])
    return Layout(
        order=tuple(order),
        inverse=tuple(sorted(range(len(order)), key=order.__getitem__)),
        tokens=paragraphs.reordered(order),
        clusters=clusters,
        graphs=None if graphs is None else tuple(normalize_rows(graph) for graph in graphs),
    )


def normalize_rows(graph_PP: Tensor) -> Tensor:
    """Return G_ii' / sum_o G_io; a paragraph without edges attends to itself."""
    total_P1 = graph_PP.sum(1, keepdim=True)
    alone_PP = torch.eye(len(graph_PP), device=graph_PP.device, dtype=graph_PP.dtype)
    return torch.where(total_P1 > 0, graph_PP / total_P1.clamp(min=1e-30), alone_PP)


class MultiHeadPooling(nn.Module):
    """One vector per paragraph and head.

        a^z_j = W_a^z x_j,   b^z_j = W_b^z x_j,   w^z = softmax over j of a^z
        head^z = LayerNorm(W_c^z sum_j w^z_j b^z_j)          (W_c in the paper only)

    The weights sum to one and W_b is linear, so tokens are summed before W_b: the same head, at the
    cost of one projection per paragraph instead of one per token.
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        width, self.num_heads = parts.config.width, parts.config.num_pooling_heads
        self.score = Linear(width, self.num_heads, bias=parts.has_bias)
        self.value = Linear(width, width, bias=parts.has_bias)
        self.projection = parts.head_linear() if parts.profile.pooled_projection else None
        self.norm = parts.norm(width // self.num_heads)
        self.dropout = parts.dropout

    def forward(self, states_RD: Tensor, tokens: Spans) -> Tensor:
        """Return head_QHK for the paragraphs in `tokens`."""
        states_RD = drop(states_RD, self.dropout.inputs, self.training)
        pooled, kept = [], []
        for weight_QTH, states_QTD in zip(
            self.weights(states_RD, tokens), tokens.blocks(states_RD)
        ):
            weight_QHT = weight_QTH.transpose(1, 2)
            pooled.append(weight_QHT @ states_QTD)
            kept.append(weight_QHT.sum(-1, keepdim=True))
        head_QHK = self._project(torch.cat(pooled), torch.cat(kept))
        if self.projection is not None:
            head_QHK = drop(head_QHK, self.dropout.inputs, self.training)
            head_QHK = self.projection(head_QHK)
        result: Tensor = self.norm(head_QHK)
        return result

    def weights(self, states_RD: Tensor, tokens: Spans) -> list[Tensor]:
        """Return weight_QTH per run: each token's share in its paragraph's head."""
        score_RH = self.score(states_RD)
        return [
            drop(score_QTH.softmax(1), self.dropout.weights, self.training)
            for score_QTH in tokens.blocks(score_RH)
        ]

    def _project(self, pooled_QHD: Tensor, kept_QH1: Tensor) -> Tensor:
        """Apply W_b^z to head z; dropped weights take their share of the bias with them."""
        weight_HKD = self.value.weight.view(self.num_heads, -1, pooled_QHD.size(-1))
        head_QHK = torch.einsum("qhd,hkd->qhk", pooled_QHD, weight_HKD)
        bias_D: Tensor | None = self.value.bias
        if bias_D is None:
            return head_QHK
        return head_QHK + kept_QH1 * bias_D.view(self.num_heads, -1)


class InterParagraphAttention(nn.Module):
    """Each paragraph attends to the others of its cluster, head by head.

    q^z = W_q^z head^z,   k^z = W_k^z head^z,   v^z = W_v^z head^z
    context^z_i = sum_i' softmax over i' of (q^z_i k^z_i') v^z_i'
    context^g_i = sum_i' G_ii' / (sum_o G_io) v^g_i'              for head g, where a graph is used
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.query, self.key, self.value = (parts.head_linear() for _ in range(3))
        head_width = parts.config.width // parts.config.num_pooling_heads
        self.scale = head_width**-0.5 if parts.profile.scaled_relations else 1.0
        self.graph_head = parts.config.graph_head
        self.dropout = parts.dropout

    def forward(
        self, head_QHK: Tensor, clusters: Spans, graphs: Sequence[Tensor] | None = None
    ) -> Tensor:
        """Return context_QHK for paragraphs in the order of the batch."""
        head_QHK = drop(head_QHK, self.dropout.inputs, self.training)
        value_QHK = self.value(head_QHK)
        context_QHK = attend(
            self.query(head_QHK),
            self.key(head_QHK),
            value_QHK,
            queries=clusters,
            keys=clusters,
            scale=self.scale,
            dropout=self.dropout.weights if self.training else 0.0,
        )
        if self.graph_head is None:
            return context_QHK
        assert graphs is not None, "a network with a graph head needs graphs"
        values = clusters.split(value_QHK[:, self.graph_head])
        informed_QK = torch.cat(
            [graph.to(value.dtype) @ value for graph, value in zip(graphs, values, strict=True)]
        )
        head, after = self.graph_head, self.graph_head + 1
        return torch.cat([context_QHK[:, :head], informed_QK[:, None], context_QHK[:, after:]], 1)

    def weights(
        self, head_QHK: Tensor, clusters: Spans, graphs: Sequence[Tensor] | None = None
    ) -> list[Tensor]:
        """Return the weights of `forward` (without dropout), one weights_HPP per cluster."""
        query_QHK, key_QHK = self.query(head_QHK), self.key(head_QHK)
        weights = attention_weights(query_QHK, key_QHK, clusters, clusters, scale=self.scale)
        if self.graph_head is not None:
            assert graphs is not None, "a network with a graph head needs graphs"
            for weights_HPP, graph_PP in zip(weights, graphs, strict=True):
                weights_HPP[self.graph_head] = graph_PP
        return weights


class GlobalLayer(nn.Module):
    """Exchange between paragraphs.

    c_i = W_c [context^1_i; ...; context^n_i]
    paper:      x'_ij = LayerNorm(x_ij + FFN(x_ij + c_i))
    pre-norm:   y_ij = x_ij + c_i with c from LayerNorm(x),   x'_ij = y_ij + FFN(LayerNorm(y_ij))
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.pooling = MultiHeadPooling(parts)
        self.relations = InterParagraphAttention(parts)
        self.fuse = Linear(parts.config.width, parts.config.width, bias=parts.has_bias)
        self.feed_forward = parts.feed_forward()
        self.input_norm = parts.pre_norm()
        self.norm = parts.norm()
        self.dropout = parts.dropout

    def forward(
        self, states_RD: Tensor, layout: Layout, weights: list[list[Tensor]] | None = None
    ) -> Tensor:
        """Return the next states; append the attention between paragraphs to `weights`."""
        if self.input_norm is None:
            told_RD = states_RD + layout.tokens.repeat(self.context(states_RD, layout, weights))
            change_RD = self._drop(self.feed_forward(told_RD))
            result: Tensor = self.norm(states_RD + change_RD)
            return result
        context_QD = self._drop(self.context(self.input_norm(states_RD), layout, weights))
        told_RD = states_RD + layout.tokens.repeat(context_QD)
        return told_RD + self._drop(self.feed_forward(self.norm(told_RD)))

    def context(
        self, states_RD: Tensor, layout: Layout, weights: list[list[Tensor]] | None = None
    ) -> Tensor:
        """Return c, one row per paragraph in layout order."""
        head_QHK = self.pooling(states_RD, layout.tokens)[list(layout.inverse)]
        if weights is not None:
            weights.append(self.relations.weights(head_QHK, layout.clusters, layout.graphs))
        context_QHK = self.relations(head_QHK, layout.clusters, layout.graphs)
        context_QD = drop(context_QHK.flatten(1), self.dropout.inputs, self.training)
        result: Tensor = self.fuse(context_QD)[list(layout.order)]
        return result

    def _drop(self, change: Tensor) -> Tensor:
        return drop(change, self.dropout.outputs, self.training)
