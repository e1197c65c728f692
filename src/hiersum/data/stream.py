"""A prepared set as an endless stream of batches, in an order that one seed decides.

In each epoch the shards are put in a random order and read in windows of some thousand examples. A
window is shuffled, cut into batches of like shape, and its batches are shuffled. Only one window is
in memory, so that a set may be of any size, and a stream can begin at any batch by reading only the
window that the batch is in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from hiersum.data.bucketing import Ints, bucket
from hiersum.data.columns import Rows
from hiersum.data.shards import PreparedSet
from hiersum.errors import DataError
from hiersum.types import Example


@dataclass(frozen=True, slots=True)
class Position:
    """A place between two batches."""

    epoch: int = 0
    window: int = 0
    batch: int = 0
    """Batches of the window before this place."""
    number: int = 0
    """Batches of the whole stream before this place."""


_BEGIN = Position()


@dataclass(frozen=True, slots=True)
class _Batch:
    rows: Rows
    indices: Ints
    after: Position


class BatchStream:
    """Batches of examples, each with the place after it.

    Several processes share a stream: of each round of `num_parts` batches, every one takes the batch
    of its part. All of them get the place after the round, from which any of them can continue.
    """

    def __init__(
        self,
        prepared: PreparedSet,
        *,
        batch_tokens: int,
        window: int = 4_096,
        seed: int,
        shuffle: bool = True,
        start: Position = _BEGIN,
        part: int = 0,
        num_parts: int = 1,
        epochs: int | None = None,
    ) -> None:
        """Describe a stream; examples are read once it is iterated.

        Args:
            prepared: the examples.
            batch_tokens: padded size of a batch, at most; a larger example is alone in its batch.
            window: examples that are in memory and are shuffled and bucketed together.
            seed: decides the order.
            shuffle: take shards, examples and batches in random order, or as they come.
            start: where to begin; a place that a stream of the same settings gave.
            part: which batch of each round is ours.
            num_parts: batches of a round.
            epochs: the epoch to stop before; never if None.

        Raises:
            DataError: the set is empty.
        """
        if not len(prepared):
            raise DataError(f"{prepared.folder}: there are no examples in it")
        self._prepared = prepared
        self._batch_tokens = batch_tokens
        self._window = window
        self._seed = seed
        self._shuffle = shuffle
        self._start = start
        self._part = part
        self._num_parts = num_parts
        self._epochs = epochs
        self._num_windows = -(-len(prepared) // window)

    def __iter__(self) -> Iterator[tuple[list[Example], Position]]:
        batches = self._batches()
        while taken := list(islice(batches, self._num_parts)):
            if self._part < len(taken):
                batch = taken[self._part]
                yield batch.rows.examples(batch.indices), taken[-1].after

    def count_batches(self) -> int:
        """Return how many batches the first epoch has, of all parts."""
        return sum(
            len(self._arrange(self._read_window(Position(window=window)), Position(window=window)))
            for window in range(self._num_windows)
        )

    def _batches(self) -> Iterator[_Batch]:
        """Yield the batches of all parts."""
        place = self._start
        while self._epochs is None or place.epoch < self._epochs:
            rows = self._read_window(place)
            batches = self._arrange(rows, place) if len(rows) else []
            if place.batch >= len(batches):
                raise DataError(
                    f"{self._prepared.folder}: cannot continue at {place}, which is of another set "
                    "or of other settings; begin anew"
                )
            for indices in batches[place.batch :]:
                place = self._after(place, len(batches))
                yield _Batch(rows, indices, place)

    def _after(self, place: Position, num_batches: int) -> Position:
        """Return the place one batch on, in a window of that many."""
        number = place.number + 1
        if place.batch + 1 < num_batches:
            return replace(place, batch=place.batch + 1, number=number)
        if place.window + 1 < self._num_windows:
            return Position(place.epoch, place.window + 1, number=number)
        return Position(place.epoch + 1, number=number)

    def _read_window(self, place: Position) -> Rows:
        """Read the shards that reach into a window, and no others."""
        shards = list(self._prepared.manifest.shards)
        if self._shuffle:
            order = np.random.default_rng([self._seed, place.epoch]).permutation(len(shards))
            shards = [shards[index] for index in order]
        begin, end = place.window * self._window, (place.window + 1) * self._window
        parts = []
        before = 0  # examples of the shards so far
        for shard in shards:
            low, high = max(begin - before, 0), min(end - before, shard.examples)
            if low < high:
                parts.append(self._prepared.load(shard)[low:high])
            before += shard.examples
        return Rows.join(parts)

    def _arrange(self, rows: Rows, place: Position) -> list[Ints]:
        shapes = rows.shapes(is_flat=self._prepared.is_flat)
        if not self._shuffle:
            return bucket(shapes, self._batch_tokens)
        # Counted from 1: a generator takes the seeds (s, e) and (s, e, 0) for the same.
        generator = np.random.default_rng([self._seed, place.epoch, place.window + 1])
        mixed = generator.permutation(len(rows))
        batches = [mixed[batch] for batch in bucket(shapes[mixed], self._batch_tokens)]
        return [batches[index] for index in generator.permutation(len(batches))]
