"""The best few of very many scores, exactly, without sorting all of them."""

from __future__ import annotations

import torch
from torch import Tensor

CHUNK = 128


def chunked_topk(scores_BX: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Return the `width` largest scores of each row, largest first, and their places.

    The largest scores lie in the chunks with the largest maxima, so that only these are sorted, and
    the rest that fills no chunk. Finding a maximum is several times faster than torch's `topk`.
    """
    num_chunks = scores_BX.size(1) // CHUNK
    if num_chunks <= width:
        largest_BW, places_BW = scores_BX.topk(width)
        return largest_BW, places_BW
    num_covered = num_chunks * CHUNK
    maxima_BC = scores_BX[:, :num_covered].unflatten(1, (num_chunks, CHUNK)).amax(2)
    chunk_BW = maxima_BC.topk(width).indices
    rest = torch.arange(num_covered, scores_BX.size(1), device=scores_BX.device)
    chunk = torch.arange(CHUNK, device=scores_BX.device)
    inside_BX = (CHUNK * chunk_BW[:, :, None] + chunk).flatten(1)
    places_BX = torch.cat([inside_BX, rest.expand(len(scores_BX), -1)], dim=1)
    largest_BW, index_BW = scores_BX.gather(1, places_BX).topk(width)
    return largest_BW, places_BX.gather(1, index_BW)
