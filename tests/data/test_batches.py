"""Examples as tensors: nothing is lost, and a graph is dense again."""

from __future__ import annotations

import torch

from hiersum.data.batches import collate
from hiersum.types import Example


def make_example(graph: tuple = (), target: tuple | None = (2, 7, 3)) -> Example:  # type: ignore[type-arg]
    return Example("x", "t", ((5, 6), (7, 8, 9)), (0, 0), (0, 1), (1.0, 0.5), graph, target)


def test_sources_and_targets_are_joined() -> None:
    batch = collate([make_example(), make_example(target=(2, 3))])
    assert batch.source_R.tolist() == [5, 6, 7, 8, 9] * 2
    assert batch.paragraph_lengths == ((2, 3), (2, 3))
    assert batch.target_lengths == (2, 1)
    assert batch.graphs is None


def test_targets_are_left_out_where_one_is_missing() -> None:
    assert collate([make_example(), make_example(target=None)]).input_Y is None


def test_edges_become_a_matrix_and_missing_graphs_stay_empty() -> None:
    batch = collate([make_example(graph=((0, 1, 0.5), (1, 1, 1.0))), make_example()])
    assert batch.graphs is not None
    torch.testing.assert_close(batch.graphs[0], torch.tensor([[0, 0.5], [0, 1.0]]))
    torch.testing.assert_close(batch.graphs[1], torch.zeros(2, 2))
