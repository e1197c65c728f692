"""Examples become the tensors that a network reads."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from hiersum.model.batch import Batch
from hiersum.model.planner import Outline
from hiersum.types import Example


def collate(examples: Sequence[Example]) -> Batch:
    """Join examples; with targets if all of them have one, with graphs if any has edges."""
    targets = [example.target_ids for example in examples if example.target_ids is not None]
    batch = Batch.from_ids(
        [example.paragraph_ids for example in examples],
        targets if len(targets) == len(examples) else None,
        [_graph(example) for example in examples] if any(e.graph for e in examples) else None,
    )
    if not all(example.boundaries for example in examples):
        return batch
    plans = [example.plans for example in examples]
    outlines = list(map(outline_of, examples))
    if batch.label_Y is None or not all(plans):
        return batch.with_plans(outlines, None, end_id=-1)
    return batch.with_plans(outlines, plans, end_id=targets[0][-1])


def outline_of(example: Example) -> Outline:
    """Return where the source sentences of an example stand."""
    lengths = tuple(map(len, example.paragraph_ids))
    return Outline(lengths, example.boundaries, example.documents)


def _graph(example: Example) -> Tensor:
    graph_PP = torch.zeros(len(example.paragraph_ids), len(example.paragraph_ids))
    if example.graph:
        rows, columns, weights = zip(*example.graph)
        graph_PP[list(rows), list(columns)] = torch.tensor(weights)
    return graph_PP
