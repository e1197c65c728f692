"""The folder in which a build is at work: its plan, its finished parts, and how a run goes on.

A part's file is written before its tally, and each takes its name only when it is whole, so a run that
was killed continues with the parts that have no tally yet, and gives what it would have given.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hiersum.data.corpora import BUILDING
from hiersum.data.files import open_binary, write_atomically
from hiersum.data.records import parse_json
from hiersum.errors import InputError
from hiersum.parallel import Engine
from hiersum.progress import tracked

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where the files of a build lie."""

    out: Path

    @property
    def folder(self) -> Path:
        return self.out / BUILDING

    @property
    def report(self) -> Path:
        return self.out / "report.json"

    @property
    def plan(self) -> Path:
        return self.folder / "plan.json"

    @property
    def reading(self) -> Path:
        return self.folder / "reading.json"

    @property
    def articles(self) -> Path:
        return self.folder / "articles.arrow"

    @property
    def index(self) -> Path:
        return self.folder / "index"

    def clusters_of(self, part: int) -> Path:
        return self.out / f"part-{part:05}.parquet"

    def tally_of(self, part: int) -> Path:
        return self.folder / f"part-{part:05}.json"


def run_stage(
    engine: Engine,
    work: Callable[[Item], object],
    items: Sequence[Item],
    *,
    tally_of: Callable[[Item], Path],
    verb: str,
) -> None:
    """Do the work of all items that have no tally yet.

    Raises:
        InputError: something cannot be written; what is finished stays. Or a worker wrote where this
            machine cannot see it.
    """
    missing = [item for item in items if not tally_of(item).exists()]
    try:
        for _ in tracked(engine.run(work, missing), verb, len(missing)):
            pass
    except InputError as error:
        num_done = sum(tally_of(item).exists() for item in items)
        raise InputError(
            f"{error}; {num_done} of {len(items)} parts are finished and stay: "
            "run the same command again to go on"
        ) from error
    for item in missing:
        if not tally_of(item).exists():
            raise InputError(
                f"{tally_of(item)}: was written on another machine and is not here; give an --out "
                "that all machines share"
            )


def finished_report(place: Workplace, plan: dict[str, Any]) -> dict[str, Any] | None:
    """Return the report of a build that is finished, None if it is not."""
    if not place.report.exists():
        return None
    report: dict[str, Any] = read_json(place.report)
    _check_plan(place.out, report.get("plan"), plan)
    shutil.rmtree(place.folder, ignore_errors=True)  # a run killed at its very end leaves it
    return report


def make_folder(place: Workplace) -> None:
    """Make the folder, and refuse one that holds something else."""
    if place.out.is_dir() and not place.folder.exists() and any(place.out.iterdir()):
        raise InputError(f"{place.out}: is not empty; give a new folder for the clusters")
    try:
        place.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{place.out}: cannot be made a folder ({error.strerror})") from error


def claim(place: Workplace, plan: dict[str, Any]) -> None:
    """Write the plan, or find that an earlier run had the same, and clear what it left half written."""
    if not place.plan.exists():
        write_json(place.plan, plan)
        return
    _check_plan(place.out, read_json(place.plan), plan)
    for path in place.out.rglob(".*.partial"):
        path.unlink()


def _check_plan(out: Path, found: Any, wanted: dict[str, Any]) -> None:
    if found == wanted:
        return
    found = found if isinstance(found, dict) else {}
    differing = [name for name, value in wanted.items() if found.get(name) != value]
    raise InputError(
        f"{out}: holds clusters built from another plan ({', '.join(differing)} differ); "
        "give another folder, or remove this one"
    )


def fingerprint(path: Path) -> str:
    """Say by its content which file this is."""
    with open_binary(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def read_json(path: Path) -> Any:
    """Read a file that `write_json` wrote."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    return parse_json(data, str(path))


def write_json(path: Path, value: Any) -> None:
    """Write a value so that the file is there whole or not at all."""
    with write_atomically(path) as file:
        file.write(json.dumps(value, indent=2).encode() + b"\n")
