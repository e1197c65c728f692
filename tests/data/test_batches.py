"""Examples as tensors: nothing is lost, and a graph is dense again."""

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
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_sets import made_up_examples, write_set

from hiersum.data.batches import (
    BatchStream,
    Position,
    bucket,
    bucket_examples,
    collate,
    cut,
    padded_size,
)
from hiersum.data.shards import PreparedSet
from hiersum.errors import DataError
from hiersum.types import Example


def make_example(graph: tuple = (), target: tuple | None = (2, 7, 3)) -> Example:  # type: ignore[type-arg]
    return Example("x", "t", ((5, 6), (7, 8, 9)), (0, 0), (0, 1), (1.0, 0.5), graph, target)


def test_sources_and_targets_are_joined() -> None:
    batch = collate([make_example(), make_example(target=(2, 3))])
    assert batch.source_R.tolist() == [5, 6, 7, 8, 9] * 2
    assert batch.paragraph_lengths == ((2, 3), (2, 3))
    assert batch.target_lengths == (2, 1)
    assert batch.graphs is not None
    assert not any(graph.any() for graph in batch.graphs), "no edges, but a graph to attend by"


def test_targets_are_left_out_where_one_is_missing() -> None:
    assert collate([make_example(), make_example(target=None)]).input_Y is None


def test_edges_become_a_matrix_and_missing_graphs_stay_empty() -> None:
    batch = collate([make_example(graph=((0, 1, 0.5), (1, 1, 1.0))), make_example()])
    assert batch.graphs is not None
    torch.testing.assert_close(batch.graphs[0], torch.tensor([[0, 0.5], [0, 1.0]]))
    torch.testing.assert_close(batch.graphs[1], torch.zeros(2, 2))


SHAPES = st.lists(
    st.tuples(st.integers(1, 25), st.integers(0, 100), st.integers(0, 400)), min_size=1, max_size=60
).map(np.array)


def by_hand(shapes: np.ndarray) -> int:
    """Fill a grid of paragraphs and a grid of targets with tokens, and count both."""
    paragraphs, tokens, targets = (max(column) for column in zip(*shapes.tolist()))
    return np.zeros((len(shapes), paragraphs, tokens)).size + np.zeros((len(shapes), targets)).size


@given(SHAPES)
def test_the_padded_size_is_that_of_the_tensors(shapes: np.ndarray) -> None:
    assert padded_size(shapes) == by_hand(shapes)


@given(SHAPES, st.integers(1, 20_000))
def test_every_example_is_in_one_batch_and_batches_keep_the_bound(
    shapes: np.ndarray, batch_tokens: int
) -> None:
    batches = bucket(shapes, batch_tokens)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(shapes)))
    for batch in batches:
        assert len(batch) == 1 or padded_size(shapes[batch]) <= batch_tokens


@given(SHAPES, st.integers(1, 20_000))
def test_batches_end_only_where_the_next_example_would_not_fit(
    shapes: np.ndarray, batch_tokens: int
) -> None:
    order = np.arange(len(shapes))
    batches = cut(shapes, order, batch_tokens)
    assert np.concatenate(batches).tolist() == order.tolist()
    for batch in batches[:-1]:
        longer = np.append(batch, batch[-1] + 1)
        assert padded_size(shapes[longer]) > batch_tokens


def test_examples_of_one_shape_keep_their_order() -> None:
    shapes = np.array([[2, 5, 3], [1, 4, 2]] * 4)
    assert np.concatenate(bucket(shapes, 1_000)).tolist() == [1, 3, 5, 7, 0, 2, 4, 6]


def test_like_shapes_together_are_padded_less_than_in_random_order() -> None:
    draw = np.random.default_rng(0)
    num_paragraphs = draw.integers(1, 26, 2_000)
    shapes = np.stack(
        [num_paragraphs, draw.integers(20, 101, 2_000), draw.integers(20, 300, 2_000)], axis=1
    )
    real = int((shapes[:, 0] * shapes[:, 1] + shapes[:, 2]).sum())

    def padding(batches: list[np.ndarray]) -> float:
        return 1 - real / sum(padded_size(shapes[batch]) for batch in batches)

    bucketed, random = bucket(shapes, 20_000), cut(shapes, draw.permutation(2_000), 20_000)
    assert padding(bucketed) < 0.2 < 0.5 < padding(random)
    assert len(bucketed) < len(random)


def test_examples_are_put_together_by_their_shapes() -> None:
    """Three of one shape and one that is far longer: the long one is alone."""
    short, long = ((1, 2), (3,)), tuple((1,) * 50 for _ in range(9))
    examples = [
        Example(id="", title="", paragraph_ids=ids, documents=(), positions=(), scores=())
        for ids in (short, long, short, short)
    ]
    assert bucket_examples(examples, batch_tokens=100) == [[0, 2, 3], [1]]
    assert bucket_examples([], batch_tokens=100) == []


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
        for examples, _ in stream(prepared, part=part, num_parts=3, epochs=1)
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


def test_resuming_opens_only_the_shards_of_its_window(tmp_path: Path) -> None:
    prepared = write_set(tmp_path, EXAMPLES, shard_size=10)
    options = {"window": 10, "batch_tokens": 400}
    place = next(p for _, p in stream(prepared, **options) if p.window == 3 and p.batch == 1)
    examples, _ = next(iter(stream(prepared, **options, start=place)))
    (number,) = {int(example.id[1:]) // 10 for example in examples}
    for other in set(range(6)) - {number}:
        (tmp_path / f"part-0000{other}.parquet").write_bytes(b"damaged")
    assert next(iter(stream(prepared, **options, start=place)))[0] == examples


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
        with pytest.raises(DataError, match="cannot resume at Position.*start a new run"):
            next(iter(stream(prepared, start=place)))
    with pytest.raises(DataError, match="contains no examples"):
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
