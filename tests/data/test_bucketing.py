"""Batches hold every example once, keep their bound, and are padded less than a random order's."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hiersum.data.bucketing import bucket, bucket_examples, cut, padded_size
from hiersum.types import Example

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
