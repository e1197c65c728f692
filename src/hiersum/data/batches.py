"""Batches: which examples share one, in which order a run reads them, and their tensors.

A padded batch of n examples has n * (most paragraphs * longest paragraph + longest target) tokens,
so examples of similar shape are put together.

A `BatchStream` is an endless, shuffled sequence of batches that depends only on the seed. In each
epoch the shards are shuffled and read in windows of a few thousand examples; a window is shuffled,
cut into batches, and its batches are shuffled. Only one window is in memory, and a stream can
resume at any batch by reading only that batch's window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from hiersum.data.shards import Ints, PreparedSet, Rows
from hiersum.errors import DataError
from hiersum.model.batch import Batch
from hiersum.model.planner import Outline
from hiersum.types import Example


def collate(examples: Sequence[Example]) -> Batch:
    """Return examples as one batch, with targets if all have one; graphs may have no edges."""
    targets = [example.target_ids for example in examples if example.target_ids is not None]
    batch = Batch.from_ids(
        [example.paragraph_ids for example in examples],
        targets if len(targets) == len(examples) else None,
        list(map(_graph, examples)),
    )
    if not all(example.boundaries for example in examples):
        return batch
    plans = [example.plans for example in examples]
    outlines = list(map(outline_of, examples))
    if batch.label_Y is None or not all(plans):
        return batch.with_plans(outlines, None, end_id=-1)
    return batch.with_plans(outlines, plans, end_id=targets[0][-1])


def outline_of(example: Example) -> Outline:
    """Return the positions of the source sentences of an example."""
    lengths = tuple(map(len, example.paragraph_ids))
    return Outline(lengths, example.boundaries, example.documents, example.positions)


def _graph(example: Example) -> Tensor:
    graph_PP = torch.zeros(len(example.paragraph_ids), len(example.paragraph_ids))
    if example.graph:
        rows, columns, weights = zip(*example.graph)
        graph_PP[list(rows), list(columns)] = torch.tensor(weights)
    return graph_PP


def padded_size(shapes: Ints) -> int:
    """Return the number of tokens in a padded batch of examples with these `Rows.shapes`."""
    paragraphs, tokens, targets = shapes.max(axis=0).tolist()
    return int(len(shapes) * (paragraphs * tokens + targets))


def bucket(shapes: Ints, batch_tokens: int) -> list[Ints]:
    """Group examples of similar shape into batches of at most `batch_tokens` padded tokens.

    A larger example gets its own batch. The order of equal shapes is kept.
    """
    paragraphs, tokens, targets = shapes.T
    # Alternate the direction, so that lengths do not jump when the number of paragraphs changes.
    turned = np.where(paragraphs % 2, tokens, -tokens)
    return cut(shapes, np.lexsort((targets, turned, paragraphs)), batch_tokens)


def bucket_examples(examples: Sequence[Example], batch_tokens: int) -> list[list[int]]:
    """Return the indices of the examples of each batch; see `bucket`."""
    if not examples:
        return []
    shapes = [
        (len(e.paragraph_ids), max(map(len, e.paragraph_ids)), len(e.target_ids or ()))
        for e in examples
    ]
    return [indices.tolist() for indices in bucket(np.array(shapes), batch_tokens)]


def cut(shapes: Ints, order: Ints, batch_tokens: int) -> list[Ints]:
    """Cut examples, in the given order, into the longest batches that `batch_tokens` allows."""
    ordered = shapes[order]
    batches = []
    start = 0
    while start < len(order):
        paragraphs, tokens, targets = ordered[start].tolist()
        most = max(1, batch_tokens // max(1, paragraphs * tokens + targets))
        # Padded shapes if the batch ended after the first, second, ... of these examples.
        padded = np.maximum.accumulate(ordered[start : start + most])
        sizes = np.arange(1, len(padded) + 1) * (padded[:, 0] * padded[:, 1] + padded[:, 2])
        end = start + max(1, int(np.searchsorted(sizes, batch_tokens, side="right")))
        batches.append(order[start:end])
        start = end
    return batches


@dataclass(frozen=True, slots=True)
class Position:
    """A position between two batches."""

    epoch: int = 0
    window: int = 0
    batch: int = 0
    """Batches of the window before this position."""
    number: int = 0
    """Batches of the whole stream before this position."""


@dataclass(frozen=True, slots=True)
class BatchStream:
    """Batches of examples, each with the position after it.

    Several processes can share a stream: of every `num_parts` batches, each process takes one. All
    get the position after the round, from which any of them can resume.
    """

    prepared: PreparedSet
    _: KW_ONLY
    batch_tokens: int
    """Maximum padded size of a batch; a larger example gets its own batch."""
    window: int = 4_096
    """Examples in memory at once, shuffled and bucketed together."""
    seed: int
    start: Position = Position()
    """A position from a stream with the same settings."""
    part: int = 0
    num_parts: int = 1
    epochs: int | None = None
    """Stop after this many epochs; None: never."""

    def __post_init__(self) -> None:
        if not len(self.prepared):
            raise DataError(f"{self.prepared.folder}: contains no examples")

    def __iter__(self) -> Iterator[tuple[list[Example], Position]]:
        batches = self._batches()
        while taken := list(islice(batches, self.num_parts)):
            if self.part < len(taken):
                rows, indices, _ = taken[self.part]
                yield rows.examples(indices), taken[-1][2]

    @property
    def num_windows(self) -> int:
        """Windows of an epoch."""
        return -(-len(self.prepared) // self.window)

    def count_batches(self) -> int:
        """Return the number of batches in the first epoch, of all parts together."""
        places = [Position(window=window) for window in range(self.num_windows)]
        return sum(len(self._arrange(self._read_window(place), place)) for place in places)

    def _batches(self) -> Iterator[tuple[Rows, Ints, Position]]:
        """Yield the batches of all parts, each with the position after it."""
        place = self.start
        while self.epochs is None or place.epoch < self.epochs:
            rows = self._read_window(place)
            batches = self._arrange(rows, place) if len(rows) else []
            if place.batch >= len(batches):
                raise DataError(
                    f"{self.prepared.folder}: cannot resume at {place}; the set or the "
                    "settings have changed, so start a new run"
                )
            for indices in batches[place.batch :]:
                place = self._after(place, len(batches))
                yield rows, indices, place

    def _after(self, place: Position, num_batches: int) -> Position:
        """Return the position after the next batch, in a window of `num_batches`."""
        number = place.number + 1
        if place.batch + 1 < num_batches:
            return replace(place, batch=place.batch + 1, number=number)
        if place.window + 1 < self.num_windows:
            return Position(place.epoch, place.window + 1, number=number)
        return Position(place.epoch + 1, number=number)

    def _read_window(self, place: Position) -> Rows:
        """Read the part of each shard that lies in a window."""
        shards = self.prepared.manifest.shards
        order = np.random.default_rng([self.seed, place.epoch]).permutation(len(shards))
        begin, end = place.window * self.window, (place.window + 1) * self.window
        parts = []
        before = 0  # examples of the shards so far
        for shard in (shards[index] for index in order):
            low, high = max(begin - before, 0), min(end - before, shard.examples)
            if low < high:
                parts.append(self.prepared.load(shard)[low:high])
            before += shard.examples
        return Rows.join(parts)

    def _arrange(self, rows: Rows, place: Position) -> list[Ints]:
        shapes = rows.shapes(is_flat=self.prepared.is_flat)
        # Window + 1, because the seeds (s, e) and (s, e, 0) give the same generator.
        generator = np.random.default_rng([self.seed, place.epoch, place.window + 1])
        mixed = generator.permutation(len(rows))
        batches = [mixed[batch] for batch in bucket(shapes[mixed], self.batch_tokens)]
        return [batches[index] for index in generator.permutation(len(batches))]
