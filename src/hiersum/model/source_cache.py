"""Keys and values of sources, computed once per cluster and read by all its hypotheses.

Neighbouring sources of equal length are one block, which a kernel reads in one go: for the few
queries of a step, starting a kernel costs as much as a good part of its work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from hiersum.model.spans import Spans


@dataclass(frozen=True)
class SourceBlock:
    """What one decoder layer reads of C equally long sources; the beam is the query axis."""

    key_CHMK: Tensor
    value_CHMK: Tensor

    def __len__(self) -> int:
        return len(self.key_CHMK)

    def attend(self, query_CNHK: Tensor, scale: float) -> Tensor:
        """Return mixed_CNHK."""
        mixed_CHNK = F.scaled_dot_product_attention(
            query_CNHK.transpose(1, 2), self.key_CHMK, self.value_CHMK, scale=scale
        )
        return mixed_CHNK.transpose(1, 2)

    def weights(self, query_CNHK: Tensor, scale: float) -> Tensor:
        """Return weights_CHNM of `attend`, which its kernel does not give."""
        scores_CHNM = query_CNHK.transpose(1, 2) @ self.key_CHMK.transpose(2, 3)
        return (scores_CHNM * scale).softmax(-1)

    def rows(self, start: int, end: int) -> SourceBlock:
        """Return some of the sources; views, nothing is copied."""
        return replace(
            self, key_CHMK=self.key_CHMK[start:end], value_CHMK=self.value_CHMK[start:end]
        )


class HalfSourceBlock(SourceBlock):
    """The same in bfloat16: half the bytes, and products that some processors do at twice the rate.

    For so few queries two plain products beat the fused kernel.
    """

    def attend(self, query_CNHK: Tensor, scale: float) -> Tensor:
        """Return mixed_CNHK, as exact as the query's type can say it."""
        weights_CHNM = self._scores(query_CNHK, scale).softmax(-1)
        return (weights_CHNM @ self.value_CHMK).transpose(1, 2).to(query_CNHK.dtype)

    def weights(self, query_CNHK: Tensor, scale: float) -> Tensor:
        """Return weights_CHNM of `attend`, before they are rounded."""
        return self._scores(query_CNHK, scale).softmax(-1, dtype=torch.float32)

    def _scores(self, query_CNHK: Tensor, scale: float) -> Tensor:
        query_CHNK = (query_CNHK * scale).bfloat16().transpose(1, 2)
        return query_CHNK @ self.key_CHMK.transpose(2, 3)


def source_blocks(
    key_RHK: Tensor, value_RHK: Tensor, sources: Spans, *, half: bool = False
) -> list[SourceBlock]:
    """Group keys and values of flat rows by runs of equally long sources; in bfloat16 if `half`."""
    kind = HalfSourceBlock if half else SourceBlock
    if half:
        key_RHK, value_RHK = key_RHK.bfloat16(), value_RHK.bfloat16()
    # (C, M, H, K) -> (C, H, M, K), each head's rows together in storage
    keys, values = (
        [block.transpose(1, 2).contiguous() for block in sources.blocks(rows)]
        for rows in (key_RHK, value_RHK)
    )
    return [kind(key, value) for key, value in zip(keys, values)]


def keep_sources(blocks: Sequence[SourceBlock], clusters: Sequence[int]) -> list[SourceBlock]:
    """Return the blocks of these clusters only, in this order; views, nothing is copied."""
    places = [(block, row) for block in blocks for row in range(len(block))]
    pieces: list[tuple[SourceBlock, int, int]] = []
    for block, row in (places[cluster] for cluster in clusters):
        if pieces and pieces[-1][0] is block and pieces[-1][2] == row:
            pieces[-1] = (block, pieces[-1][1], row + 1)
        else:
            pieces.append((block, row, row + 1))
    return [block.rows(start, end) for block, start, end in pieces]
