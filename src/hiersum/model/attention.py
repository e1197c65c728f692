"""Multi-head attention between ragged sequences, run by run, with PyTorch's fused kernel."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hiersum.model.layers import Dropout, drop
from hiersum.model.linear import Linear
from hiersum.model.spans import Spans, joint_runs


def attend(
    query_RHK: Tensor,
    key_RHK: Tensor,
    value_RHK: Tensor,
    *,
    queries: Spans,
    keys: Spans,
    scale: float,
    is_causal: bool = False,
    bias_HTT: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Return softmax(scale * q k + bias) v, a row per query: each sequence attends to its own keys."""
    runs = joint_runs(queries, keys)
    pieces = zip(
        runs,
        query_RHK.split([count * length for count, length, _ in runs]),
        key_RHK.split([count * length for count, _, length in runs]),
        value_RHK.split([count * length for count, _, length in runs]),
    )
    mixed = []
    for (count, num_queries, num_keys), query, key, value in pieces:
        # (count * length, H, K) -> (count, H, length, K)
        block = F.scaled_dot_product_attention(
            query.unflatten(0, (count, num_queries)).transpose(1, 2),
            key.unflatten(0, (count, num_keys)).transpose(1, 2),
            value.unflatten(0, (count, num_keys)).transpose(1, 2),
            attn_mask=None if bias_HTT is None else bias_HTT[None, :, :num_queries, :num_keys],
            dropout_p=dropout,
            is_causal=is_causal,
            scale=scale,
        )
        mixed.append(block.transpose(1, 2).flatten(0, 1))
    return torch.cat(mixed)


def attention_weights(
    query_RHK: Tensor, key_RHK: Tensor, queries: Spans, keys: Spans, *, scale: float
) -> list[Tensor]:
    """Return the weights of `attend`, weights_HSM per sequence; the fused kernel does not."""
    pairs = zip(queries.split(query_RHK), keys.split(key_RHK), strict=True)
    return [(torch.einsum("shk,mhk->hsm", q, k) * scale).softmax(-1) for q, k in pairs]


class MultiHeadAttention(nn.Module):
    """W_o [head^1; ...; head^n] with head^z = attend(W_q^z x, W_k^z m, W_v^z m)."""

    def __init__(
        self,
        *,
        width: int,
        num_heads: int,
        head_width: int,
        scaled: bool,
        bias: bool,
        dropout: Dropout,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_width = head_width
        self.scale = head_width**-0.5 if scaled else 1.0
        self.dropout = dropout
        self.query = Linear(width, num_heads * head_width, bias=bias)
        self.key = Linear(width, num_heads * head_width, bias=bias)
        self.value = Linear(width, num_heads * head_width, bias=bias)
        self.output = Linear(num_heads * head_width, width, bias=bias)

    def forward(
        self,
        states_RD: Tensor,
        spans: Spans,
        *,
        is_causal: bool = False,
        bias_HTT: Tensor | None = None,
        seen: list[tuple[Tensor, Tensor]] | None = None,
    ) -> Tensor:
        """Attend within each sequence; append key_RHK and value_RHK to `seen` if given."""
        states_RD = self.drop_inputs(states_RD)
        query_RHK, *memory = self.project_all(states_RD)
        if seen is not None:
            seen.append((memory[0], memory[1]))
        mixed_RHK = attend(
            query_RHK,
            *memory,
            queries=spans,
            keys=spans,
            scale=self.scale,
            is_causal=is_causal,
            bias_HTT=bias_HTT,
            dropout=self.dropout.weights if self.training else 0.0,
        )
        return self.merge(mixed_RHK)

    def across(
        self, states_YD: Tensor, memory_RD: Tensor, targets: Spans, sources: Spans
    ) -> Tensor:
        """Attend from each cluster's target to its source."""
        mixed_YHK = attend(
            self.project_query(self.drop_inputs(states_YD)),
            *self.project_memory(self.drop_inputs(memory_RD)),
            queries=targets,
            keys=sources,
            scale=self.scale,
            dropout=self.dropout.weights if self.training else 0.0,
        )
        return self.merge(mixed_YHK)

    def drop_inputs(self, states_RD: Tensor) -> Tensor:
        """Apply the dropout of inputs to linear layers."""
        return drop(states_RD, self.dropout.inputs, self.training)

    def project_query(self, states_RD: Tensor) -> Tensor:
        """Return query_RHK."""
        return self._heads(self.query.forward(states_RD))

    def project_memory(self, states_RD: Tensor) -> tuple[Tensor, Tensor]:
        """Return key_RHK and value_RHK."""
        return self._heads(self.key(states_RD)), self._heads(self.value(states_RD))

    def project_all(self, states_RD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query_RHK, key_RHK and value_RHK, for attention of states to themselves."""
        return self.project_query(states_RD), *self.project_memory(states_RD)

    def merge(self, mixed_RHK: Tensor) -> Tensor:
        """Join the heads and project them back to the model's width."""
        result: Tensor = self.output.forward(self.drop_inputs(mixed_RHK.flatten(-2)))
        return result

    def _heads(self, projected: Tensor) -> Tensor:
        return projected.view(*projected.shape[:-1], self.num_heads, self.head_width)
