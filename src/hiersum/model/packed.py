"""A network that writes with weights in the order in which oneDNN's kernels read them.

The numbers are the same. Search multiplies few rows by wide matrices, for which torch's own product
spends most of its time on bringing the matrix into order, at every step anew.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hiersum.model.network import Network
from hiersum.model.rewritten import rewritten

# One row times a matrix of at most so many numbers is fastest in one thread, as torch's own product
# does it: oneDNN would wake another.
SMALL_MATRIX = 1 << 21


class PackedLinear(nn.Module):
    """W x + b with W in oneDNN's order."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.plain = weight.detach() if weight.numel() <= SMALL_MATRIX else None
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach())
        self.bias = None if bias is None else bias.detach()

    def forward(self, states: Tensor) -> Tensor:
        is_one_row = states.numel() == states.size(-1)
        if is_one_row and self.plain is not None:
            return F.linear(states, self.plain, self.bias)
        result: Tensor = torch.ops.mkldnn._linear_pointwise(
            states, self.packed, self.bias, "none", [], ""
        )
        return result


def can_pack(network: Network) -> bool:
    """Does this torch have the kernels, and are the weights float32 on a processor?"""
    name = "mkldnn::_reorder_linear_weight"
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return (
        torch.backends.mkldnn.is_available()
        and has_kernel(name, "CPU")
        and all(p.device.type == "cpu" and p.dtype == torch.float32 for p in network.parameters())
    )


def packed(network: Network) -> Network:
    """Return a network for search that shares what reads the source and writes with packed weights."""
    return rewritten(network, PackedLinear)
