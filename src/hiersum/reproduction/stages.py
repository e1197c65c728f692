"""Stages: work that is done once, noted, and never done again while nothing it rests on changes.

OUT/stages/NAME.json says of a stage what it was made from (`inputs`, and a fingerprint of these and of
the stages it needs), whether it is finished, how long it took, and what it found. The note is there
before the work begins, and the work of every stage goes on where it was, so that a run can be killed at
any moment. A stage whose inputs have changed is refused, not redone in silence: hours may lie in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from hiersum.data.files import write_atomically
from hiersum.data.records import parse_json
from hiersum.errors import ConfigError, DataError
from hiersum.reproduction.duration import Estimate, spoken

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A piece of work."""

    name: str
    doing: str
    """What is shown while it runs."""
    work: Callable[[], Mapping[str, Any] | None]
    """Does it, or goes on with it; returns what is worth noting, as JSON."""
    inputs: Mapping[str, Any]
    """Everything that decides what comes out, besides the stages it needs; JSON."""
    needs: tuple[Stage, ...] = ()
    leaves: tuple[Path, ...] = ()
    """Files and folders that it makes; removed when it is to be made anew."""
    cost: float = 1.0
    """About how many seconds it takes on two cores."""

    @property
    def kind(self) -> str:
        """What stages of like work have in common."""
        return self.name.split("/")[0]

    @property
    def fingerprint(self) -> str:
        """Changes with the inputs of this stage and of all below it."""
        made_from = [FORMAT, self.inputs, [stage.fingerprint for stage in self.needs]]
        return hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Note:
    """What is known of a stage on disk."""

    fingerprint: str
    inputs: Mapping[str, Any]
    finished: bool = False
    seconds: float = 0.0
    processor_seconds: float = 0.0
    found: Mapping[str, Any] | None = None


class Ledger:
    """The notes of an output folder."""

    def __init__(self, out: Path) -> None:
        self._folder = out / "stages"

    def read(self, stage: Stage) -> Note | None:
        """Return the note of a stage, None if it was never begun.

        Raises:
            DataError: the note is damaged.
        """
        path = self._path(stage)
        if not path.exists():
            return None
        record = parse_json(path.read_bytes(), str(path))
        try:
            return Note(**record)
        except TypeError as error:
            raise DataError(f"{path}: damaged; remove it, and its stage is made anew") from error

    def found(self, stage: Stage) -> dict[str, Any]:
        """Return what a finished stage noted."""
        note = self.read(stage)
        assert note is not None
        assert note.finished
        return dict(note.found or {})

    def is_finished(self, stage: Stage) -> bool:
        """Is a stage done, from what it is to be made from now?"""
        note = self.read(stage)
        return note is not None and note.finished and note.fingerprint == stage.fingerprint

    def write(self, stage: Stage, note: Note) -> None:
        path = self._path(stage)
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {name: getattr(note, name) for name in Note.__dataclass_fields__}
        with write_atomically(path) as file:
            file.write(json.dumps(record, indent=1).encode() + b"\n")

    def remove(self, stage: Stage) -> None:
        """Forget a stage and what it made."""
        for path in stage.leaves:
            if path.is_dir():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)
        self._path(stage).unlink(missing_ok=True)

    def _path(self, stage: Stage) -> Path:
        return self._folder / f"{stage.name.replace('/', '-')}.json"


def refuse_changes(stages: Sequence[Stage], ledger: Ledger, out: Path, *, redo: bool) -> None:
    """Refuse stages that were begun from other inputs; with `redo` remove what they made.

    Raises:
        ConfigError: there are such stages, and they are not to be redone.
    """
    notes = {stage.name: ledger.read(stage) for stage in stages}
    changed = [s for s in stages if (n := notes[s.name]) and n.fingerprint != s.fingerprint]
    if not changed:
        return
    if redo:
        for stage in changed:
            ledger.remove(stage)
        return
    reasons = [reason for s in changed if (note := notes[s.name]) and (reason := _change(s, note))]
    raise ConfigError(
        f"{out}: {len(changed)} of its stages were made from something else"
        f"{': ' + reasons[0] if reasons else ''}; --redo makes these anew and keeps the others, "
        f"or give another --out; they are: {', '.join(stage.name for stage in changed)}"
    )


def run_stages(
    stages: Sequence[Stage], ledger: Ledger, *, after_each: Callable[[Stage], None]
) -> None:
    """Do what is not done yet, and say what is running and how long it all takes.

    Args:
        stages: each after those it needs.
        ledger: what is done, and where that is noted.
        after_each: called when a stage has been finished.
    """
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    estimate = Estimate.of(
        (stage.kind, stage.cost, note.seconds)
        for stage in stages
        if (note := ledger.read(stage)) and note.finished
    )
    for number, stage in enumerate(stages, start=1):
        place = f"[{number} of {len(stages)}]"
        if ledger.is_finished(stage):
            console.print(f"{place} {stage.doing}: done before", markup=False)
            continue
        own = estimate.seconds(stage.kind, stage.cost)
        rest = sum(
            estimate.seconds(other.kind, other.cost)
            for other in stages[number:]
            if not ledger.is_finished(other)
        )
        console.print(
            f"{place} {stage.doing}: about {spoken(own)}; {spoken(own + rest)} to the end",
            markup=False,
        )
        seconds = _run(stage, ledger)
        estimate = estimate.with_stage(stage.kind, stage.cost, seconds)
        after_each(stage)


def _run(stage: Stage, ledger: Ledger) -> float:
    begun = Note(stage.fingerprint, stage.inputs)
    ledger.write(stage, begun)
    start, processor_start = time.perf_counter(), processor_seconds()
    found = stage.work()
    seconds = time.perf_counter() - start
    processor = processor_seconds() - processor_start
    ledger.write(
        stage,
        Note(begun.fingerprint, begun.inputs, True, round(seconds, 2), round(processor, 2), found),
    )
    return seconds


def processor_seconds() -> float:
    """Return the processor time of this process and of those it has waited for."""
    return sum(os.times()[:4])


def _change(stage: Stage, note: Note) -> str:
    """Say what is different in a stage's own inputs."""
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
