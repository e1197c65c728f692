"""Prepared sets give back what was put in, and refuse what is not whole."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import random
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prepared_sets import made_up_examples, write_set

from hiersum.data.shards import Manifest, PreparedSet, Rows, from_bytes, to_bytes
from hiersum.errors import DataError
from hiersum.types import Example


def test_a_set_gives_back_its_examples_and_counts_them(tmp_path: Path) -> None:
    examples = made_up_examples(23)
    prepared = write_set(tmp_path, examples, shard_size=10)
    assert len(prepared) == 23
    assert list(prepared.read()) == examples
    totals = prepared.manifest.totals
    assert totals["examples"] == 23
    assert totals["paragraphs"] == sum(len(example.paragraph_ids) for example in examples)
    assert totals["source_tokens"] == sum(len(i) for e in examples for i in e.paragraph_ids)
    assert totals["target_tokens"] == sum(len(e.target_ids or ()) for e in examples)
    assert totals["bytes"] == sum(path.stat().st_size for path in tmp_path.glob("part-*"))
    assert prepared.ranker_paths == ()
    (tmp_path / "ranker.json").write_text("{}")
    assert prepared.ranker_paths == (tmp_path / "ranker.json",)


def test_a_flipped_bit_anywhere_in_a_shard_is_refused(tmp_path: Path) -> None:
    prepared = write_set(tmp_path, made_up_examples(8), shard_size=4)
    path = tmp_path / "part-00001.parquet"
    whole = path.read_bytes()
    draw = random.Random(3)
    for place in draw.sample(range(len(whole)), 60):
        data = bytearray(whole)
        data[place] ^= 1 << draw.randrange(8)
        path.write_bytes(data)
        reader = prepared.read()
        for _ in range(4):
            next(reader)
        with pytest.raises(DataError, match=r"part-00001\.parquet: damaged, its checksum is not"):
            next(reader)
    path.write_bytes(whole[:-1])
    with pytest.raises(DataError, match="run the same hiersum prepare again to rebuild it"):
        list(prepared.read())


@pytest.mark.parametrize("name", ["part-00001.parquet", "tokenizer.model"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    prepared = write_set(tmp_path, made_up_examples(8), shard_size=4)
    (tmp_path / name).unlink()
    with pytest.raises(DataError, match=re.escape(name) + r": no such file, but manifest\.json"):
        PreparedSet.open(tmp_path)
    if name != "tokenizer.model":
        with pytest.raises(DataError, match=r"cannot be read \(No such file or directory\)"):
            list(prepared.read())


def test_an_unfinished_set_is_refused(tmp_path: Path) -> None:
    prepared = write_set(tmp_path, made_up_examples(3), shard_size=4)
    prepared.manifest.with_shards((), complete=False).write(tmp_path)
    with pytest.raises(DataError, match="unfinished; run the same hiersum prepare again"):
        PreparedSet.open(tmp_path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "not a prepared set, it has no manifest.json; make one with: hiersum prepare"),
        (b"{", "manifest.json: damaged, not valid JSON"),
        (b"\xff", "manifest.json: damaged, not valid JSON"),
        (b"[]", "manifest.json: format None, but this version of hiersum reads 1"),
        (b'{"format": 2}', "manifest.json: format 2, but this version of hiersum reads 1"),
        (b'{"format": 1, "library": "x"}', "manifest.json: a field is missing or unknown"),
        (b"[" * 100_000, "manifest.json: damaged, not valid JSON"),
    ],
)
def test_what_is_no_manifest_is_refused(
    tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(DataError, match=re.escape(sentence)):
        PreparedSet.open(tmp_path)


def test_a_manifest_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(DataError, match=r"manifest\.json: cannot be read \(Is a directory\)"):
        PreparedSet.open(tmp_path)


def test_an_unknown_field_of_a_manifest_is_refused(tmp_path: Path) -> None:
    write_set(tmp_path, made_up_examples(3), shard_size=4)
    record = json.loads((tmp_path / "manifest.json").read_text())
    record["shards"][0]["colour"] = "red"
    (tmp_path / "manifest.json").write_text(json.dumps(record))
    with pytest.raises(DataError, match="a field is missing or unknown .*colour"):
        Manifest.read(tmp_path)


@pytest.mark.parametrize(
    ("field", "content", "sentence"),
    [
        ("name", "../part-00000.parquet", "does not name a file in its folder"),
        ("name", {}, "shards.name must be str"),
        ("name", "a" * 300, "no such file"),
        ("examples", "many", "shards.examples must be int"),
    ],
)
def test_manifest_refuses_shards_that_are_none(
    tmp_path: Path, field: str, content: object, sentence: str
) -> None:
    write_set(tmp_path, made_up_examples(3), shard_size=4)
    record = json.loads((tmp_path / "manifest.json").read_text())
    record["shards"][0][field] = content
    (tmp_path / "manifest.json").write_text(json.dumps(record))
    with pytest.raises(DataError, match=sentence):
        PreparedSet.open(tmp_path)


@pytest.mark.parametrize("kind", ["no Parquet", "no id"])
def test_prepared_set_refuses_a_damaged_shard_though_its_checksum_is_right(
    tmp_path: Path, kind: str
) -> None:
    prepared = write_set(tmp_path, made_up_examples(3), shard_size=4)
    data = b"PAR1 no Parquet"
    if kind == "no id":
        table = from_bytes((tmp_path / "part-00000.parquet").read_bytes()).table
        empty = pa.nulls(len(table), table.schema.field("id").type)
        file = io.BytesIO()
        pq.write_table(table.set_column(0, table.schema.field("id"), empty), file)
        data = file.getvalue()
    (tmp_path / "part-00000.parquet").write_bytes(data)
    checksum = hashlib.sha256(data).hexdigest()
    shard = dataclasses.replace(prepared.manifest.shards[0], checksum=checksum)
    with pytest.raises(DataError, match=r"part-00000\.parquet: damaged \(.*\); run the same"):
        prepared.load(shard)


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
