"""Rows in an Arrow file, written as they come and read one by one: processes share what is cached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from hiersum.data.files import write_atomically

_BATCH_ROWS = 64


def write_rows(
    rows: Iterable[Mapping[str, Any]], schema: Any, path: Path, *, is_packed: bool = False
) -> int:
    """Write rows as an Arrow file that a `RowStore` opens; return how many.

    Args:
        rows: as the schema has them.
        schema: Arrow's.
        path: takes its name when the file is whole.
        is_packed: by zstd: a quarter of the space, a little slower to read.
    """
    import pyarrow as pa

    number = 0
    options = pa.ipc.IpcWriteOptions(compression="zstd" if is_packed else None)
    remaining = iter(rows)
    with (
        write_atomically(path) as file,
        pa.ipc.new_file(file, schema, options=options) as writer,
    ):
        while batch := list(islice(remaining, _BATCH_ROWS)):
            columns = [pa.array([row[field.name] for row in batch], field.type) for field in schema]
            writer.write_batch(pa.record_batch(columns, schema=schema))
            number += len(batch)
    return number


class RowStore:
    """The rows of a file by number."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        self._reader = pa.ipc.open_file(pa.memory_map(str(path)))
        self._batch = lru_cache(maxsize=2)(self._reader.get_batch)
        num_batches = self._reader.num_record_batches
        last = self._reader.get_batch(num_batches - 1).num_rows if num_batches else 0
        self._length: int = max(num_batches - 1, 0) * _BATCH_ROWS + last

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, row: int) -> dict[str, Any]:
        if not 0 <= row < len(self):
            raise IndexError(row)
        batch = self._batch(row // _BATCH_ROWS)
        record: dict[str, Any] = batch.slice(row % _BATCH_ROWS, 1).to_pylist()[0]
        return record

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for number in range(self._reader.num_record_batches):
            yield from self._reader.get_batch(number).to_pylist()
