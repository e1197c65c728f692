"""Examples as Arrow columns: the form in which they lie in shards and wait in memory."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiersum.types import Example

if TYPE_CHECKING:  # pyarrow is loaded only where shards are read or written
    import pyarrow as pa

Ints = NDArray[np.int64]
_EDGE = ("row", "column", "weight")


class Rows:
    """Examples as columns, which take a tenth of their memory; one is made when it is asked for."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    @classmethod
    def join(cls, parts: Sequence[Rows]) -> Rows:
        """Return the rows of all parts, one after another."""
        import pyarrow as pa

        tables = [_schema().empty_table(), *(part.table for part in parts)]
        return cls(pa.concat_tables(tables).combine_chunks())

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, rows: slice) -> Rows:
        start, stop, _ = rows.indices(len(self))
        return Rows(self.table.slice(start, stop - start))

    def examples(self, indices: Sequence[int] | Ints | None = None) -> list[Example]:
        """Return the examples in these rows, or in all."""
        table = self.table if indices is None else self.table.take(np.asarray(indices, np.int64))
        return [_example(record) for record in table.to_pylist()]

    def shapes(self, *, is_flat: bool) -> Ints:
        """Return paragraphs, tokens of the longest paragraph and tokens of the target, per row.

        Args:
            is_flat: all paragraphs of an example are read as one.
        """
        import pyarrow.compute as pc

        num_paragraphs = _numbers(pc.list_value_length(self.table["paragraph_ids"]))
        lengths = _numbers(pc.list_value_length(pc.list_flatten(self.table["paragraph_ids"])))
        starts = np.cumsum(num_paragraphs) - num_paragraphs
        targets = _numbers(pc.fill_null(pc.list_value_length(self.table["target_ids"]), 0))
        if is_flat:
            sources = np.add.reduceat(lengths, starts) if len(self) else lengths
            return np.stack([np.ones_like(sources), sources, targets], axis=1)
        longest = np.maximum.reduceat(lengths, starts) if len(self) else lengths
        return np.stack([num_paragraphs, longest, targets], axis=1)


def to_bytes(examples: Sequence[Example]) -> bytes:
    """Return examples as a Parquet file; the same examples give the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    table = pa.Table.from_pylist([_record(example) for example in examples], _schema())
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def from_bytes(data: bytes) -> Rows:
    """Return the examples of a Parquet file, all at once, for it is one shard."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    return Rows(pq.read_table(pa.BufferReader(data), schema=_schema()))


@cache
def _schema() -> pa.Schema:
    import pyarrow as pa

    ids = pa.list_(pa.int32())
    edge = pa.struct(dict(zip(_EDGE, (pa.int32(), pa.int32(), pa.float64()))))
    return pa.schema(
        {
            "id": pa.string(),
            "title": pa.string(),
            "paragraph_ids": pa.list_(ids),
            "documents": ids,
            "positions": ids,
            "scores": pa.list_(pa.float64()),
            "graph": pa.list_(edge),
            "target_ids": ids,
            "target": pa.string(),
            "boundaries": pa.list_(ids),
            "plans": pa.list_(ids),
        }
    )


def _record(example: Example) -> dict[str, Any]:
    record = {column.name: getattr(example, column.name) for column in fields(Example)}
    return record | {"graph": [dict(zip(_EDGE, edge)) for edge in example.graph]}


def _example(record: dict[str, Any]) -> Example:
    target_ids = record["target_ids"]
    return Example(
        id=record["id"],
        title=record["title"],
        paragraph_ids=tuple(map(tuple, record["paragraph_ids"])),
        documents=tuple(record["documents"]),
        positions=tuple(record["positions"]),
        scores=tuple(record["scores"]),
        graph=tuple((edge["row"], edge["column"], edge["weight"]) for edge in record["graph"]),
        target_ids=None if target_ids is None else tuple(target_ids),
        target=record["target"],
        boundaries=tuple(map(tuple, record["boundaries"] or ())),
        plans=tuple(map(tuple, record["plans"] or ())),
    )


def _numbers(column: pa.ChunkedArray) -> Ints:
    return np.asarray(column.to_numpy(), dtype=np.int64)
