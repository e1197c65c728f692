"""Dropout: where it stands in a network, and a version that is fast on processors.

PyTorch draws one random number after another on a CPU, a fifth of a training step's time. Here one
draw of 64 bits decides four values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

LEVELS = 1 << 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Dropout:
    """How much is dropped, by place."""

    inputs: float = 0.0
    """What enters a linear layer."""
    weights: float = 0.0
    """Attention weights."""
    hidden: float = 0.0
    """The hidden layer of a feed-forward network."""
    outputs: float = 0.0
    """Embeddings, and what a sub-layer adds to its input."""


def drop(states: Tensor, share: float, is_training: bool) -> Tensor:
    """Set a share of the values to zero and scale the others up, in training only."""
    if not is_training or share == 0:
        return states
    if states.device.type != "cpu":
        return F.dropout(states, share)
    result: Tensor = _Drop.apply(states, share)  # type: ignore[no-untyped-call]
    return result


class _Drop(torch.autograd.Function):
    """Keeps a mask of one byte per value for the way back; `F.dropout` keeps four."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, share: float) -> Tensor:
        num_dropped = round(share * LEVELS)
        ctx.scale = LEVELS / (LEVELS - num_dropped)
        bits = torch.empty((states.numel() + 3) // 4, dtype=torch.int64).random_(-(1 << 63), None)
        levels = bits.view(torch.int16)[: states.numel()]
        is_kept = (levels >= num_dropped - LEVELS // 2).view(states.shape)
        ctx.save_for_backward(is_kept)
        return (states * is_kept).mul_(ctx.scale)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (is_kept,) = ctx.saved_tensors
        return (gradients[0] * is_kept).mul_(ctx.scale), None
