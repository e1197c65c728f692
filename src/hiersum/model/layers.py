"""Building blocks of layers: dropout, positions, feed-forward networks, residuals, embeddings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hiersum.model.linear import Linear, linear
from hiersum.model.storage import Integers

NORM_EPSILON = 1e-6
ROWS_AT_ONCE = 2_048


@dataclass(frozen=True, kw_only=True, slots=True)
class Dropout:
    """Dropout probabilities by place."""

    inputs: float = 0.0
    """On the input of linear layers."""
    weights: float = 0.0
    """On attention weights."""
    hidden: float = 0.0
    """On the hidden layer of feed-forward networks."""
    outputs: float = 0.0
    """On embeddings and on the output of each sub-layer."""


def drop(states: Tensor, share: float, is_training: bool) -> Tensor:
    """Zero a share of the values and scale up the rest, in training only."""
    if not is_training or share == 0:
        return states
    if states.device.type != "cpu":
        return F.dropout(states, share)
    result: Tensor = _CpuDropout.apply(states, share)  # type: ignore[no-untyped-call]
    return result


class _CpuDropout(torch.autograd.Function):
    """Dropout that draws one 64-bit number per four values and keeps a one-byte mask.

    `F.dropout` draws a number per value on a CPU, which takes a fifth of a training step.
    """

    @staticmethod
    def forward(ctx: Any, states: Tensor, share: float) -> Tensor:
        num_levels = 1 << 16
        num_dropped = round(share * num_levels)
        ctx.scale = num_levels / (num_levels - num_dropped)
        bits = torch.empty((states.numel() + 3) // 4, dtype=torch.int64).random_(-(1 << 63), None)
        levels = bits.view(torch.int16)[: states.numel()]
        is_kept = (levels >= num_dropped - num_levels // 2).view(states.shape)
        ctx.save_for_backward(is_kept)
        return (states * is_kept).mul_(ctx.scale)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (is_kept,) = ctx.saved_tensors
        return (gradients[0] * is_kept).mul_(ctx.scale), None


def sinusoid(position: Tensor, width: int) -> Tensor:
    """Return e_p per position p: e_p[2i] = sin(p / 10000^(2i/width)), e_p[2i+1] = cos(same)."""
    even = torch.arange(0, width, 2, device=position.device)
    angle = position[:, None] * torch.exp(even * (-math.log(10_000.0) / width))
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width]


class RelativeBias(nn.Module):
    """A learned score per head for the distance from query to key (T5).

    The first half of the buckets are single distances; the rest grow logarithmically up to
    `max_distance`. With `bidirectional`, half of all buckets are for keys after the query.
    """

    def __init__(
        self, *, num_buckets: int, max_distance: int, num_heads: int, bidirectional: bool
    ) -> None:
        super().__init__()
        self.num_buckets = num_buckets
        self.max_distance = max_distance
        self.bidirectional = bidirectional
        self.scores = nn.Embedding(num_buckets, num_heads)

    def forward(self, num_queries: int, num_keys: int) -> Tensor:
        """Return scores_HTT; the queries are at the last positions of the keys."""
        device = self.scores.weight.device
        key = torch.arange(num_keys, device=device)
        query = key[num_keys - num_queries :]
        scores_TTH: Tensor = self.scores(self._bucket(key[None] - query[:, None]))
        return scores_TTH.permute(2, 0, 1)

    def _bucket(self, offset: Tensor) -> Tensor:
        """Return the bucket of `key position - query position`."""
        num_buckets, start = self.num_buckets, torch.zeros_like(offset)
        if self.bidirectional:
            num_buckets //= 2
            start = (offset > 0) * num_buckets
            distance = offset.abs()
        else:
            distance = (-offset).clamp(min=0)
        num_exact = num_buckets // 2
        growth = math.log(self.max_distance / num_exact)
        far = (distance.clamp(min=1) / num_exact).log() / growth * (num_buckets - num_exact)
        far = (num_exact + far.long()).clamp(max=num_buckets - 1)
        return start + torch.where(distance < num_exact, distance, far)


class FeedForward(nn.Module):
    """W_2 relu(W_1 x), or W_2 (gelu(W_1 x) * W_gate x)."""

    def __init__(
        self,
        *,
        width: int,
        hidden_width: int,
        activation: Literal["relu", "gated-gelu"],
        bias: bool,
        dropout: Dropout,
    ) -> None:
        super().__init__()
        self.inner = Linear(width, hidden_width, bias=bias)
        gated = activation == "gated-gelu"
        self.gate = Linear(width, hidden_width, bias=bias) if gated else None
        self.outer = Linear(hidden_width, width, bias=bias)
        self.dropout = dropout

    def forward(self, states_RD: Tensor) -> Tensor:
        if torch.is_grad_enabled() or len(states_RD) <= ROWS_AT_ONCE:
            return self._transform(states_RD)
        # In chunks, so that the wide hidden layer of a long source stays in the CPU cache.
        return torch.cat([self._transform(part) for part in states_RD.split(ROWS_AT_ONCE)])

    def _transform(self, states_RD: Tensor) -> Tensor:
        states_RD = drop(states_RD, self.dropout.inputs, self.training)
        hidden_RF = drop(self.hidden(states_RD), self.dropout.hidden, self.training)
        result: Tensor = self.outer(hidden_RF)
        return result

    def hidden(self, states_RD: Tensor) -> Tensor:
        """Return the hidden layer."""
        if self.gate is None:
            return F.relu(self.inner(states_RD))
        gate_RF: Tensor = self.gate(states_RD)
        return F.gelu(self.inner(states_RD), approximate="tanh") * gate_RF


class Residual(nn.Module):
    """Add a sub-layer f to its input: norm(x + f(x)), or x + f(norm(x)) with `pre_norm`."""

    def __init__(self, *, norm: nn.Module, pre_norm: bool, dropout: Dropout) -> None:
        super().__init__()
        self.norm = norm
        self.pre_norm = pre_norm
        self.dropout = dropout

    def forward(self, states_RD: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        change_RD = sublayer(self.enter(states_RD))
        return self.leave(states_RD, drop(change_RD, self.dropout.outputs, self.training))

    def enter(self, states_RD: Tensor) -> Tensor:
        """Return the sub-layer's input."""
        result: Tensor = self.norm.forward(states_RD) if self.pre_norm else states_RD
        return result

    def leave(self, states_RD: Tensor, change_RD: Tensor) -> Tensor:
        """Return the sum of states and the sub-layer's output."""
        sum_RD = states_RD + change_RD
        result: Tensor = sum_RD if self.pre_norm else self.norm.forward(sum_RD)
        return result


