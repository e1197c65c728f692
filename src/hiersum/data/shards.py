"""Prepared sets: training examples on disk, as Parquet files.

    manifest.json         settings, fingerprints, and the size and checksum of each shard
    part-00000.parquet    examples, one per row
    tokenizer.model       the SentencePiece model of the ids
    ranker.*              the trained ranker that chose the paragraphs, if one did

Each file is written under a temporary name and then renamed, and the manifest lists only complete
shards. A shard's checksum is verified whenever it is read.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiersum.config.loader import build_section
from hiersum.data.files import write_atomically, write_json
from hiersum.errors import ConfigError, DataError
from hiersum.ranking.ranker import RANKER_FILES
from hiersum.types import Example

if TYPE_CHECKING:  # pyarrow is loaded only where shards are read or written
    import pyarrow as pa

Ints = NDArray[np.int64]
FORMAT = 1
MANIFEST, TOKENIZER = "manifest.json", "tokenizer.model"
_AGAIN = "run the same hiersum prepare again to rebuild it"
_EDGE = ("row", "column", "weight")
_REQUIRED = ("id", "title", "paragraph_ids", "documents", "positions", "scores", "graph")


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """One file of examples, as recorded in the manifest."""

    name: str
    examples: int
    paragraphs: int
    source_tokens: int
    target_tokens: int
    skipped: int
    """Clusters that could not be used."""
    bytes: int
    checksum: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """The contents of a prepared set, and what it was made from."""

    config: Mapping[str, Any]
    """The settings that determine the examples."""
    tokenizer: str
    """Fingerprint of the tokenizer."""
    ranker: str | None
    """Fingerprint of the trained ranker, if one was used."""
    sources: Sequence[Mapping[str, Any]]
    """Name and checksum of each corpus."""
    shards: tuple[Shard, ...] = ()
    complete: bool = False
    totals: Mapping[str, int] = field(default_factory=dict)

    def with_shards(self, shards: Sequence[Shard], *, complete: bool) -> Manifest:
        """Return the manifest with these shards, in order, and their totals."""
        names = [f.name for f in dataclasses.fields(Shard) if f.name not in ("name", "checksum")]
        return dataclasses.replace(
            self,
            shards=tuple(sorted(shards, key=lambda shard: shard.name)),
            complete=complete,
            totals={name: sum(getattr(shard, name) for shard in shards) for name in names},
        )

    def write(self, folder: Path) -> None:
        """Write the manifest into its folder, replacing an earlier one."""
        record = {"format": FORMAT, "library": "hiersum", **dataclasses.asdict(self)}
        write_json(folder / MANIFEST, record)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a prepared set, finished or not."""
        path = folder / MANIFEST
        try:
            record = json.loads(path.read_bytes())
        except FileNotFoundError as error:
            raise DataError(
                f"{folder}: not a prepared set, it has no {MANIFEST}; make one with: hiersum prepare"
            ) from error
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror})") from error
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}: damaged, not valid JSON; prepare the set again") from error
        found = record.pop("format", None) if isinstance(record, dict) else None
        if found != FORMAT:
            raise DataError(
                f"{path}: format {found!r}, but this version of hiersum reads {FORMAT}; "
                "prepare the set again"
            )
        try:
            del record["library"]
            shards = [build_section(Shard, shard, "shards.") for shard in record.pop("shards")]
            manifest = cls(**record, shards=tuple(typing.cast(list[Shard], shards)))
            if not isinstance(manifest.config["model"]["architecture"], str):
                raise TypeError("config")
        except (KeyError, TypeError, AttributeError, ConfigError) as error:
            raise DataError(f"{path}: a field is missing or unknown ({error})") from error
        for shard in manifest.shards:
            if Path(shard.name).name != shard.name:
                raise DataError(f"{path}: {shard.name!r} does not name a file in its folder")
        return manifest


class PreparedSet:
    """A complete prepared set."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest

    @classmethod
    def open(cls, folder: Path | str) -> PreparedSet:
        """Open a prepared set that is finished and complete."""
        folder = Path(folder)
        manifest = Manifest.read(folder)
        if not manifest.complete:
            raise DataError(f"{folder}: unfinished; run the same hiersum prepare again to resume")
        prepared = cls(folder, manifest)
        for path in (prepared.tokenizer_path, *(folder / shard.name for shard in manifest.shards)):
            if not os.path.isfile(path):  # unlike Path.is_file, this never raises
                raise DataError(f"{path}: no such file, but {MANIFEST} names it; {_AGAIN}")
        return prepared

    def __len__(self) -> int:
        return sum(shard.examples for shard in self.manifest.shards)

    @property
    def tokenizer_path(self) -> Path:
        """The tokenizer of the ids."""
        return self.folder / TOKENIZER

    @property
    def ranker_paths(self) -> tuple[Path, ...]:
        """The files of the trained ranker that chose the paragraphs, if one did."""
        paths = (self.folder / name for name in RANKER_FILES)
        return tuple(path for path in paths if path.is_file())

    @property
    def is_flat(self) -> bool:
        """Whether the examples are for a flat network."""
        return bool(self.manifest.config["model"]["architecture"] != "ht")

    def read(self) -> Iterator[Example]:
        """Yield all examples in order."""
        for shard in self.manifest.shards:
            yield from self.load(shard).examples()

    def load(self, shard: Shard) -> Rows:
        """Return the rows of one shard, after verifying its checksum."""
        import pyarrow as pa

        try:
            rows = from_bytes(read_shard(self.folder, shard))
            if empty := [n for n in _REQUIRED if rows.table[n].null_count]:
                raise ValueError(f"no value for {empty[0]}")
            return rows
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = str(error).split("\n")[0][:200]
            raise DataError(f"{self.folder / shard.name}: damaged ({reason}); {_AGAIN}") from error


def write_shard(folder: Path, name: str, examples: Sequence[Example], *, skipped: int) -> Shard:
    """Write examples as one shard and return its entry in the manifest."""
    data = to_bytes(examples)
    with write_atomically(folder / name) as file:
        file.write(data)
    return Shard(
        name=name,
        examples=len(examples),
        paragraphs=sum(len(example.paragraph_ids) for example in examples),
        source_tokens=sum(len(ids) for example in examples for ids in example.paragraph_ids),
        target_tokens=sum(len(example.target_ids or ()) for example in examples),
        skipped=skipped,
        bytes=len(data),
        checksum=hashlib.sha256(data).hexdigest(),
    )


def read_shard(folder: Path, shard: Shard) -> bytes:
    """Return the bytes of a shard, which must match the checksum in the manifest."""
    path = folder / shard.name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); {_AGAIN}") from error
    if hashlib.sha256(data).hexdigest() != shard.checksum:
        raise DataError(f"{path}: damaged, its checksum is not the one in {MANIFEST}; {_AGAIN}")
    return data


class Rows:
    """Examples as Arrow columns: a tenth of the memory of objects, which are made on demand."""

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

        For flat networks, all paragraphs of an example count as one.
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
    """Return examples as a Parquet file; equal examples give equal bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    table = pa.Table.from_pylist([_record(example) for example in examples], _schema())
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def from_bytes(data: bytes) -> Rows:
    """Return the examples of a Parquet file."""
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
    record = {column.name: getattr(example, column.name) for column in dataclasses.fields(Example)}
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
