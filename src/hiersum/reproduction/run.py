"""`hiersum reproduce`, from an experiment file to its report."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hiersum.data.files import alone_in
from hiersum.errors import InputError
from hiersum.evaluation.comparison import Table
from hiersum.reproduction.duration import Estimate, spoken
from hiersum.reproduction.experiment import load_experiment
from hiersum.reproduction.plan import Plan
from hiersum.reproduction.report import write_report
from hiersum.reproduction.results import gather
from hiersum.reproduction.stages import Ledger, Stage, refuse_changes, run_stages

_SECONDS_BETWEEN_REPORTS = 60


def reproduce(
    path: Path,
    out: Path,
    *,
    overrides: Iterable[str] = (),
    workers: int = 1,
    redo: bool = False,
    report_only: bool = False,
) -> dict[str, Any]:
    """Run an experiment, or go on with it, and write its report; return what it found.

    Args:
        path: the experiment file.
        out: the folder for everything that is made.
        overrides: settings as `section.key=value`.
        workers: processes that build and prepare.
        redo: make anew what was made from other settings.
        report_only: only write the report of what is finished.

    Raises:
        HiersumError: the experiment does not fit, or a stage cannot be done.
    """
    plan = Plan.of(load_experiment(path, overrides), out, workers)
    _make_folder(out)
    ledger = Ledger(out)
    with alone_in(out):
        if not report_only:
            refuse_changes(plan.stages, ledger, out, redo=redo)
            run_stages(plan.stages, ledger, after_each=_Refresher(plan, ledger))
        record = gather(plan, ledger)
        write_report(record, out / "report")
    return record


def list_stages(path: Path, out: Path, *, overrides: Iterable[str] = (), workers: int = 1) -> Table:
    """Return what would be done: every stage, its state, and about how long it takes."""
    plan = Plan.of(load_experiment(path, overrides), out, workers)
    ledger = Ledger(out)
    notes = {stage.name: ledger.read(stage) for stage in plan.stages}
    finished = [s for s in plan.stages if ledger.is_finished(s)]
    estimate = Estimate.of((s.kind, s.cost, n.seconds) for s in finished if (n := notes[s.name]))
    rows = []
    left = 0.0
    for stage in plan.stages:
        note = notes[stage.name]
        about = estimate.seconds(stage.kind, stage.cost)
        if ledger.is_finished(stage):
            state, time = "done", f"took {spoken(note.seconds if note else 0)}"
        else:
            is_changed = note is not None and note.fingerprint != stage.fingerprint
            state = "changed" if is_changed else "begun" if note else "to do"
            time = f"about {spoken(about)}"
            left += about
        rows.append((stage.name, stage.doing, state, time))
    rows.append(("", "all that is left", "", f"about {spoken(left)}"))
    return Table(("stage", "what", "state", "time"), tuple(rows))


class _Refresher:
    """Writes the report anew when a row is finished: a long run can be read while it lasts."""

    def __init__(self, plan: Plan, ledger: Ledger) -> None:
        self._plan = plan
        self._ledger = ledger
        self._last = time.monotonic()

    def __call__(self, stage: Stage) -> None:
        if stage.kind == "write" and time.monotonic() - self._last > _SECONDS_BETWEEN_REPORTS:
            write_report(gather(self._plan, self._ledger), self._plan.work.out / "report")
            self._last = time.monotonic()


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be made a folder ({error.strerror})") from error
