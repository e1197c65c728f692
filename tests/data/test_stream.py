"""A stream gives every example once an epoch, and its order is a matter of the seed alone."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_sets import made_up_examples, write_set

from hiersum.data.bucketing import padded_size
from hiersum.data.shards import PreparedSet
from hiersum.data.stream import BatchStream, Position
from hiersum.errors import DataError
from hiersum.types import Example

EXAMPLES = made_up_examples(60)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedSet:
    return write_set(tmp_path_factory.mktemp("set"), EXAMPLES, shard_size=7)


def stream(prepared: PreparedSet, **options: object) -> BatchStream:
    settings = {"batch_tokens": 600, "window": 16, "seed": 5, **options}
    return BatchStream(prepared, **settings)  # type: ignore[arg-type]


def ids(batches: list[tuple[list[Example], Position]]) -> list[list[str]]:
    return [[example.id for example in examples] for examples, _ in batches]


OPTIONS = st.fixed_dictionaries(
    {
        "batch_tokens": st.integers(1, 4_000),
        "window": st.integers(1, 80),
        "seed": st.integers(0, 3),
        "shuffle": st.booleans(),
    }
)


@settings(max_examples=15)
@given(options=OPTIONS)
def test_every_epoch_has_every_example_once_as_it_was(
    prepared: PreparedSet, options: dict[str, int]
) -> None:
    batches = list(stream(prepared, **options, epochs=3))
    ends = [place.epoch for _, place in batches]
    for epoch in range(3):
        # A batch belongs to the epoch in which it begins; the last one's place is already the next.
        begins = [0, *ends[:-1]]
        own = [batch for (batch, _), begin in zip(batches, begins) if begin == epoch]
        found = sorted((e for batch in own for e in batch), key=lambda e: int(e.id[1:]))
        assert found == EXAMPLES
    assert batches[-1][1] == Position(epoch=3, number=len(batches))


@settings(max_examples=15)
@given(options=OPTIONS)
def test_the_padded_size_of_a_batch_keeps_the_bound(
    prepared: PreparedSet, options: dict[str, int]
) -> None:
    for examples, _ in stream(prepared, **options, epochs=1):
        shapes = [
            (len(e.paragraph_ids), max(map(len, e.paragraph_ids)), len(e.target_ids or ()))
            for e in examples
        ]
        assert len(examples) == 1 or padded_size(np.array(shapes)) <= options["batch_tokens"]


@settings(max_examples=15)
@given(options=OPTIONS, stop=st.integers(1, 150))
def test_a_stream_continues_exactly_from_any_place(
    prepared: PreparedSet, options: dict[str, int], stop: int
) -> None:
    whole = list(islice(stream(prepared, **options), stop + 40))
    place = whole[stop - 1][1]
    assert list(islice(stream(prepared, **options, start=place), 40)) == whole[stop:]


@settings(max_examples=15)
@given(options=OPTIONS, num_parts=st.integers(2, 4), rounds=st.integers(1, 30))
def test_the_parts_of_a_stream_interleaved_are_the_stream(
    prepared: PreparedSet, options: dict[str, int], num_parts: int, rounds: int
) -> None:
    whole = list(islice(stream(prepared, **options), num_parts * rounds))
    parts = [
        list(islice(stream(prepared, **options, part=part, num_parts=num_parts), rounds))
        for part in range(num_parts)
    ]
    interleaved = [batch for together in zip(*parts) for batch in together]
    assert ids(interleaved) == ids(whole)
    for number, together in enumerate(zip(*parts), start=1):
        places = {place for _, place in together}
        assert places == {whole[number * num_parts - 1][1]}, "all know the place after the round"


def test_parts_continue_from_the_place_that_any_of_them_gave(prepared: PreparedSet) -> None:
    parts = [list(islice(stream(prepared, part=part, num_parts=2), 50)) for part in range(2)]
    for stop in (1, 2, 17, 30):
        place = parts[0][stop - 1][1]
        for part in range(2):
            again = stream(prepared, part=part, num_parts=2, start=place)
            assert list(islice(again, 20)) == parts[part][stop : stop + 20]


def test_the_parts_of_one_epoch_have_every_example_once(prepared: PreparedSet) -> None:
    found = Counter(
        example.id
        for part in range(3)
        for examples, _ in stream(prepared, part=part, num_parts=3, epochs=1, shuffle=False)
        for example in examples
    )
    assert found == Counter(example.id for example in EXAMPLES)


def test_seeds_and_epochs_differ_in_order_and_one_seed_does_not(prepared: PreparedSet) -> None:
    first, again, other = (ids(list(stream(prepared, seed=seed, epochs=1))) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    two = list(stream(prepared, seed=1, epochs=2))
    num_first = len(list(takewhile(lambda batch: batch[1].epoch == 0, two))) + 1
    assert ids(two[:num_first]) == first
    assert ids(two[num_first:]) != first


def test_windows_take_from_shards_in_random_order(prepared: PreparedSet) -> None:
    """The first window of sixteen examples is of three shards of seven, not of the first three."""
    starts = []
    for seed in range(8):
        window = takewhile(lambda batch: batch[1].window == 0, stream(prepared, seed=seed))
        found = [int(example.id[1:]) // 7 for examples, _ in window for example in examples]
        assert len(set(found)) <= 3
        starts.append(frozenset(found))
    assert len(set(starts)) > 4


def test_unshuffled_windows_are_in_the_order_of_the_set(prepared: PreparedSet) -> None:
    batches = list(stream(prepared, shuffle=False, epochs=1))
    windows: dict[int, list[int]] = {}
    window = 0
    for examples, place in batches:
        windows.setdefault(window, []).extend(int(example.id[1:]) for example in examples)
        window = place.window
    assert [sorted(found) for found in windows.values()] == [
        list(range(16)), list(range(16, 32)), list(range(32, 48)), list(range(48, 60))
    ]  # fmt: skip


def test_resuming_opens_only_the_shards_of_its_window(tmp_path: Path) -> None:
    prepared = write_set(tmp_path, EXAMPLES, shard_size=10)
    options = {"window": 10, "batch_tokens": 400, "shuffle": False}
    place = next(p for _, p in stream(prepared, **options) if p.window == 3 and p.batch == 1)
    for number in (0, 1, 2, 4, 5):
        (tmp_path / f"part-0000{number}.parquet").write_bytes(b"damaged")
    examples, _ = next(iter(stream(prepared, **options, start=place)))
    assert {int(example.id[1:]) // 10 for example in examples} == {3}


def test_sources_of_flat_networks_are_as_long_as_all_their_paragraphs(tmp_path: Path) -> None:
    prepared = write_set(tmp_path, EXAMPLES, shard_size=10, architecture="ft")
    for examples, _ in stream(prepared, batch_tokens=1_000, epochs=1):
        longest = max(sum(map(len, example.paragraph_ids)) for example in examples)
        target = max(len(example.target_ids or ()) for example in examples)
        assert len(examples) == 1 or len(examples) * (longest + target) <= 1_000


def test_a_place_of_other_settings_and_an_empty_set_are_refused(
    prepared: PreparedSet, tmp_path: Path
) -> None:
    for place in (Position(window=0, batch=500), Position(window=9)):
        with pytest.raises(DataError, match="cannot continue at Position.*begin anew"):
            next(iter(stream(prepared, start=place)))
    with pytest.raises(DataError, match="there are no examples in it"):
        stream(write_set(tmp_path, [], shard_size=1))


def peak_bytes(prepared: PreparedSet) -> int:
    gc.collect()
    tracemalloc.start()
    most_arrow = 0
    for _ in stream(prepared, window=40, batch_tokens=5_000, epochs=1):
        most_arrow = max(most_arrow, pa.total_allocated_bytes())
    most_python = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most_python + most_arrow


def test_memory_does_not_grow_with_the_set(tmp_path: Path) -> None:
    """Python's and Arrow's memory together: of nine hundred examples more, hardly any is held.

    Not as a ratio: both peaks are half a megabyte, and what other tests left in the process may move
    them by a part of that.
    """
    long = [replace(e, paragraph_ids=(tuple(range(400)),) * 4) for e in made_up_examples(1_000)]
    small = write_set(tmp_path / "small", long[:100], shard_size=20)
    large = write_set(tmp_path / "large", long, shard_size=20)
    peak_bytes(small)  # what is loaded once is not counted
    size_of_the_rest = 8 * sum(len(ids) for e in long[100:] for ids in e.paragraph_ids)
    assert peak_bytes(large) - peak_bytes(small) < 0.05 * size_of_the_rest
