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

from rich.console import Console

from hiersum.building.workplace import read_json, write_json
from hiersum.errors import ConfigError, DataError

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
            raise DataError(f"{path}: damaged; remove it to redo its stage") from error

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


class Estimate:
    """Estimates how long stages take: their costs, scaled by the times of finished ones."""

    def __init__(self) -> None:
        self._costs: dict[str, float] = defaultdict(float)
        self._taken: dict[str, float] = defaultdict(float)

    @classmethod
    def of(cls, stages: Sequence[Stage], ledger: Ledger) -> Estimate:
        """Start from the finished stages."""
        estimate = cls()
        for stage in stages:
            if note := ledger.finished(stage):
                estimate.add(stage.kind, stage.cost, note.seconds)
        return estimate

    def add(self, kind: str, cost: float, seconds: float) -> None:
        """Take another finished stage into account."""
        self._costs[kind] += cost
        self._taken[kind] += seconds

    def seconds(self, kind: str, cost: float) -> float:
        """Scale a cost by the stages of its kind, else by all stages, else not at all."""
        kinds = [kind] if kind in self._costs else list(self._costs)
        total = sum(self._costs[name] for name in kinds)
        return cost * sum(self._taken[name] for name in kinds) / total if total else cost


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
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    estimate = Estimate.of(stages, ledger)
    for number, stage in enumerate(stages, start=1):
        place = f"[{number} of {len(stages)}]"
        if ledger.finished(stage):
            console.print(f"{place} {stage.doing}: done before", markup=False)
            continue
        own = estimate.seconds(stage.kind, stage.cost)
        rest = sum(
            estimate.seconds(other.kind, other.cost)
            for other in stages[number:]
            if not ledger.finished(other)
        )
        console.print(
            f"{place} {stage.doing}: about {spoken(own)}; {spoken(own + rest)} to the end",
            markup=False,
        )
        estimate.add(stage.kind, stage.cost, _run(stage, ledger))
        after_each(stage)


def spoken(seconds: float) -> str:
    """Format a duration for readers."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"


def _run(stage: Stage, ledger: Ledger) -> float:
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
    return done.seconds


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
