"""The decoder: a summary so far becomes states of its next tokens, attending to all source tokens.

Training reads whole targets at once (`Decoder.forward`); search reads one token per hypothesis
(`Decoder.step`) with a `DecoderState`, in which source keys and values exist once per cluster,
shared by its hypotheses: they are the query axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hiersum.model.attention import MultiHeadAttention
from hiersum.model.dropout import Dropout, drop
from hiersum.model.layers import FeedForward, RelativeBias, Residual, sinusoid
from hiersum.model.spans import Spans

FIRST_CAPACITY = 64


@dataclass(frozen=True)
class Memory:
    """What an encoder hands to a decoder."""

    states_RD: Tensor
    """One state per real source token, cluster after cluster, paragraph after paragraph."""
    sources: Spans
    """Source tokens of each cluster."""


@dataclass
class LayerCache:
    """What one decoder layer remembers while it writes."""

    source: list[tuple[Tensor, Tensor]]
    """Per cluster, key_1HMK and value_1HMK of its source."""
    key_BNHSK: Tensor
    value_BNHSK: Tensor

    def append(self, key_BNHK: Tensor, value_BNHK: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """Remember one more token; return the keys and values of all tokens so far."""
        if length == self.key_BNHSK.size(3):
            self.key_BNHSK = F.pad(self.key_BNHSK, (0, 0, 0, length))
            self.value_BNHSK = F.pad(self.value_BNHSK, (0, 0, 0, length))
        self.key_BNHSK[:, :, :, length] = key_BNHK
        self.value_BNHSK[:, :, :, length] = value_BNHK
        return self.key_BNHSK[:, :, :, : length + 1], self.value_BNHSK[:, :, :, : length + 1]


class DecoderState:
    """Hypotheses half written: B clusters with N hypotheses each. `step` writes into it."""

    def __init__(self, layers: list[LayerCache], num_beams: int, with_attention: bool) -> None:
        self.layers = layers
        self.num_beams = num_beams
        self.length = 0
        self.with_attention = with_attention
        self.attention: list[Tensor] = []
        """After a step, if asked for: weights_NM of source tokens per cluster; rows sum to 1."""

    @property
    def num_clusters(self) -> int:
        """Clusters that are still being written."""
        return self.layers[0].key_BNHSK.size(0)

    def select(self, parents_BN: Tensor) -> None:
        """Let hypothesis n of cluster b continue what was hypothesis parents_BN[b, n]."""
        here_N = torch.arange(self.num_beams, device=parents_BN.device)
        if parents_BN.shape[1] == self.num_beams and bool((parents_BN == here_N).all()):
            return
        cluster_B1 = torch.arange(self.num_clusters, device=parents_BN.device)[:, None]
        for layer in self.layers:
            for cache_BNHSK in (layer.key_BNHSK, layer.value_BNHSK):
                written = cache_BNHSK[:, :, :, : self.length]
                written.copy_(written[cluster_B1, parents_BN])

    def keep(self, clusters: Sequence[int]) -> None:
        """Go on with these clusters only, in this order."""
        index = torch.tensor(list(clusters), device=self.layers[0].key_BNHSK.device)
        for layer in self.layers:
            layer.source = [layer.source[cluster] for cluster in clusters]
            layer.key_BNHSK = layer.key_BNHSK[index]
            layer.value_BNHSK = layer.value_BNHSK[index]


class DecoderLayer(nn.Module):
    """Self-attention over the summary so far, attention to the source, feed-forward."""

    def __init__(
        self,
        *,
        self_attention: MultiHeadAttention,
        self_residual: Residual,
        source_attention: MultiHeadAttention,
        source_residual: Residual,
        feed_forward: FeedForward,
        feed_forward_residual: Residual,
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_residual = self_residual
        self.source_attention = source_attention
        self.source_residual = source_residual
        self.feed_forward = feed_forward
        self.feed_forward_residual = feed_forward_residual

    def forward(
        self,
        states_YD: Tensor,
        memory: Memory,
        targets: Spans,
        bias_HSS: Tensor | None,
        weights: list[list[Tensor]] | None,
    ) -> Tensor:
        """Return the next states; append this layer's weights_HSM per cluster to `weights`."""

        def look_back(x: Tensor) -> Tensor:
            # A bias already holds -inf for later tokens.
            is_causal = bias_HSS is None
            return self.self_attention.forward(x, targets, is_causal=is_causal, bias_HTT=bias_HSS)

        def look_at_source(x: Tensor) -> Tensor:
            sides = (x, memory.states_RD, targets, memory.sources)
            if weights is not None:
                weights.append(self.source_attention.weights_across(*sides))
            return self.source_attention.across(*sides)

        states_YD = self.self_residual(states_YD, look_back)
        states_YD = self.source_residual(states_YD, look_at_source)
        result: Tensor = self.feed_forward_residual(states_YD, self.feed_forward)
        return result

    def step(
        self, states_BND: Tensor, cache: LayerCache, length: int, bias_HS: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return the states after one token each, and the query_BNHK that looked at the source."""
        asked: list[Tensor] = []

        def look_back(x_BND: Tensor) -> Tensor:
            attention = self.self_attention
            key, value = cache.append(*attention.project_memory(x_BND), length)
            query = attention.project_query(x_BND)
            mixed = F.scaled_dot_product_attention(
                query.flatten(0, 1)[:, :, None],  # (B, N, H, K) -> (B * N, H, 1, K)
                key.flatten(0, 1),
                value.flatten(0, 1),
                attn_mask=None if bias_HS is None else bias_HS[None, :, None],
                scale=attention.scale,
            )
            return attention.merge(mixed[:, :, 0]).view_as(x_BND)

        def look_at_source(x_BND: Tensor) -> Tensor:
            attention = self.source_attention
            query_BNHK = attention.project_query(x_BND)
            asked.append(query_BNHK)
            mixed = [
                # (N, H, K) -> (1, H, N, K): all hypotheses of a cluster read one copy of its
                # source.
                F.scaled_dot_product_attention(
                    query_NHK.transpose(0, 1)[None], key, value, scale=attention.scale
                )
                for query_NHK, (key, value) in zip(query_BNHK, cache.source, strict=True)
            ]
            return attention.merge(torch.cat(mixed).transpose(1, 2))

        states_BND = self.self_residual(states_BND, look_back)
        states_BND = self.source_residual(states_BND, look_at_source)
        return self.feed_forward_residual(states_BND, self.feed_forward), asked[0]


class Decoder(nn.Module):
    """A stack of decoder layers; without a sinusoid where positions are relative."""

    def __init__(
        self,
        *,
        layers: Sequence[DecoderLayer],
        has_sinusoid: bool,
        relative_bias: RelativeBias | None,
        final_norm: nn.Module | None,
        dropout: Dropout,
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.has_sinusoid = has_sinusoid
        self.relative_bias = relative_bias
        self.final_norm = final_norm
        self.dropout = dropout

    def forward(
        self,
        words_YD: Tensor,
        memory: Memory,
        targets: Spans,
        weights: list[list[Tensor]] | None = None,
    ) -> Tensor:
        """Return states_YD, each of which has seen its target only up to itself."""
        longest = max(targets.lengths)
        states_YD = words_YD
        if self.has_sinusoid:
            table = sinusoid(torch.arange(longest, device=words_YD.device), words_YD.size(-1))
            states_YD = states_YD + table[targets.positions(words_YD.device)].to(words_YD.dtype)
        states_YD = drop(states_YD, self.dropout.outputs, self.training)
        bias_HSS = None
        if self.relative_bias is not None:
            later_SS = torch.ones(longest, longest, dtype=torch.bool, device=words_YD.device).triu(
                1
            )
            bias_HSS = self.relative_bias(longest, longest).masked_fill(later_SS, -torch.inf)
        for layer in self.layers:
            states_YD = layer(states_YD, memory, targets, bias_HSS, weights)
        return states_YD if self.final_norm is None else self.final_norm(states_YD)

    def start(self, memory: Memory, num_beams: int, with_attention: bool) -> DecoderState:
        """Project the source once per layer and cluster, and make room for what will be written."""
        caches = []
        for layer in self.layers:
            assert isinstance(layer, DecoderLayer)
            key_RHK, value_RHK = layer.source_attention.project_memory(memory.states_RD)
            pairs = zip(memory.sources.split(key_RHK), memory.sources.split(value_RHK))
            own = (len(memory.sources.lengths), num_beams, key_RHK.size(1), FIRST_CAPACITY)
            caches.append(
                LayerCache(
                    source=[(_by_head(key), _by_head(value)) for key, value in pairs],
                    key_BNHSK=key_RHK.new_zeros(*own, key_RHK.size(2)),
                    value_BNHSK=value_RHK.new_zeros(*own, value_RHK.size(2)),
                )
            )
        return DecoderState(caches, num_beams, with_attention)

    def step(self, words_BND: Tensor, state: DecoderState) -> Tensor:
        """Return states_BND after one more token of each hypothesis."""
        length = state.length
        states_BND = words_BND
        if self.has_sinusoid:
            position = torch.tensor([length], device=words_BND.device)
            states_BND = states_BND + sinusoid(position, words_BND.size(-1)).to(words_BND.dtype)
        bias_HS = None
        if self.relative_bias is not None:
            bias_HS = self.relative_bias(1, length + 1)[:, 0]
        weights: list[list[Tensor]] = []
        for layer, cache in zip(self.layers, state.layers, strict=True):
            assert isinstance(layer, DecoderLayer)
            states_BND, query_BNHK = layer.step(states_BND, cache, length, bias_HS)
            if state.with_attention:
                weights.append(_source_weights(query_BNHK, cache, layer.source_attention.scale))
        state.attention = mean_weights(weights)
        state.length = length + 1
        return states_BND if self.final_norm is None else self.final_norm(states_BND)


def _by_head(rows_MHK: Tensor) -> Tensor:
    # (M, H, K) -> (1, H, M, K), each head's rows together in storage
    return rows_MHK.transpose(0, 1)[None].contiguous()


def _source_weights(query_BNHK: Tensor, cache: LayerCache, scale: float) -> list[Tensor]:
    pairs = zip(query_BNHK, cache.source, strict=True)
    return [(torch.einsum("nhk,hmk->hnm", q, k[0]) * scale).softmax(-1) for q, (k, _) in pairs]


def mean_weights(weights: list[list[Tensor]]) -> list[Tensor]:
    """Average per-layer weights_HSM over layers and heads: one weights_SM per cluster."""
    return [torch.stack(layers).mean((0, 1)) for layers in zip(*weights, strict=True)]
