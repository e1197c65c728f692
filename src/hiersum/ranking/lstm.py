"""An LSTM over sequences of different lengths that stand without padding, by our own backward pass.

    i, f, o = sigmoid(W x_t + U h_{t-1} + b)    g = tanh(W x_t + U h_{t-1} + b)
    c_t = f * c_{t-1} + i * g                   h_t = o * tanh(c_t)

Torch's own LSTM multiplies W with every token and adds to U's gradient at every step. Here W is
multiplied once with each *different* piece of a batch, and U's gradient is one large product at the
end; `benchmarks/ranker.py` measures what that is worth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence


@dataclass(frozen=True, slots=True)
class Packed:
    """Sequences of piece ids, time by time: the first ids of all, the second ids, and so on.

    The longest sequence comes first, so that those that go on are always the first rows.
    """

    ids: Tensor
    sizes: tuple[int, ...]
    """How many sequences have a first id, a second, and so on."""
    places: Tensor
    """The row of each sequence at time 0, in the order they were given."""

    @classmethod
    def of(cls, ids: Tensor, lengths: Tensor) -> Packed:
        """Pack sequences that stand one after the other in `ids`; none may be empty."""
        order = lengths.argsort(descending=True, stable=True)
        starts = lengths.cumsum(0) - lengths
        times = torch.arange(int(lengths.max()))[:, None]
        is_there = times < lengths[order]
        rows = (starts[order] + times)[is_there]
        places = torch.empty_like(order)
        places[order] = torch.arange(len(order))
        return cls(ids[rows], tuple(is_there.sum(1).tolist()), places)


class Lstm(nn.Module):
    """Reads sequences of pieces in one direction and gives a state per token."""

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
        states: Tensor = _Recurrence.apply(inputs, self.recurrent, packed.sizes)
        return states


def max_pool(rows: Tensor, packed: Packed) -> Tensor:
    """Return the maximum over each sequence's rows, in the order the sequences were given."""
    sequences = PackedSequence(rows, torch.tensor(packed.sizes))
    padded, _ = pad_packed_sequence(sequences, padding_value=-math.inf)
    return padded.max(0).values[packed.places]


class _Recurrence(torch.autograd.Function):
    """The part of an LSTM that goes from token to token. Gates stand in the order i, f, o, g."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, recurrent: Tensor, sizes: tuple[int, ...]) -> Tensor:
        width = len(recurrent)
        gates = inputs.clone()
        cells, squashed, states = (inputs.new_empty(len(inputs), width) for _ in range(3))
        start = before = 0
        for time, size in enumerate(sizes):
            now, last = slice(start, start + size), slice(before, before + size)
            if time:
                gates[now].addmm_(states[last], recurrent)
            gates[now, : 3 * width].sigmoid_()
            gates[now, 3 * width :].tanh_()
            i, f, o, g = gates[now].split(width, dim=1)
            cell = torch.mul(i, g, out=cells[now])
            if time:
                cell.addcmul_(f, cells[last])
            torch.tanh(cell, out=squashed[now])
            torch.mul(o, squashed[now], out=states[now])
            before, start = start, start + size
        ctx.save_for_backward(gates, cells, squashed, states, recurrent)
        ctx.sizes = sizes
        return states

    @staticmethod
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor, Tensor, None]:  # type: ignore[override]
        gates, cells, squashed, states, recurrent = ctx.saved_tensors
        sizes, width = ctx.sizes, len(recurrent)
        aten = torch.ops.aten
        d_gates = torch.empty_like(gates)
        d_states = d_states.clone()
        d_cell = d_states.new_zeros(0, width)  # what comes back from the next token
        end = len(gates)
        for time in reversed(range(len(sizes))):
            size = sizes[time]
            now = slice(end - size, end)
            i, f, o, g = gates[now].split(width, dim=1)
            d_i, d_f, d_o, d_g = d_gates[now].split(width, dim=1)
            d_now = aten.tanh_backward(d_states[now] * o, squashed[now])
            d_now[: len(d_cell)] += d_cell
            torch.mul(d_now, g, out=d_i)
            torch.mul(d_states[now], squashed[now], out=d_o)
            torch.mul(d_now, i, out=d_g)
            end -= size
            if time:
                before = end - sizes[time - 1]
                last = slice(before, before + size)
                torch.mul(d_now, cells[last], out=d_f)
            else:
                d_f.zero_()
            d_sigmoids, d_tanh = d_gates[now, : 3 * width], d_gates[now, 3 * width :]
            aten.sigmoid_backward.grad_input(
                d_sigmoids, gates[now, : 3 * width], grad_input=d_sigmoids
            )
            aten.tanh_backward.grad_input(d_tanh, g, grad_input=d_tanh)
            d_cell = d_now * f
            if time:
                d_states[last].addmm_(d_gates[now], recurrent.t())
        return d_gates, _earlier(states, sizes).t() @ d_gates[sizes[0] :], None


def _earlier(states: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Return for each token but the first ones the state of the token before it."""
    starts = [sum(sizes[:time]) for time in range(len(sizes))]
    parts = [states[start : start + size] for start, size in zip(starts, sizes[1:])]
    return torch.cat([states[:0], *parts])
