"""A network that writes with eight-bit weights, for processors.

A weight is an integer times a scale per output channel; activations become integers as they come,
with one scale for all rows of a step. The products are then sums of integers, in a quarter of the
bytes. Source keys and values stay as they are.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn

from hiersum.errors import ConfigError
from hiersum.model.network import Network
from hiersum.model.rewritten import rewritten
from hiersum.model.storage import quantize

# The operator itself: torch's wrapper looks at every argument for what only its compiler uses.
_linear_dynamic = torch.ops.quantized.linear_dynamic.op


class Int8Linear(nn.Module):
    """W x + b with W as integers."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        values, scale = quantize(weight)
        with warnings.catch_warnings():  # of the tensor type, whose kernels have no successor yet
            warnings.simplefilter("ignore", UserWarning)
            channels = torch._make_per_channel_quantized_tensor(
                values, scale[:, 0].double(), torch.zeros(len(values), dtype=torch.long), 0
            )
        self.packed = torch.ops.quantized.linear_prepack(
            channels, None if bias is None else bias.detach().float()
        )

    def forward(self, states: Tensor) -> Tensor:
        # True: the kernels add pairs of products in 16 bits, which 7 bits of activation never overflow.
        result: Tensor = _linear_dynamic(states, self.packed, True)
        return result


def quantized(network: Network) -> Network:
    """Return a network for search that shares what reads the source and writes in eight bits.

    Raises:
        ConfigError: torch has no eight-bit kernels for this processor.
    """
    if torch.backends.quantized.engine == "none":
        raise ConfigError("decoding.int8: torch has no eight-bit kernels here; set it to false")
    return rewritten(network, Int8Linear)
