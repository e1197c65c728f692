"""Flat rows: views and reorderings are the same rows, and gradients flow back through them."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hiersum.model.spans import Spans, joint_runs

LENGTHS = st.lists(st.integers(1, 4), min_size=1, max_size=8).map(tuple)


@given(LENGTHS)
def test_blocks_are_the_rows_in_order(lengths: tuple[int, ...]) -> None:
    spans = Spans(lengths)
    rows = torch.arange(sum(spans.lengths) * 2).view(-1, 2)

    blocks = spans.blocks(rows)

    assert torch.equal(torch.cat([block.flatten(0, 1) for block in blocks]), rows)
    assert [tuple(block.shape[:2]) for block in blocks] == list(spans.runs)


@given(LENGTHS)
def test_repeat_equals_repeat_interleave(lengths: tuple[int, ...]) -> None:
    values = torch.arange(len(lengths) * 3).view(-1, 3)

    repeated = Spans(lengths).repeat(values)

    assert torch.equal(repeated, values.repeat_interleave(torch.tensor(lengths), dim=0))


@given(LENGTHS, st.randoms())
def test_taking_an_order_and_its_inverse_changes_nothing(lengths: tuple[int, ...], random) -> None:
    spans = Spans(lengths)
    order = list(range(len(lengths)))
    random.shuffle(order)
    inverse = sorted(range(len(order)), key=order.__getitem__)
    rows = torch.arange(sum(spans.lengths))

    there = spans.take(rows, order)

    assert torch.equal(spans.reordered(order).take(there, inverse), rows)


def test_positions_start_again_with_every_sequence() -> None:
    positions = Spans((2, 3, 1)).positions(torch.device("cpu"))

    assert positions.tolist() == [0, 1, 0, 1, 2, 0]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ((3, 2, 2, 9, 1), [(3, 2), (2,), (9,), (1,)]),
        ((9, 9), [(9,), (9,)]),
        ((5,), [(5,)]),
        ((1, 1, 1), [(1, 1, 1)]),
    ],
)
def test_portions_hold_neighbors_that_fit(lengths: tuple, expected: list[tuple]) -> None:
    assert [portion.lengths for portion in Spans(lengths).portions(5)] == expected


def test_joint_runs_need_both_lengths_to_agree() -> None:
    assert joint_runs(Spans((2, 2, 2)), Spans((5, 5, 6))) == [(2, 2, 5), (1, 2, 6)]
