"""What an experiment has found so far: scores of every finished row, intervals, significance.

The record is plain JSON, so that tables, plots and pages are made from it alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hiersum import __version__
from hiersum.config import EvaluationConfig
from hiersum.data.corpora import read_corpus
from hiersum.data.files import read_lines
from hiersum.data.records import BadRecords
from hiersum.errors import ConfigError, DataError
from hiersum.evaluation.comparison import in_points
from hiersum.evaluation.measures import measure_texts
from hiersum.evaluation.rouge import PRESETS, RougeScores, score_pairs, signature
from hiersum.evaluation.significance import Difference, compare_scores
from hiersum.reproduction.paper_numbers import METRICS, SOURCE, numbers_of
from hiersum.reproduction.plan import Plan
from hiersum.reproduction.stages import Ledger
from hiersum.reproduction.systems import EXTRACTIVE, label_of, split_row
from hiersum.reproduction.undertrained import late_fall, share_of_paper, why_undertrained


@dataclass(frozen=True, slots=True)
class Target:
    """What should be said about a test cluster."""

    title: str
    summary: str


def gather(plan: Plan, ledger: Ledger) -> dict[str, Any]:
    """Return the record of an experiment, as far as it is done.

    Raises:
        DataError: the test clusters or the summaries cannot be used.
    """
    experiment = plan.experiment
    config = experiment.base().evaluation
    rows = [row for row in experiment.rows if ledger.is_finished(plan.writing[row])]
    texts = {row: [_read_summaries(path) for path in _files(plan, row)] for row in rows}
    targets = _targets(plan) if rows else {}
    ids = [i for i in targets if all(i in found for files in texts.values() for found in files)]
    if rows and not ids:
        raise DataError(
            f"{plan.work.clusters('test')[0]}: no test cluster has a summary of every system"
        )
    scores = {
        row: _scores(files, ids, [targets[i].summary for i in ids], config)
        for row, files in texts.items()
    }
    return {
        "experiment": experiment.name,
        "hiersum": __version__,
        "signature": signature(config, len(ids)) if rows else "",
        "clusters": _num_clusters(plan, ledger),
        "test": {"scored": len(ids), "left_out": len(targets) - len(ids)},
        "ranking": _found(plan.ranking, ledger),
        "rows": [_row(row, plan, ledger, scores, texts, ids, config) for row in rows],
        "pending": [label_of(r, experiment.sizes) for r in experiment.rows if r not in rows],
        "paper": SOURCE,
        "texts": _shown(plan, targets, texts, ids),
        "stages": _times(plan, ledger),
    }


def _row(
    row: str,
    plan: Plan,
    ledger: Ledger,
    scores: Mapping[str, RougeScores],
    texts: Mapping[str, Sequence[Mapping[str, str]]],
    ids: Sequence[str],
    config: EvaluationConfig,
) -> dict[str, Any]:
    system, is_longer = split_row(row)
    intervals = scores[row].intervals(config)
    measures = measure_texts([texts[row][0][i] for i in ids])
    paper = numbers_of(row)
    return {
        "row": row,
        "label": label_of(row, plan.experiment.sizes),
        "rouge": {metric: in_points(intervals[metric]["f1"]) for metric in METRICS},
        "against_ht": None if row == "ht" else _difference(row, "ht", scores, config),
        "against_shorter": _difference(row, system, scores, config) if is_longer else None,
        "checkpoints": len(texts[row]),
        "words": round(float(np.nanmean(measures["words"])), 2),
        "repetition": round(float(np.nan_to_num(measures["repetition"]).mean()), 4),
        "paper": None if paper is None else dict(zip(METRICS, paper)),
        "training": None if system in EXTRACTIVE else _training(system, plan, ledger),
    }


def _training(system: str, plan: Plan, ledger: Ledger) -> dict[str, Any]:
    found = ledger.found(plan.learning[system])
    if system in plan.experiment.checkpoints:
        return {**found, "given": plan.experiment.checkpoints[system], "undertrained": []}
    return {
        **found,
        "given": None,
        "share_of_paper": share_of_paper(found),
        "late_fall": late_fall(found),
        "undertrained": why_undertrained(found),
    }


def _difference(
    first: str, second: str, scores: Mapping[str, RougeScores], config: EvaluationConfig
) -> dict[str, Any] | None:
    """Return how much better the first row is, with p-values, if both are there."""
    if second not in scores:
        return None
    found = compare_scores(scores[first].f1, scores[second].f1, config)
    by_metric: dict[str, Difference] = dict(zip(scores[first].metrics, found))
    return {
        metric: {
            **in_points(by_metric[metric].interval),
            "p_bootstrap": by_metric[metric].p_bootstrap,
            "p_randomisation": by_metric[metric].p_randomisation,
        }
        for metric in METRICS
    }


def _scores(
    files: Sequence[Mapping[str, str]],
    ids: Sequence[str],
    references: Sequence[str],
    config: EvaluationConfig,
) -> RougeScores:
    """Return the scores of every cluster, averaged over the checkpoints."""
    preset = PRESETS[config.preset]
    found = [score_pairs([texts[i] for i in ids], references, preset) for texts in files]
    return RougeScores(found[0].metrics, np.mean([scores.table for scores in found], axis=0))


def _targets(plan: Plan) -> dict[str, Target]:
    bad = BadRecords(skip=plan.experiment.corpus.skip_bad)
    targets: dict[str, Target] = {}
    for path in plan.work.clusters("test"):
        for cluster in read_corpus(path, bad=bad):
            if cluster.id in targets:
                raise DataError(f"{path}: two test clusters have the id {cluster.id!r}")
            if cluster.summary:
                targets[cluster.id] = Target(cluster.title, cluster.summary)
    return targets


def _files(plan: Plan, row: str) -> list[Path]:
    return sorted(plan.work.summaries(row).glob("*.jsonl"), key=lambda path: int(path.stem))


def _read_summaries(path: Path) -> dict[str, str]:
    records = (json.loads(line) for _, line in read_lines(path))
    return {record["id"]: record["summary"] for record in records}


def _shown(
    plan: Plan,
    targets: Mapping[str, Target],
    texts: Mapping[str, Sequence[Mapping[str, str]]],
    ids: Sequence[str],
) -> list[dict[str, Any]]:
    """Return the texts of the chosen clusters: gold, and of every system; None for what is withheld."""
    run = plan.experiment.run
    if run.texts == "none" or not ids:
        return []
    for wanted in run.text_ids:
        if wanted not in ids:
            raise ConfigError(
                f"experiment.text_ids: no test cluster {wanted!r}; the first is {ids[0]!r}"
            )
    is_all = run.texts == "all"
    return [
        {
            "id": chosen,
            "title": targets[chosen].title,
            "gold": targets[chosen].summary if is_all else None,
            "systems": {
                row: files[0][chosen] if is_all or row not in EXTRACTIVE else None
                for row, files in texts.items()
            },
        }
        for chosen in run.text_ids or ids[: run.num_texts]
    ]


def _num_clusters(plan: Plan, ledger: Ledger) -> dict[str, Any]:
    return {
        split: ledger.found(stage).get("clusters")
        for split, stage in plan.clusters.items()
        if ledger.is_finished(stage)
    }


def _found(stage: Any, ledger: Ledger) -> dict[str, Any] | None:
    return ledger.found(stage) if stage is not None and ledger.is_finished(stage) else None


def _times(plan: Plan, ledger: Ledger) -> list[dict[str, Any]]:
    return [
        {"stage": stage.name, "seconds": n.seconds, "processor_seconds": n.processor_seconds}
        for stage in plan.stages
        if (n := ledger.read(stage)) and n.finished and n.fingerprint == stage.fingerprint
    ]