class RmsNorm(nn.RMSNorm):
    """T5's norm, computed in the input's type: torch's fused kernel does not mix types."""

    def forward(self, states_RD: Tensor) -> Tensor:
        weight_D = self.weight.to(states_RD.dtype)
        return torch.rms_norm(states_RD, self.normalized_shape, weight_D, self.eps)


class HeadLinear(nn.Module):
    """One linear map per head: y^z = W^z x^z + b^z."""

    def __init__(self, *, num_heads: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_heads, width, width))
        self.bias = nn.Parameter(torch.zeros(num_heads, width))

    def forward(self, heads_QHK: Tensor) -> Tensor:
        mapped_HQK = torch.baddbmm(
            self.bias[:, None], heads_QHK.transpose(0, 1), self.weight.transpose(1, 2)
        )
        return mapped_HQK.transpose(0, 1)


def initialize(module: nn.Module) -> None:
    """Draw matrices Xavier-uniformly (per head where there are heads); biases 0, norms 1.

    Scaled embeddings get variance 1 after scaling; Xavier over thousands of rows would make them
    far smaller than the positions added to them.
    """
    for name, parameter in module.named_parameters():
        if parameter.dim() == 3:
            for matrix in parameter:
                nn.init.xavier_uniform_(matrix)
        elif parameter.dim() == 2:
            nn.init.xavier_uniform_(parameter)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)
    for part in module.modules():
        if isinstance(part, WordEmbedding) and part.scale != 1:
            nn.init.normal_(part.weight, std=1 / part.scale)


class WordEmbedding(nn.Embedding):
    """A vector per piece, multiplied by a constant."""

    def __init__(self, *, vocab_size: int, width: int, scale: float) -> None:
        super().__init__(vocab_size, width)
        self.scale = scale

    def forward(self, token_ids: Tensor) -> Tensor:
        if isinstance(self.weight, Integers):
            words = self.weight.rows(token_ids)
        else:
            words = super().forward(token_ids)
        return words if self.scale == 1 else words * self.scale


class Output(nn.Module):
    """Scores of all pieces, scale * (E x) + b, where E is the target embedding if tied."""

    def __init__(
        self,
        *,
        vocab_size: int,
        width: int,
        is_tied: bool,
        has_bias: bool,
        scale: float,
        dropout: Dropout,
    ) -> None:
        super().__init__()
        self.weight = None if is_tied else nn.Parameter(torch.empty(vocab_size, width))
        self.bias = nn.Parameter(torch.zeros(vocab_size)) if has_bias else None
        self.scale = scale
        self.dropout = dropout

    def forward(self, states: Tensor, embedding_VD: Tensor) -> Tensor:
        states = drop(states, self.dropout.inputs, self.training)
        states = states if self.scale == 1 else states * self.scale
        weight_VD = embedding_VD if self.weight is None else self.weight
        return linear(states, weight_VD, self.bias)
