"""Spans: ragged sequences stored back to back in a flat tensor, without padding.

All sequences of a batch (paragraphs, sources, summaries) are concatenated, so that linear layers,
norms and feed-forward networks see real tokens only. For attention and pooling, neighbouring
sequences of equal length (a run) are viewed as one dense block: no mask, no copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import torch
from torch import Tensor


@dataclass(frozen=True)
class Spans:
    """Lengths of sequences stored back to back in a flat tensor."""

    lengths: tuple[int, ...]

    @cached_property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """(count, length) of runs of equally long neighbours."""
        return tuple((len(list(group)), length) for length, group in groupby(self.lengths))

    def blocks(self, flat: Tensor) -> list[Tensor]:
        """View the rows as one (count, length, ...) block per run."""
        # split, not slices: its gradient is one concatenation, not a tensor of zeros per slice.
        pieces = flat.split([count * length for count, length in self.runs])
        return [piece.unflatten(0, run) for piece, run in zip(pieces, self.runs)]

    def split(self, flat: Tensor) -> tuple[Tensor, ...]:
        """Return the rows of each sequence."""
        parts: tuple[Tensor, ...] = flat.split(list(self.lengths))
        return parts

    def portions(self, num_rows: int) -> list[Spans]:
        """Divide the sequences into neighbors of at most this many rows, or one longer sequence."""
        portions: list[list[int]] = [[]]
        total = 0
        for length in self.lengths:
            total += length
            if portions[-1] and total > num_rows:
                portions.append([])
                total = length
            portions[-1].append(length)
        return [Spans(tuple(portion)) for portion in portions]

    def positions(self, device: torch.device) -> Tensor:
        """Return each row's position within its sequence, from 0."""
        # Built on the CPU and moved once: a device would launch a kernel per sequence.
        return torch.cat([torch.arange(length) for length in self.lengths]).to(device)

    def repeat(self, per_sequence: Tensor) -> Tensor:
        """Expand one value per sequence to its rows."""
        # expand per run, not repeat_interleave: the gradient is a sum, not a scatter of rows.
        runs = zip(per_sequence.split([count for count, _ in self.runs]), self.runs)
        rest = per_sequence.shape[1:]
        return torch.cat([x[:, None].expand(*run, *rest).flatten(0, 1) for x, run in runs])

    def take(self, flat: Tensor, order: Sequence[int]) -> Tensor:
        """Return the rows with the sequences in another order."""
        pieces = self.split(flat)
        return torch.cat([pieces[index] for index in order])

    def reordered(self, order: Sequence[int]) -> Spans:
        """Return the spans of what `take` returns."""
        return Spans(tuple(self.lengths[index] for index in order))


def joint_runs(queries: Spans, keys: Spans) -> list[tuple[int, int, int]]:
    """(count, query length, key length) of runs equally long on both sides."""
    pairs = zip(queries.lengths, keys.lengths, strict=True)
    return [(len(list(group)), *pair) for pair, group in groupby(pairs)]
