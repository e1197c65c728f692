"""Columns give back the examples they were made of, and their shapes are those counted one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hiersum.data.columns import Rows, from_bytes, to_bytes
from hiersum.types import Example

IDS = st.lists(st.integers(0, 32_000), max_size=9).map(tuple)
NUMBERS = st.floats(0, 1)


@st.composite
def examples(draw: st.DrawFn) -> Example:
    paragraphs = draw(st.lists(IDS, min_size=1, max_size=4))
    number = len(paragraphs)
    places = st.lists(st.integers(-1, 50), min_size=number, max_size=number).map(tuple)
    edges = st.tuples(st.integers(0, number - 1), st.integers(0, number - 1), NUMBERS)
    return Example(
        id=draw(st.text(st.characters(codec="utf-8"), max_size=5)),
        title=draw(st.text(st.characters(codec="utf-8"), max_size=5)),
        paragraph_ids=tuple(paragraphs),
        documents=draw(places),
        positions=draw(places),
        scores=draw(st.lists(NUMBERS, min_size=number, max_size=number).map(tuple)),
        graph=draw(st.lists(edges, max_size=5).map(tuple)),
        target_ids=draw(st.none() | IDS),
        target=draw(st.none() | st.text(st.characters(codec="utf-8"), max_size=5)),
    )


@given(st.lists(examples(), max_size=6))
def test_examples_come_back_as_they_were_and_are_written_alike(made: list[Example]) -> None:
    data = to_bytes(made)
    assert from_bytes(data).examples() == made
    assert to_bytes(made) == data


@given(st.lists(examples(), min_size=2, max_size=6), st.randoms())
def test_rows_are_taken_cut_and_joined_like_a_list(made: list[Example], random: object) -> None:
    rows = from_bytes(to_bytes(made))
    order = list(range(len(made)))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert rows.examples(order) == [made[index] for index in order]
    assert Rows.join([rows[1:], rows[:1]]).examples() == made[1:] + made[:1]
    assert len(rows[1:]) == len(made) - 1


@given(st.lists(examples(), max_size=6), st.integers(0, 3))
def test_shapes_are_those_of_the_examples(made: list[Example], start: int) -> None:
    """Also of a part of a table, whose columns begin in the middle of their values."""
    rows = from_bytes(to_bytes(made))[start:]
    lengths = [[len(ids) for ids in example.paragraph_ids] for example in made[start:]]
    targets = [len(example.target_ids or ()) for example in made[start:]]
    grid = [(len(each), max(each), target) for each, target in zip(lengths, targets)]
    flat = [(1, sum(each), target) for each, target in zip(lengths, targets)]
    np.testing.assert_array_equal(rows.shapes(is_flat=False), np.array(grid).reshape(-1, 3))
    np.testing.assert_array_equal(rows.shapes(is_flat=True), np.array(flat).reshape(-1, 3))
