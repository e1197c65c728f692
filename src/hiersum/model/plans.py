"""Plans: each stretch of a summary attends only to the source sentences it is written from.

A summary with a plan is written sentence by sentence, and each sentence ends with the end piece. The
tokens that predict sentence k are its stretch: they attend to the rows of plan k and to no others. A
stretch is a sequence of its own for attention to the source, so no mask is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import torch
from torch import Tensor

from hiersum.errors import InputError
from hiersum.model.spans import Spans

Plan = tuple[int, ...]
"""The numbers of the source sentences of one summary sentence, the main one first; none: all."""


@dataclass(frozen=True)
class Outline:
    """The source sentences of one cluster, numbered through its paragraphs, and where they stand."""

    lengths: tuple[int, ...]
    """Tokens of each paragraph."""
    boundaries: tuple[tuple[int, ...], ...]
    """For each paragraph where its sentences begin, and where the last one ends. What stands before
    the first is the title."""
    documents: tuple[int, ...]
    """The document of each paragraph."""

    def __post_init__(self) -> None:
        if not len(self.lengths) == len(self.boundaries) == len(self.documents):
            raise InputError("an outline needs boundaries and a document for each paragraph")
        for length, places in zip(self.lengths, self.boundaries):
            if not places or list(places) != sorted(set(places)) or not 0 <= places[-1] <= length:
                raise InputError(f"sentences at {list(places)} do not fit {length} tokens")

    def __len__(self) -> int:
        return len(self.paragraphs)

    @cached_property
    def paragraphs(self) -> tuple[int, ...]:
        """The paragraph of each sentence."""
        return tuple(n for n, places in enumerate(self.boundaries) for _ in places[1:])

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """The position of each sentence within its paragraph."""
        return tuple(n for places in self.boundaries for n in range(len(places) - 1))

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first row of each sentence within the cluster's source, and the row after its last."""
        return tuple(
            (start + first, start + after)
            for start, places in zip(self._starts, self.boundaries)
            for first, after in zip(places, places[1:])
        )

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """The first row of each paragraph."""
        return (0, *accumulate(self.lengths))[: len(self.lengths)]

    def rows(self, plan: Plan) -> list[int]:
        """Return the rows that a plan reaches: its sentences in source order, after the title."""
        if not plan:
            return list(range(sum(self.lengths)))
        if not all(0 <= number < len(self) for number in plan):
            raise InputError(f"plan {plan} names a sentence beyond the {len(self)} there are")
        paragraph = self.paragraphs[plan[0]]
        start = self._starts[paragraph]
        rows = list(range(start, start + self.boundaries[paragraph][0]))
        for number in sorted(set(plan)):
            rows.extend(range(*self.spans[number]))
        return rows


@dataclass(frozen=True)
class PlannedRows:
    """The source rows that the stretches of a batch's targets attend to."""

    stretches: Spans
    """Target tokens of each stretch, cluster after cluster."""
    sources: Spans
    """Source rows of each stretch."""
    row_R: Tensor
    """The rows, stretch after stretch, as indices into all source rows of the batch."""


def plan_rows(
    outlines: Sequence[Outline], plans: Sequence[Sequence[Plan]], stretches: Sequence[Sequence[int]]
) -> PlannedRows:
    """Find the source rows of all stretches.

    Args:
        outlines: the source sentences of each cluster.
        plans: for each cluster a plan per stretch.
        stretches: for each cluster the target tokens of each stretch.
    """
    rows: list[int] = []
    reached: list[int] = []
    start = 0
    for outline, cluster in zip(outlines, plans, strict=True):
        for plan in cluster:
            of_plan = outline.rows(plan)
            rows.extend(start + row for row in of_plan)
            reached.append(len(of_plan))
        start += sum(outline.lengths)
    lengths = tuple(length for cluster in stretches for length in cluster)
    return PlannedRows(Spans(lengths), Spans(tuple(reached)), torch.tensor(rows))


def cut_stretches(target: Sequence[int], end_id: int) -> list[int]:
    """Return the tokens of each sentence of a target, its end piece counted, the begin piece not."""
    ends = [place for place, token in enumerate(target) if place and token == end_id]
    return [after - before for before, after in zip([0, *ends], ends)]
