"""Stages: work that runs once and is redone only if something it depends on changes.

OUT/stages/NAME.json records a stage's inputs, a fingerprint of these and of the stages it needs,
whether it is finished, how long it took, and its results. This note is written before the work
begins, and all work can resume, so a run may be killed at any time. A stage whose inputs have
changed is refused, not silently redone: it may hold hours of work.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hiersum.data.files import read_json, write_json
from hiersum.errors import ConfigError, DataError
from hiersum.jobs.progress import spoken, tell

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A piece of work."""

    name: str
    doing: str
    """Shown while it runs."""
    work: Callable[[], Mapping[str, Any] | None]
    """Does or resumes the work; returns the results to record, as JSON."""
    inputs: Mapping[str, Any]
    """Everything that determines the result, besides the required stages; JSON."""
    needs: tuple[Stage, ...] = ()
    leaves: tuple[Path, ...] = ()
    """The files and folders it creates; removed before the stage is redone."""
    cost: float = 1.0
    """Estimated seconds on two cores."""

    @property
    def kind(self) -> str:
        """The part of the name that similar stages share."""
        return self.name.split("/")[0]

    @property
    def fingerprint(self) -> str:
        """A checksum of the inputs of this stage and all stages it needs."""
        made_from = [FORMAT, self.inputs, [stage.fingerprint for stage in self.needs]]
        return hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Note:
    """The record of a stage."""

    fingerprint: str
    inputs: Mapping[str, Any]
    finished: bool = False
    seconds: float = 0.0
    processor_seconds: float = 0.0
    found: Mapping[str, Any] | None = None


class Ledger:
    """The notes in an output folder."""

    def __init__(self, out: Path) -> None:
        self._folder = out / "stages"

    def read(self, stage: Stage) -> Note | None:
        """Return the note of a stage, None if it was never started."""
        path = self._path(stage)
        if not path.exists():
            return None
        record = read_json(path)
        try:
            return Note(**record)
        except TypeError as error:
            raise DataError(
                f"{path}: damaged, or of another version of hiersum; remove it to redo its stage"
            ) from error

    def finished(self, stage: Stage) -> Note | None:
        """Return the note of a stage if it is finished and made from its current inputs."""
        note = self.read(stage)
        is_current = note and note.finished and note.fingerprint == stage.fingerprint
        return note if is_current else None

    def write(self, stage: Stage, note: Note) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        write_json(self._path(stage), asdict(note))

    def remove(self, stage: Stage) -> None:
        """Delete a stage's note and output."""
        for path in stage.leaves:
            if path.is_dir():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)
        self._path(stage).unlink(missing_ok=True)

    def _path(self, stage: Stage) -> Path:
        return self._folder / f"{stage.name.replace('/', '-')}.json"


def estimate(stages: Sequence[Stage], ledger: Ledger) -> dict[str, float]:
    """Return the seconds that each unfinished stage will take, by name.

    Costs are scaled by what finished stages of the same kind took, else by what all took.
    """
    unfinished = []
    costs: dict[str, float] = defaultdict(float)
    taken: dict[str, float] = defaultdict(float)
    for stage in stages:
        note = ledger.finished(stage)
        if note is None:
            unfinished.append(stage)
            continue
        for kind in (stage.kind, ""):
            costs[kind] += stage.cost
            taken[kind] += note.seconds
    found = {}
    for stage in unfinished:
        kind = stage.kind if stage.kind in costs else ""
        found[stage.name] = stage.cost * (taken[kind] / costs[kind] if kind in costs else 1)
    return found


def refuse_changes(stages: Sequence[Stage], ledger: Ledger, out: Path, *, redo: bool) -> None:
    """Refuse stages that were started from other inputs, or with `redo` delete their output."""
    changed = [
        (stage, note)
        for stage in stages
        if (note := ledger.read(stage)) and note.fingerprint != stage.fingerprint
    ]
    if redo:
        for stage, _ in changed:
            ledger.remove(stage)
    elif changed:
        reason = next(filter(None, (_change(stage, note) for stage, note in changed)), "")
        raise ConfigError(
            f"{out}: {len(changed)} of its stages were made from other inputs"
            f"{': ' + reason if reason else ''}; --redo repeats these and keeps the others, "
            f"or give another --out; changed: {', '.join(stage.name for stage, _ in changed)}"
        )


def run_stages(
    stages: Sequence[Stage], ledger: Ledger, *, after_each: Callable[[Stage], None]
) -> None:
    """Run unfinished stages, each after those it needs; print progress and the time left."""
    for number, stage in enumerate(stages, start=1):
        place = f"[{number} of {len(stages)}] {stage.doing}:"
        left = estimate(stages, ledger)
        if stage.name not in left:
            tell(f"{place} already done")
            continue
        whole = spoken(sum(left.values()))
        tell(f"{place} about {spoken(left[stage.name])}; {whole} to the end")
        _run(stage, ledger)
        after_each(stage)


def _run(stage: Stage, ledger: Ledger) -> None:
    note = Note(stage.fingerprint, stage.inputs)
    ledger.write(stage, note)
    before = os.times()
    found = stage.work()
    after = os.times()
    done = replace(
        note,
        finished=True,
        seconds=round(after.elapsed - before.elapsed, 2),
        processor_seconds=round(sum(after[:4]) - sum(before[:4]), 2),  # also of ended children
        found=found,
    )
    ledger.write(stage, done)


def _change(stage: Stage, note: Note) -> str:
    """Name the first of a stage's own inputs that has changed."""
    now, before = _flat(stage.inputs), _flat(note.inputs)
    for name in sorted(now.keys() | before.keys()):
        if now.get(name) != before.get(name):
            was, is_now = (repr(v[name]) if name in v else "its default" for v in (before, now))
            return f"{stage.name} had {name} = {was}, now {is_now}"
    return ""


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat
