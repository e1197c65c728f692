"""Batch: only real tokens and paragraphs come in."""

from __future__ import annotations

import pytest

from hiersum.errors import InputError
from hiersum.model.batch import Batch


def test_an_empty_paragraph_leaves_with_its_edges_but_keeps_the_ranks_of_the_others() -> None:
    graph = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]

    batch = Batch.from_ids([[[7], [], [8]]], graphs=[graph])

    assert batch.ranks == ((0, 2),)
    assert batch.graphs is not None
    assert batch.graphs[0].tolist() == [[1, 3], [7, 9]]


def test_targets_are_read_up_to_the_last_token_and_predicted_from_the_second() -> None:
    batch = Batch.from_ids([[[7]], [[8]]], targets=[[4, 20, 5], [4, 5]])

    assert batch.input_Y is not None
    assert batch.label_Y is not None
    assert batch.input_Y.tolist() == [4, 20, 4]
    assert batch.label_Y.tolist() == [20, 5, 5]
    assert batch.target_lengths == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sources": [[[7]], [[], []]]}, "cluster 1 of the batch has no source token"),
        ({"sources": [[[7]]], "targets": [[4]]}, "target 0 needs a begin and an end piece"),
        ({"sources": [[[7]]], "targets": [[4, 5]] * 2}, "2 targets for 1 clusters"),
        ({"sources": [[[7]]], "graphs": [[[1.0, 0.0]]]}, r"shape \(1, 2\).*the 1 paragraphs"),
        ({"sources": [[[7]]], "graphs": [[[-1.0]]]}, "edges that are negative or not a number"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(arguments: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Batch.from_ids(**arguments)
