"""Keys and values of one cluster's source, computed once and read by all its hypotheses."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

FEW_QUERIES = 6
"""Up to so many hypotheses two plain products are faster than the fused kernel, which beyond that
is up to twice as fast (`EXPERIMENTS.md`)."""


class SourceCache:
    """What one decoder layer reads of one source; the beam is the query axis."""

    def __init__(
        self, key_MHK: Tensor, value_MHK: Tensor, *, num_beams: int, with_weights: bool
    ) -> None:
        self.with_weights = with_weights
        self.is_fused = num_beams > FEW_QUERIES and not with_weights
        # Each head's rows together in storage; for plain products, keys in columns.
        order = (1, 0, 2) if self.is_fused else (1, 2, 0)
        self.key = key_MHK.permute(order).contiguous()
        self.value_HMK = value_MHK.transpose(0, 1).contiguous()

    def attend(self, query_NHK: Tensor, scale: float) -> tuple[Tensor, Tensor | None]:
        """Return mixed_NHK and, if they are wanted, weights_HNM."""
        query_HNK = query_NHK.transpose(0, 1)
        if self.is_fused:
            mixed_1HNK = F.scaled_dot_product_attention(
                query_HNK[None], self.key[None], self.value_HMK[None], scale=scale
            )
            return mixed_1HNK[0].transpose(0, 1), None
        weights_HNM = ((query_HNK * scale) @ self.key).softmax(-1)
        mixed_NHK = (weights_HNM @ self.value_HMK).transpose(0, 1)
        return mixed_NHK, weights_HNM if self.with_weights else None
