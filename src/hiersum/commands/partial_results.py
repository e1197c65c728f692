"""Results kept beside their future file while a run lasts, so that a killed run goes on.

`OUT.partial` holds JSON Lines: first the plan, which says what is made from what; then, for each cluster
as soon as it is done, its number and its result or what was wrong with it. A line that a kill cut off is
dropped. The finished file is written in the clusters' order and takes its name when it is whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from hiersum.data.files import alone_in, write_atomically
from hiersum.errors import InputError
from hiersum.text.formats import kind_of

_ROWS_AT_A_TIME = 256


class PartialResults:
    """The results so far of a run."""

    def __init__(self, target: Path, file: IO[bytes], plan: Mapping[str, Any]) -> None:
        self._target = target
        self._file = file
        self._places: dict[int, int] = {}
        self.errors: dict[int, str] = {}
        self._resume(plan)

    @classmethod
    @contextmanager
    def open(cls, target: Path, plan: Mapping[str, Any]) -> Iterator[PartialResults]:
        """Begin the results of a run, or go on with those of one that was interrupted.

        Args:
            target: where the finished file goes.
            plan: what is made from what, as JSON.

        Raises:
            InputError: the place cannot be written to, another run is at work on it, or the results so
                far were made with another plan.
        """
        path = cls.path_of(target)
        try:
            file = path.open("a+b")
        except OSError as error:
            hint = "" if target.parent.is_dir() else "; make its folder first"
            raise InputError(f"{target}: cannot be written ({error.strerror}){hint}") from error
        with file, alone_in(path):
            results = cls(target, file, plan)
            try:
                yield results
            finally:
                if not len(results):
                    path.unlink(missing_ok=True)

    @staticmethod
    def path_of(target: Path) -> Path:
        """Return where the results of a target are kept while its run lasts."""
        return target.with_name(f"{target.name}.partial")

    def __contains__(self, number: int) -> bool:
        return number in self._places or number in self.errors

    def __len__(self) -> int:
        return len(self._places) + len(self.errors)

    def add(self, number: int, result: Mapping[str, Any]) -> None:
        """Keep the result of a cluster."""
        self._places[number] = self._append({"number": number, "result": result})

    def add_error(self, number: int, message: str) -> None:
        """Keep what was wrong with a cluster."""
        self._append({"number": number, "error": message})
        self.errors[number] = message

    def finish(self) -> int:
        """Write the target, remove the partial file, and return how many results there are."""
        if self._places:
            if kind_of(self._target) == ".parquet":
                self._write_parquet()
            else:
                with write_atomically(self._target) as file:
                    for record in self._records():
                        file.write(_line(record))
        self.path_of(self._target).unlink()
        return len(self._places)

    def _append(self, record: Mapping[str, Any]) -> int:
        place = self._file.seek(0, 2)
        self._file.write(_line(record))
        self._file.flush()
        return place

    def _resume(self, plan: Mapping[str, Any]) -> None:
        end = 0
        found: Any = None
        self._file.seek(0)
        for line in self._file:
            record = _parsed(line)
            if record is None:
                break
            if "plan" in record:
                found = record["plan"]
            elif "result" in record:
                self._places[record["number"]] = end
            else:
                self.errors[record["number"]] = record["error"]
            end += len(line)
        if found != plan and len(self):
            self._refuse(found, plan)
        self._file.truncate(end if found == plan else 0)
        if found != plan:
            self._append({"plan": plan})

    def _refuse(self, found: Any, wanted: Mapping[str, Any]) -> None:
        changed = [name for name in wanted if found.get(name) != wanted[name]]
        raise InputError(
            f"{self.path_of(self._target)}: was begun with another {' and '.join(changed)}; give "
            "another --output, or remove that file to begin anew"
        )

    def _records(self) -> Iterator[dict[str, Any]]:
        for number in sorted(self._places):
            self._file.seek(self._places[number])
            yield json.loads(self._file.readline())["result"]

    def _write_parquet(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = _schema()
        with (
            write_atomically(self._target) as file,
            pq.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            rows: list[dict[str, Any]] = []
            for record in self._records():
                rows.append(record)
                if len(rows) == _ROWS_AT_A_TIME:
                    writer.write_table(pa.Table.from_pylist(rows, schema))
                    rows = []
            writer.write_table(pa.Table.from_pylist(rows, schema))


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return the record of a whole line, None for one that was cut off."""
    if not line.endswith(b"\n"):
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _schema() -> Any:
    """The result line as Parquet columns, the same whatever the first rows hold."""
    import pyarrow as pa

    text, whole, real = pa.string(), pa.int64(), pa.float64()
    source = pa.struct({"document": whole, "paragraph": whole, "score": real})
    span = pa.struct({"text": text, "start": whole, "end": whole, "kind": text})
    place = {"other": text, "document": whole, "paragraph": whole}
    sentence = pa.struct(
        {
            "text": text,
            "sources": pa.list_(source),
            "unsupported": pa.list_(span),
            "conflicts": pa.list_(pa.struct([*span, *pa.struct(place)])),
        }
    )
    return pa.schema(
        {
            "id": text,
            "title": text,
            "summary": text,
            "sentences": pa.list_(sentence),
            "dropped": pa.list_(sentence),
            "documents": pa.list_(pa.struct({"name": text, "url": text})),
            "uncited": pa.list_(whole),
            "unread": pa.list_(pa.struct({"name": text, "reason": text, "document": whole})),
            "system": text,
            "model": text,
            "seconds": real,
        }
    )
