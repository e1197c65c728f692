"""An LSTM over packed sequences of pieces.

    i, f, o = sigmoid(W x_t + U h_{t-1} + b)    g = tanh(W x_t + U h_{t-1} + b)
    c_t = f * c_{t-1} + i * g                   h_t = o * tanh(c_t)

W is multiplied once by each *distinct* piece of a batch, where torch's LSTM multiplies it by every
token; `benchmarks/ranker.py` measures the gain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence


@dataclass(frozen=True, slots=True)
class Packed:
    """Sequences of piece ids in time order: the first ids of all, then the second, and so on.

    The longest sequence comes first, so that unfinished sequences are always the first rows.
    """

    ids: Tensor
    sizes: tuple[int, ...]
    """How many sequences have a first id, a second, and so on."""
    places: Tensor
    """The row of each sequence at time 0, in the original order."""

    @classmethod
    def of(cls, ids: Tensor, lengths: Tensor) -> Packed:
        """Pack non-empty sequences that follow each other in `ids`."""
        order = lengths.argsort(descending=True, stable=True)
        starts = lengths.cumsum(0) - lengths
        times = torch.arange(int(lengths.max()))[:, None]
        is_there = times < lengths[order]
        rows = (starts[order] + times)[is_there]
        return cls(ids[rows], tuple(is_there.sum(1).tolist()), order.argsort())


class Lstm(nn.Module):
    """Reads sequences of pieces in one direction and returns a state per token."""

    def __init__(self, input_width: int, width: int) -> None:
        super().__init__()
        self.input = nn.Linear(input_width, 4 * width)
        self.recurrent = nn.Parameter(torch.empty(width, 4 * width))
        bound = 1 / math.sqrt(width)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def forward(self, embedding: nn.Embedding, packed: Packed) -> Tensor:
        """Return the states, one row per token, in the order of `packed.ids`."""
        pieces, piece_of = packed.ids.unique(return_inverse=True)
        inputs = self.input(embedding(pieces)).index_select(0, piece_of)
        width = len(self.recurrent)
        state = cell = inputs.new_zeros(packed.sizes[0], width)
        states = []
        for size, input_gates in zip(packed.sizes, inputs.split(packed.sizes)):
            gates = torch.addmm(input_gates, state[:size], self.recurrent)
            i, f, o = gates[:, : 3 * width].sigmoid().split(width, dim=1)
            cell = f * cell[:size] + i * gates[:, 3 * width :].tanh()
            state = o * cell.tanh()
            states.append(state)
        return torch.cat(states)


def max_pool(rows: Tensor, packed: Packed) -> Tensor:
    """Return the maximum over each sequence's rows, in the original order."""
    sequences = PackedSequence(rows, torch.tensor(packed.sizes))
    padded, _ = pad_packed_sequence(sequences, padding_value=-math.inf)
    return padded.max(0).values[packed.places]
