"""`hiersum reproduce`: run an experiment, score its summaries, and write the report.

The results are one JSON record, from which all tables and plots are made.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hiersum import __version__
from hiersum.config import EvaluationConfig
from hiersum.data.corpora import read_corpus
from hiersum.data.files import alone_in, make_folder, read_lines
from hiersum.data.records import BadRecords
from hiersum.errors import DataError
from hiersum.evaluation.comparison import Table, difference_record, in_points
from hiersum.evaluation.measures import measure_texts
from hiersum.evaluation.rouge import PRESETS, RougeScores, score_pairs, signature
from hiersum.evaluation.significance import SEED, Difference, compare_scores, holm
from hiersum.jobs.progress import RESUME, keeping, spoken
from hiersum.reproduction.experiment import load_experiment
from hiersum.reproduction.paper_tables import write_report
from hiersum.reproduction.plan import Plan
from hiersum.reproduction.stages import (
    Ledger,
    Note,
    Stage,
    estimate,
    refuse_changes,
    run_stages,
)
from hiersum.reproduction.systems import (
    EXTRACTIVE,
    METRICS,
    SOURCE,
    is_undertrained,
    label_of,
    late_fall,
    numbers_of,
    share_of_paper,
    split_row,
)
from hiersum.reproduction.work import file_name

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
    """Run or resume an experiment and write its report; return the results.

    With `redo`, stages whose settings have changed are redone; else they are refused. With
    `report_only`, only the report of the finished stages is written.
    """
    plan = Plan.of(load_experiment(path, overrides), out, workers)
    stages = list(plan.stages.values())
    make_folder(out)
    ledger = Ledger(out)
    last_report = time.monotonic()

    def refresh_report(stage: Stage) -> None:
        """Keep the report of a long run up to date."""
        nonlocal last_report
        if stage.kind == "write" and time.monotonic() - last_report > _SECONDS_BETWEEN_REPORTS:
            write_report(gather(plan, ledger), out / "report")
            last_report = time.monotonic()

    with alone_in(out):
        if not report_only:
            refuse_changes(stages, ledger, out, redo=redo)
            with keeping(f"finished stages are kept in {out}: {RESUME}"):
                run_stages(stages, ledger, after_each=refresh_report)
        record = gather(plan, ledger)
        write_report(record, out / "report")
    return record


def list_stages(path: Path, out: Path, *, overrides: Iterable[str] = (), workers: int = 1) -> Table:
    """Return every stage with its state and its time."""
    stages = list(Plan.of(load_experiment(path, overrides), out, workers).stages.values())
    ledger = Ledger(out)
    left = estimate(stages, ledger)
    rows = []
    for stage in stages:
        note = ledger.read(stage)
        if note and stage.name not in left:
            state, time = "done", f"took {spoken(note.seconds)}"
        else:
            is_changed = note is not None and note.fingerprint != stage.fingerprint
            state = "changed" if is_changed else "begun" if note else "to do"
            time = f"about {spoken(left[stage.name])}"
        rows.append((stage.name, stage.doing, state, time))
    rows.append(("", "all that is left", "", f"about {spoken(sum(left.values()))}"))
    return Table(("stage", "what", "state", "time"), tuple(rows), num_names=3)


def gather(plan: Plan, ledger: Ledger) -> dict[str, Any]:
    """Return the record of an experiment so far."""
    experiment = plan.experiment
    config = experiment.base().evaluation
    notes = {n: note for n, stage in plan.stages.items() if (note := ledger.finished(stage))}
    rows = [row for row in experiment.rows if f"write/{file_name(row)}" in notes]
    runs = {
        row: [row, *(run for run in experiment.runs(row)[1:] if f"write/{run}" in notes)]
        for row in rows
    }
    results = _Results.read(plan, runs, config)
    return {
        "experiment": experiment.name,
        "hiersum": __version__,
        "signature": signature(config, len(results.ids)) if rows else "",
        "test": {"scored": len(results.ids), "left_out": len(results.targets) - len(results.ids)},
        "ranking": notes["ranking"].found if "ranking" in notes else None,
        "start": experiment.run.start or None,
        "rows": _corrected([_row(row, plan, notes, results, config) for row in rows]),
        "pending": [label_of(r, experiment.sizes) for r in experiment.rows if r not in rows],
        "paper": SOURCE,
        "texts": _shown_texts(plan, results),
        "stages": [
            {"stage": n, "seconds": note.seconds, "processor_seconds": note.processor_seconds}
            for n, note in notes.items()
        ],
    }


@dataclass(frozen=True, slots=True)
class _Results:
    """The summaries and scores of all finished rows, on the clusters they all cover."""

    ids: list[str]
    titles: Mapping[str, str]
    targets: Mapping[str, str]
    texts: Mapping[str, Sequence[Mapping[str, str]]]
    """For each row the summaries by cluster, of every seed and checkpoint, best of the first seed
    first."""
    scores: Mapping[str, RougeScores]
    """For each row, the scores averaged over its checkpoints and seeds."""
    seeds: Mapping[str, Sequence[RougeScores]]
    """For each row, the scores of each seed, averaged over its checkpoints."""

    @classmethod
    def read(
        cls, plan: Plan, runs: Mapping[str, Sequence[str]], config: EvaluationConfig
    ) -> _Results:
        if not runs:
            return cls([], {}, {}, {}, {}, {})
        titles: dict[str, str] = {}
        targets: dict[str, str] = {}
        bad = BadRecords(skip=plan.experiment.corpus.skip_bad)
        for path in plan.work.clusters("test"):
            for cluster in read_corpus(path, bad=bad):
                if cluster.id in targets:
                    raise DataError(f"{path}: two test clusters have the id {cluster.id!r}")
                if cluster.summary:
                    titles[cluster.id], targets[cluster.id] = cluster.title, cluster.summary
        by_run = {name: _read_summaries(plan, name) for names in runs.values() for name in names}
        texts = {row: [of for name in names for of in by_run[name]] for row, names in runs.items()}
        ids = [i for i in targets if all(i in found for files in texts.values() for found in files)]
        if not ids:
            raise DataError(
                f"{plan.work.clusters('test')[0]}: no test cluster has a summary of every system"
            )
        references, preset = [targets[i] for i in ids], PRESETS[config.preset]

        def mean(tables: Sequence[Any]) -> RougeScores:
            return RougeScores(preset.metrics, np.mean(tables, axis=0))

        of_runs = {
            name: mean(
                [score_pairs([of[i] for i in ids], references, preset).table for of in files]
            )
            for name, files in by_run.items()
        }
        seeds = {row: [of_runs[name] for name in names] for row, names in runs.items()}
        scores = {row: mean([seed.table for seed in found]) for row, found in seeds.items()}
        return cls(ids, titles, targets, texts, scores, seeds)

    def reading(self, row: str, config: EvaluationConfig) -> dict[str, Any] | None:
        """Check that a system reads its input; None for a single cluster.

        Every cluster is paired with another: do their summaries differ, and how much does a summary
        of the right sources score above one of the other's?
        """
        mixed = random.Random(SEED).sample(self.ids, len(self.ids))
        if len(mixed) < 2:
            return None
        other = dict(zip(mixed, [*mixed[1:], mixed[0]]))
        texts, preset = self.texts[row][0], PRESETS[config.preset]
        targets = [self.targets[i] for i in self.ids]
        right, wrong = (
            score_pairs([texts[i] for i in chosen], targets, preset)
            for chosen in (self.ids, [other[i] for i in self.ids])
        )
        differences = compare_scores(right.f1, wrong.f1, config)
        found: dict[str, Difference] = dict(zip(right.metrics, differences))
        return {
            "differ": float(np.mean([texts[i] != texts[other[i]] for i in self.ids])),
            "gain": {metric: difference_record(found[metric]) for metric in METRICS},
        }

    def difference(self, first: str, second: str, config: EvaluationConfig) -> Any:
        """Return the lead of the first row over the second, None if there is no second.

        Only trainings with the same seeds are compared; a system without training, with all.
        """
        if second not in self.scores:
            return None
        shared = min(len(self.seeds[first]), len(self.seeds[second]))
        if first in EXTRACTIVE:
            shared = len(self.seeds[second])
        one, other = (
            np.mean([seed.f1 for seed in self.seeds[row][:shared]], axis=0)
            for row in (first, second)
        )
        found = compare_scores(one, other, config)
        by_metric: dict[str, Difference] = dict(zip(self.scores[first].metrics, found))
        return {metric: difference_record(by_metric[metric]) for metric in METRICS}


def _read_summaries(plan: Plan, row: str) -> list[dict[str, str]]:
    paths = sorted(plan.work.summaries(row).glob("*.jsonl"), key=lambda path: int(path.stem))
    files = [[json.loads(line) for _, line in read_lines(path)] for path in paths]
    return [{record["id"]: record["summary"] for record in records} for records in files]


def _row(
    row: str,
    plan: Plan,
    notes: Mapping[str, Note],
    results: _Results,
    config: EvaluationConfig,
) -> dict[str, Any]:
    system, is_longer = split_row(row)
    intervals = results.scores[row].intervals(config)
    measures = measure_texts([results.texts[row][0][i] for i in results.ids])
    paper = numbers_of(row)
    columns = [results.scores[row].metrics.index(metric) for metric in METRICS]
    return {
        "row": row,
        "label": label_of(row, plan.experiment.sizes),
        "rouge": {metric: in_points(intervals[metric]["f1"]) for metric in METRICS},
        "against_ht": None if row == "ht" else results.difference(row, "ht", config),
        "against_shorter": results.difference(row, system, config) if is_longer else None,
        "reading": results.reading(row, config),
        "seeds": [
            dict(
                zip(
                    METRICS,
                    (round(100 * float(seed.f1[:, column].mean()), 3) for column in columns),
                )
            )
            for seed in results.seeds[row]
        ],
        "checkpoints": len(results.texts[row]),
        "words": round(float(np.nanmean(measures["words"])), 2),
        "repetition": round(float(np.nan_to_num(measures["repetition"]).mean()), 4),
        "paper": None if paper is None else dict(zip(METRICS, paper)),
        "training": None if system in EXTRACTIVE else _training(system, plan, notes),
    }


def _corrected(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add p-values corrected for the number of rows by Holm's method, metric by metric."""
    for comparison in ("against_ht", "against_shorter"):
        compared = [row[comparison] for row in rows if row[comparison]]
        for metric in METRICS if compared else ():
            p_values = holm(np.array([found[metric]["p_randomisation"] for found in compared]))
            for found, p_value in zip(compared, p_values):
                found[metric]["p_corrected"] = float(p_value)
    return rows


def _training(system: str, plan: Plan, notes: Mapping[str, Note]) -> dict[str, Any]:
    if given := plan.experiment.checkpoints.get(system):
        return {"given": given, "undertrained": False}
    found = notes[f"train/{system}"].found or {}
    return {
        **found,
        "given": None,
        "share_of_paper": share_of_paper(found),
        "late_fall": late_fall(found),
        "undertrained": is_undertrained(found),
    }


def _shown_texts(plan: Plan, results: _Results) -> list[dict[str, Any]]:
    """Return the gold and every system's text for the chosen clusters, None for withheld ones."""
    run = plan.experiment.run
    is_all = run.texts == "all"
    return [
        {
            "id": chosen,
            "title": results.titles[chosen],
            "gold": results.targets[chosen] if is_all else None,
            "systems": {
                row: files[0][chosen] if is_all or row not in EXTRACTIVE else None
                for row, files in results.texts.items()
            },
        }
        for chosen in results.ids[: run.num_texts]
    ]
