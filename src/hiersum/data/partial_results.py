"""The results of an unfinished run, so that it can be resumed.

`OUT.partial` holds JSON Lines: first the plan (the run's inputs and settings), then for each
finished cluster its number and its result or error. A line cut off by a kill is dropped. At the end
the results are written to `OUT` in the clusters' order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from hiersum.data.files import alone_in, check_parquet, write_atomically, write_parquet
from hiersum.errors import InputError
from hiersum.text.formats import kind_of


class PartialResults:
    """The results of a run so far."""

    def __init__(self, target: Path, file: IO[bytes], plan: Mapping[str, Any]) -> None:
        self._target = target
        self._file = file
        self._places: dict[int, int] = {}
        self.errors: dict[int, str] = {}
        self._resume(plan)

    @classmethod
    @contextmanager
    def open(cls, target: Path, plan: Mapping[str, Any]) -> Iterator[PartialResults]:
        """Start a run's results for `target`, or resume those of an interrupted one.

        `plan` is the run's inputs and settings; results of another plan are refused.
        """
        if kind_of(target) == ".parquet":
            check_parquet()  # before the work, not after it
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
        """Return the file that holds the results of an unfinished run."""
        return target.with_name(f"{target.name}.partial")

    def __contains__(self, number: int) -> bool:
        return number in self._places or number in self.errors

    def __len__(self) -> int:
        return len(self._places) + len(self.errors)

    def add(self, number: int, result: Mapping[str, Any]) -> None:
        """Save the result of a cluster."""
        self._places[number] = self._append({"number": number, "result": result})

    def add_error(self, number: int, message: str) -> None:
        """Save the error of a cluster."""
        self._append({"number": number, "error": message})
        self.errors[number] = message

    def finish(self) -> int:
        """Write the target, remove the partial file, and return the number of results."""
        if self._places:
            if kind_of(self._target) == ".parquet":
                write_parquet(self._target, self._records(), _schema())
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
            f"{self.path_of(self._target)}: was started with another {' and '.join(changed)}; give "
            "another --output, or remove that file to start over"
        )

    def _records(self) -> Iterator[dict[str, Any]]:
        for number in sorted(self._places):
            self._file.seek(self._places[number])
            yield json.loads(self._file.readline())["result"]


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return the record of a line, None if the line was cut off."""
    if not line.endswith(b"\n"):
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _schema() -> Any:
    """Return the columns of a result; inferring them would depend on the first rows."""
    import pyarrow as pa

    text, whole, real, truth = pa.string(), pa.int64(), pa.float64(), pa.bool_()

    def rows(**columns: Any) -> Any:
        return pa.list_(pa.struct(columns))

    sentences = rows(
        text=text,
        shown=text,
        sources=rows(document=whole, paragraph=whole, score=real, quote=text),
        unsupported=rows(text=text, start=whole, end=whole, kind=text),
        support=real,
        quoted=truth,
        speaker=text,
        disputed=truth,
        reason=text,
    )
    sides = rows(document=whole, paragraph=whole, text=text, start=whole, end=whole)
    return pa.schema(
        {
            "id": text,
            "title": text,
            "summary": text,
            "sentences": sentences,
            "dropped": sentences,
            "documents": rows(name=text, url=text),
            "disagreements": rows(
                about=text, kind=text, sides=sides, line=text, score=real, later=whole
            ),
            "answered": truth,
            "uncited": pa.list_(whole),
            "unread": rows(name=text, reason=text, document=whole),
            "system": text,
            "model": text,
            "seconds": real,
        }
    )
