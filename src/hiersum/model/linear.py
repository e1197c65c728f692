"""Linear maps that oneDNN multiplies, in training too.

In float32 torch uses MKL, which is slow on some processors: on AMD's with AVX-512, oneDNN takes half
the time (`benchmarks/training_step.py`). Results are equal up to rounding.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

MIN_ROWS = 512
"""With fewer rows, oneDNN's preparations cost more than it saves."""


class Linear(nn.Linear):
    """W x + b."""

    def forward(self, states: Tensor) -> Tensor:
        return linear(states, self.weight, self.bias)


def linear(states: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return W x + b for every row x."""
    if states.numel() < MIN_ROWS * states.size(-1) or not _is_plain(states, weight):
        return F.linear(states, weight, bias)
    result: Tensor = _Product.apply(states, weight, bias)  # type: ignore[no-untyped-call]
    return result


def _is_plain(*tensors: Tensor) -> bool:
    """Whether these are ordinary float32 numbers on a CPU, and are to be multiplied as such."""
    return (
        has_onednn()
        and all(t.device.type == "cpu" and t.dtype == torch.float32 for t in tensors)
        and not torch.is_autocast_enabled("cpu")
    )


@cache
def has_onednn() -> bool:
    """Whether this torch has oneDNN's linear kernels."""
    return torch.backends.mkldnn.is_available() and torch._C._dispatch_has_kernel_for_dispatch_key(
        "mkldnn::_linear_pointwise", "CPU"
    )


class _Product(torch.autograd.Function):
    """W x + b with its gradients."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(states, weight)
        return _multiply(states, weight, bias)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, change: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        states, weight = ctx.saved_tensors
        of_states = of_weight = of_bias = None
        if ctx.needs_input_grad[0]:
            of_states = _multiply(change, weight.t())
        change, states = change.flatten(0, -2), states.flatten(0, -2)
        if ctx.needs_input_grad[1]:
            of_weight = _multiply(change.t(), states.t())
        if ctx.needs_input_grad[2]:
            of_bias = change.sum(0)
        return of_states, of_weight, of_bias


def _multiply(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return the left matrix times the transposed right one."""
    result: Tensor = torch.ops.mkldnn._linear_pointwise(
        left.contiguous(), right.contiguous(), bias, "none", [], ""
    )
    return result
