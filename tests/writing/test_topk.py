"""The best few are those that torch's own selection finds."""

from __future__ import annotations

import pytest
import torch

from hiersum.writing.topk import CHUNK, chunked_topk


@pytest.mark.parametrize("size", [3, CHUNK, 10 * CHUNK, 40 * CHUNK + 77])
@pytest.mark.parametrize("width", [1, 3, 10])
def test_the_best_are_those_of_topk(size: int, width: int) -> None:
    """Values and places, for sizes with and without a rest, down to all there are."""
    scores_BX = torch.randn(4, size)
    width = min(width, size)

    values, places = chunked_topk(scores_BX, width)

    expected = scores_BX.topk(width)
    assert torch.equal(values, expected.values)
    assert torch.equal(places, expected.indices)


@pytest.mark.parametrize("first", [0, 5 * CHUNK - 4, 40 * CHUNK])
def test_neighbours_are_all_found(first: int) -> None:
    """The best may stand in one chunk, across two, or in the rest at the end."""
    scores_BX = torch.randn(1, 40 * CHUNK + 20)
    scores_BX[0, first : first + 8] += 100

    places = chunked_topk(scores_BX, 8)[1]

    assert sorted(places[0].tolist()) == list(range(first, first + 8))


def test_barred_scores_come_last() -> None:
    """Where fewer are possible than wanted, the rest are -inf, at places of their own."""
    scores_BX = torch.full((1, 20 * CHUNK), -torch.inf)
    scores_BX[0, [3, 700, 701]] = torch.tensor([1.0, 3.0, 2.0])

    values, places = chunked_topk(scores_BX, 6)

    assert values[0].tolist() == [3, 2, 1] + [-torch.inf] * 3
    assert places[0, :3].tolist() == [700, 701, 3]
    assert len(set(places[0].tolist())) == 6
