"""An LSTM over packed sequences, with its own backward pass.

    i, f, o = sigmoid(W x_t + U h_{t-1} + b)    g = tanh(W x_t + U h_{t-1} + b)
    c_t = f * c_{t-1} + i * g                   h_t = o * tanh(c_t)

Torch's LSTM multiplies W by every token and adds to U's gradient at every step. Here W is
multiplied once by each *distinct* piece of a batch, and U's gradient is one large product at the
end; `benchmarks/ranker.py` measures the gain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

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
        places = torch.empty_like(order)
        places[order] = torch.arange(len(order))
        return cls(ids[rows], tuple(is_there.sum(1).tolist()), places)


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
        table = self.input(embedding(pieces))
        states: Tensor = _Recurrence.apply(  # type: ignore[no-untyped-call]
            table, piece_of, self.recurrent, packed.sizes
        )
        return states


def max_pool(rows: Tensor, packed: Packed) -> Tensor:
    """Return the maximum over each sequence's rows, in the original order."""
    sequences = PackedSequence(rows, torch.tensor(packed.sizes))
    padded, _ = pad_packed_sequence(sequences, padding_value=-math.inf)
    return padded.max(0).values[packed.places]


class _Recurrence(torch.autograd.Function):
    """The recurrent part of an LSTM. The order of gates is i, f, o, g."""

    @staticmethod
    def forward(
        ctx: Any, table: Tensor, piece_of: Tensor, recurrent: Tensor, sizes: tuple[int, ...]
    ) -> Tensor:
        """Return the state of each token, given W x + b of each piece in `table`."""
        width, is_learning = len(recurrent), any(ctx.needs_input_grad)
        # Only backward needs the gates and cells of every token.
        num_kept = len(piece_of) if is_learning else sizes[0]
        gates = table.new_empty(num_kept, 4 * width)
        cells, squashed = table.new_empty(2, num_kept, width)
        states = table.new_empty(len(piece_of), width)
        start = before = 0
        for time, size in enumerate(sizes):
            now, last = slice(start, start + size), slice(before, before + size)
            here, there = (now, last) if is_learning else (slice(size), slice(size))
            torch.index_select(table, 0, piece_of[now], out=gates[here])
            if time:
                gates[here].addmm_(states[last], recurrent)
            gates[here, : 3 * width].sigmoid_()
            gates[here, 3 * width :].tanh_()
            i, f, o, g = gates[here].split(width, dim=1)
            if time:
                torch.mul(f, cells[there], out=cells[here]).addcmul_(i, g)
            else:
                torch.mul(i, g, out=cells[here])
            torch.tanh(cells[here], out=squashed[here])
            torch.mul(o, squashed[here], out=states[now])
            before, start = start, start + size
        ctx.save_for_backward(gates, cells, squashed, states, recurrent, piece_of)
        ctx.sizes, ctx.num_pieces = sizes, len(table)
        return states

    @staticmethod
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor, None, Tensor, None]:
        """Return the gradients of the table and of U."""
        gates, cells, squashed, states, recurrent, piece_of = ctx.saved_tensors
        sizes, width, aten = ctx.sizes, len(recurrent), torch.ops.aten
        d_gates = torch.empty_like(gates)
        d_states = d_states.clone()
        d_cell = d_states.new_zeros(0, width)  # from the next token
        end = len(gates)
        for time in reversed(range(len(sizes))):
            size = sizes[time]
            now = slice(end - size, end)
            end -= size
            before = end - sizes[time - 1]
            last = slice(before, before + size)  # meaningless at time 0
            i, f, o, g = gates[now].split(width, dim=1)
            d_i, d_f, d_o, d_g = d_gates[now].split(width, dim=1)
            d_now = aten.tanh_backward(d_states[now] * o, squashed[now])
            d_now[: len(d_cell)] += d_cell
            torch.mul(d_now, g, out=d_i)
            torch.mul(d_now, i, out=d_g)
            torch.mul(d_states[now], squashed[now], out=d_o)
            if time:
                torch.mul(d_now, cells[last], out=d_f)
            else:
                d_f.zero_()
            d_sigmoids, sigmoids = d_gates[now, : 3 * width], gates[now, : 3 * width]
            aten.sigmoid_backward.grad_input(d_sigmoids, sigmoids, grad_input=d_sigmoids)
            aten.tanh_backward.grad_input(d_g, g, grad_input=d_g)
            if time:
                d_states[last].addmm_(d_gates[now], recurrent.t())
                d_cell = d_now.mul_(f)
        d_table = d_gates.new_zeros(ctx.num_pieces, 4 * width).index_add_(0, piece_of, d_gates)
        return d_table, None, _earlier(states, sizes).t() @ d_gates[sizes[0] :], None


def _earlier(states: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Return for each token after time 0 the state of the token before it."""
    starts = accumulate(sizes, initial=0)
    parts = [states[start : start + size] for start, size in zip(starts, sizes[1:])]
    return torch.cat([states[:0], *parts])
