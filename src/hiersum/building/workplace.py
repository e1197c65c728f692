"""The folder of a build: its plan, finished parts, and rows on disk shared by workers.

A part's data is written before its tally, and every file is renamed into place once complete. A
killed run therefore resumes with the parts without a tally, and produces the same files.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hiersum.data.corpora import BUILDING
from hiersum.data.files import alone_in, make_folder, read_json, write_atomically, write_json
from hiersum.errors import InputError
from hiersum.jobs.parallel import Engine
from hiersum.jobs.progress import RESUME, keeping, tracked

Item = TypeVar("Item")
Tally = Counter[str]
"""Counts of one part; they can be summed over parts."""
_BATCH_ROWS = 64


@dataclass(frozen=True, slots=True)
class ClusterPart:
    """Consecutive articles whose clusters are written to one file."""

    name: str
    """`part-00000`, or `train/part-00000` in a build with splits."""
    start: int
    stop: int


def parts_between(start: int, stop: int, size: int, prefix: str = "") -> list[ClusterPart]:
    """Cut a range of articles into parts."""
    return [
        ClusterPart(f"{prefix}part-{number:05}", first, min(first + size, stop))
        for number, first in enumerate(range(start, stop, size))
    ]


@dataclass(frozen=True, slots=True)
class Workplace:
    """The files of a build, and how it starts, resumes and ends."""

    out: Path

    @property
    def folder(self) -> Path:
        """Exists while the build is unfinished."""
        return self.out / BUILDING

    def part(self, kind: str, number: int, suffix: str) -> Path:
        """Return the path of a part's file in `articles`, `pages` or `counts`; make the folder."""
        folder = self.folder / kind
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{number:05}.{suffix}"

    def clusters_of(self, part: ClusterPart) -> Path:
        return self.out / f"{part.name}.parquet"

    def tally_of(self, part: ClusterPart) -> Path:
        return self.folder / f"{part.name.replace('/', '-')}.json"

    def build(
        self, plan: Mapping[str, Any], work: Callable[[], Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return the report of a finished build, or run the build and write its report."""
        report_path = self.out / "report.json"
        if report_path.exists():
            finished: dict[str, Any] = read_json(report_path)
            self._check_plan(finished.get("plan"), plan)
            shutil.rmtree(self.folder, ignore_errors=True)  # left by a run killed at the very end
            return finished
        if self.out.is_dir() and not self.folder.exists() and any(self.out.iterdir()):
            raise InputError(f"{self.out}: is not empty; give a new folder for the clusters")
        make_folder(self.out)
        make_folder(self.folder)
        with alone_in(self.out):
            plan_path = self.folder / "plan.json"
            if plan_path.exists():
                self._check_plan(read_json(plan_path), plan)
                for path in self.out.rglob(".*.partial"):
                    path.unlink()
            else:
                write_json(plan_path, plan)
            try:
                with keeping(f"finished parts are kept in {self.folder}: {RESUME}"):
                    report = {**work(), "plan": plan}
            except OSError as error:  # libraries that write arrays raise the system's own errors
                raise InputError(
                    f"{self.folder}: cannot be written ({error.strerror or error}); finished parts "
                    f"are kept: {RESUME}"
                ) from error
            write_json(report_path, report)  # marks the build as finished
            shutil.rmtree(self.folder)
        return report

    def _check_plan(self, found: Any, wanted: Mapping[str, Any]) -> None:
        if found == wanted:
            return
        found = found if isinstance(found, dict) else {}
        differing = [name for name, value in wanted.items() if found.get(name) != value]
        raise InputError(
            f"{self.out}: holds clusters built from another plan ({', '.join(differing)} differ); "
            "give another folder, or remove this one"
        )


def run_stage(
    engine: Engine,
    work: Callable[[Item], object],
    items: Sequence[Item],
    *,
    tally_of: Callable[[Item], Path],
    verb: str,
) -> Tally:
    """Process all items without a tally; return the sum of all tallies."""
    missing = [item for item in items if not tally_of(item).exists()]
    try:
        for _ in tracked(engine.run(work, missing), verb, len(missing)):
            pass
    except InputError as error:
        num_done = sum(tally_of(item).exists() for item in items)
        raise InputError(
            f"{error}; {num_done} of {len(items)} parts are finished and kept: {RESUME}"
        ) from error
    total: Tally = Counter()
    for path in map(tally_of, items):
        if not path.exists():
            raise InputError(
                f"{path}: was written on another machine; give an --out that all machines share"
            )
        total.update(read_json(path))
    return total


def save_array(array: NDArray[Any], path: Path) -> None:
    with write_atomically(path) as file:
        np.save(file, array)


def save_arrays(path: Path, **arrays: NDArray[Any]) -> None:
    """Write named arrays to one file, atomically."""
    with write_atomically(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that is renamed into place if the block raises no error."""
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    yield partial
    partial.rename(folder)


def write_rows(
    rows: Iterable[Mapping[str, Any]], schema: Any, path: Path, *, is_packed: bool = False
) -> None:
    """Write rows as an Arrow file for a `RowStore`; packed (zstd), it takes a quarter of the space."""
    import pyarrow as pa

    options = pa.ipc.IpcWriteOptions(compression="zstd" if is_packed else None)
    remaining = iter(rows)
    with (
        write_atomically(path) as file,
        pa.ipc.new_file(file, schema, options=options) as writer,
    ):
        while batch := list(islice(remaining, _BATCH_ROWS)):
            columns = [pa.array([row[field.name] for row in batch], field.type) for field in schema]
            writer.write_batch(pa.record_batch(columns, schema=schema))


class RowStore:
    """The rows of an Arrow file, read from disk on demand."""

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
