"""Read and write files: lines, plain or gzip, Parquet, pictures, checksums, and atomic writes."""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import count, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hiersum.data.records import parse_json
from hiersum.errors import DataError, InputError, check_extra
from hiersum.jobs.atomic import replacing

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

MAX_RECORD_BYTES = 128_000_000
"""Limit for one cluster; guards against gzip bombs."""
_GZIP = b"\x1f\x8b"
_ROWS_AT_A_TIME = 256
_PICTURES = (".svg", ".png", ".pdf")


def read_lines(path: Path, *, keep_blank: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a plain or gzip file, numbered from 1; blank lines are skipped."""
    with open_binary(path) as file:
        before = _state(file.fileno())
        for number in count(1):
            with _damage_of(path, f"after line {number - 1}"):
                line = file.readline(MAX_RECORD_BYTES)
            if not line:
                _check_unchanged(path, before, _state(file.fileno()))
                return
            if len(line) == MAX_RECORD_BYTES:
                raise DataError(f"{path}:{number}: a line of more than {MAX_RECORD_BYTES:,} bytes")
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if keep_blank or line.strip():
                yield number, line.rstrip(b"\r\n")


def read_whole(path: Path) -> bytes:
    """Return the content of a plain or gzip file, which must fit in memory."""
    with open_binary(path) as file, _damage_of(path, "on the way"):
        data = file.read(MAX_RECORD_BYTES)
    if len(data) == MAX_RECORD_BYTES:
        raise DataError(f"{path}: more than {MAX_RECORD_BYTES:,} bytes; write it as .jsonl")
    return data


def _state(file: int | Path) -> tuple[int, int] | None:
    """Return what changes when someone writes to a file; nothing for a pipe."""
    found = os.stat(file)
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _check_unchanged(path: Path, before: object, now: object) -> None:
    if now != before:
        raise DataError(f"{path}: changed while it was read; run this again when it is complete")


@contextmanager
def _damage_of(path: Path, where: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: damaged gzip file {where} ({error})") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error


def open_binary(path: Path) -> IO[bytes]:
    """Open a file for reading. Gzip is detected by its magic bytes and unpacked."""
    try:
        file = path.open("rb")
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: cannot be read ({reason})") from error
    if file.peek(2).startswith(_GZIP):
        file.close()
        return gzip.open(path, "rb")  # type: ignore[return-value]
    if path.name.lower().endswith(".gz"):
        file.close()
        raise DataError(f"{path}: damaged gzip file, or not one; if it is plain, drop the .gz")
    return file


def check_parquet() -> None:
    """Refuse Parquet files if the package that reads and writes them is missing."""
    check_extra("reading or writing Parquet", "parquet", "pyarrow")


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file as records, a batch at a time."""
    check_parquet()
    import pyarrow as pa
    import pyarrow.parquet as pq

    open_binary(path).close()
    try:
        before = _state(path)
        # Reading a damaged file through a memory map can crash; plain reads raise.
        with pq.ParquetFile(path, memory_map=False) as file:
            missing = [c for c in columns or () if c not in file.schema_arrow.names]
            if missing:
                raise DataError(
                    f"{path}: no column {', '.join(missing)}; it has "
                    f"{', '.join(file.schema_arrow.names)}"
                )
            for batch in file.iter_batches(batch_size=_ROWS_AT_A_TIME, columns=columns):
                yield from batch.to_pylist()
        _check_unchanged(path, before, _state(path))
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        reason = str(error).split("\n")[0][:200]
        raise DataError(f"{path}: damaged Parquet file ({reason})") from error


def parquet_rows(path: Path) -> int | None:
    """Return the number of rows in a Parquet file; None if it cannot be opened."""
    check_parquet()
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        num_rows: int = pq.read_metadata(path).num_rows
    except (pa.ArrowException, OSError):
        return None  # reading the file raises a proper error
    return num_rows


def read_json(path: Path) -> Any:
    """Return the value in a JSON file."""
    return parse_json(read_whole(path), str(path))


def write_json(path: Path, value: Any) -> None:
    """Write a value as a JSON file, atomically."""
    with write_atomically(path) as file:
        file.write(json.dumps(value, indent=2).encode() + b"\n")


@contextmanager
def write_atomically(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that is renamed once everything is written, and removed on error.

    Links are followed; a device or a pipe is written to directly.
    """
    target = path.resolve()
    is_special = target.exists() and not target.is_file()
    try:
        with (
            nullcontext(target) if is_special else replacing(target) as place,
            place.open("wb") as file,
        ):
            yield file
    except OSError as error:
        hint = "" if target.parent.is_dir() else "; make its folder first"
        raise InputError(f"{path}: cannot be written ({error.strerror}){hint}") from error


def write_parquet(path: Path, records: Iterable[Mapping[str, Any]], schema: pa.Schema) -> int:
    """Write records as a Parquet file, a batch at a time; return how many."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    rest = iter(records)
    with (
        write_atomically(path) as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        while rows := list(islice(rest, _ROWS_AT_A_TIME)):
            writer.write_table(pa.Table.from_pylist(rows, schema))
            number += len(rows)
    return number


def check_picture(path: Path) -> None:
    """Refuse a name for a picture that cannot be drawn, or any if matplotlib is missing."""
    if path.suffix.lower() not in _PICTURES:
        raise InputError(f"{path}: give the picture a name that ends in {', '.join(_PICTURES)}")
    check_extra("drawing", "train", "matplotlib")


def write_picture(figure: Figure, path: Path) -> Path:
    """Write a figure in the format of the path's suffix; equal figures give equal bytes."""
    import matplotlib

    kind = path.suffix[1:].lower()
    with (
        write_atomically(path) as file,
        matplotlib.rc_context({"svg.hashsalt": "hiersum"}),
    ):
        figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return path


def style_axes(axes: Any, title: str, label: str) -> None:
    """Give a plot its title, the label below it, a light grid, and no box."""
    ink = "#333333"
    axes.set_title(title, fontsize=10, color=ink, loc="left")
    axes.set_xlabel(label, fontsize=8, color=ink)
    axes.tick_params(labelsize=8, colors=ink)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def checksum(paths: Iterable[Path]) -> str:
    """Return one checksum of the names and contents of files."""
    digest = hashlib.sha256()
    for path in paths:
        with open_binary(path) as file:
            content = hashlib.file_digest(file, "sha256")  # type: ignore[arg-type]
        digest.update(f"{path.name} {content.hexdigest()}\n".encode())
    return digest.hexdigest()


def make_folder(folder: Path) -> None:
    """Make a folder if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made a folder ({error.strerror})") from error


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes; the lock is freed when this process ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(
                f"{folder}: another hiersum process is using it; wait until it has finished"
            ) from error
        yield
    finally:
        os.close(descriptor)
