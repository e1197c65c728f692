"""Scores of systems with their intervals, measures and signature: what an evaluation finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiersum.config import EvaluationConfig
from hiersum.evaluation.files import Joined
from hiersum.evaluation.measures import NOVEL, measure_texts, measure_with_sources
from hiersum.evaluation.resampling import Interval
from hiersum.evaluation.rouge import PRESETS, RougeScores, score_pairs, signature
from hiersum.evaluation.tables import Table
from hiersum.text.overlap import split_rouge_words

Floats = NDArray[np.float64]

METRIC_LABELS = {
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougeL": "ROUGE-L",
    "rougeLsum": "ROUGE-Lsum",
}
_MEASURE_LABELS = {
    "words": "words",
    "repetition": "repeated trigrams",
    **{name: f"novel {name[-1]}-grams" for name in NOVEL},
    "coverage": "documents drawn on",
    "names": "names in the sources",
    "numbers": "numbers in the sources",
}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is known of one system's summaries."""

    texts: tuple[str, ...]
    scores: RougeScores
    rouge: dict[str, dict[str, Interval]]
    measures: dict[str, float | None]
    """Means over the texts; None where no text has the measure."""


@dataclass(frozen=True, slots=True)
class Report:
    """The evaluations of systems on the same inputs."""

    joined: Joined
    names: tuple[str, ...]
    systems: tuple[Evaluation, ...]
    reference_measures: dict[str, float | None]
    signature: str
    notes: tuple[str, ...]

    def tables(self) -> list[Table]:
        """Return the scores of one system, and the measures of all."""
        scores = [
            (METRIC_LABELS[metric], points(of["f1"].mean), bounds(of["f1"]),
             points(of["precision"].mean), points(of["recall"].mean))
            for metric, of in self.systems[0].rouge.items()
        ]  # fmt: skip
        header = ("", "F1", "interval", "precision", "recall")
        return [Table(header, tuple(scores)), self.measure_table()]

    def measure_table(self) -> Table:
        """Return the measures of every system beside those of the references."""
        columns = [*(system.measures for system in self.systems), self.reference_measures]
        rows = [
            (_MEASURE_LABELS[name], *(_shown(name, column[name]) for column in columns))
            for name in self.reference_measures
        ]
        return Table(("", *self.names, "references"), tuple(rows))

    def to_record(self) -> dict[str, Any]:
        """Return everything for programs; ROUGE in points of 100, measures as they are."""
        return {
            "signature": self.signature,
            "pairs": len(self.joined.ids),
            "left_out": self.joined.num_left_out,
            "notes": list(self.notes),
            "systems": [
                {
                    "name": name,
                    "rouge": {
                        metric: {measure: in_points(i) for measure, i in of.items()}
                        for metric, of in system.rouge.items()
                    },
                    "measures": system.measures,
                    "scores": self._scores_of(system),
                }
                for name, system in zip(self.names, self.systems)
            ],
            "reference_measures": self.reference_measures,
        }

    def _scores_of(self, system: Evaluation) -> list[dict[str, Any]]:
        rows = zip(self.joined.ids, (100 * system.scores.f1).round(4).tolist())
        return [{"id": id_, **dict(zip(system.scores.metrics, row))} for id_, row in rows]


def evaluate(joined: Joined, config: EvaluationConfig, *, names: Sequence[str]) -> Report:
    """Score systems against their references, and against their sources where those are given."""
    sides = [*joined.systems, joined.references]
    measures = [measure_texts(side) for side in sides]
    if joined.clusters is not None:
        with_sources = measure_with_sources(sides, joined.clusters)
        measures = [own | others for own, others in zip(measures, with_sources)]
    means = [{name: _mean(values) for name, values in of.items()} for of in measures]
    scores = [score_pairs(s, joined.references, PRESETS[config.preset]) for s in joined.systems]
    return Report(
        joined,
        tuple(names),
        tuple(
            Evaluation(texts, found, found.intervals(config), of)
            for texts, found, of in zip(joined.systems, scores, means)
        ),
        means[-1],
        signature(config, len(joined.ids)),
        tuple(_notes(joined, names)),
    )


def points(value: float) -> str:
    """Return a share as points of 100."""
    return f"{100 * value:.2f}"


def bounds(interval: Interval) -> str:
    """Return an interval in points."""
    return f"{points(interval.low)} to {points(interval.high)}"


def in_points(interval: Interval) -> dict[str, float]:
    """Return an interval in points, for programs."""
    return {name: round(100 * value, 4) for name, value in asdict(interval).items()}


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return round(float(known.mean()), 6) if len(known) else None


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if name == "words" else f"{100 * value:.1f} %"


def _notes(joined: Joined, names: Sequence[str]) -> list[str]:
    """Say what the numbers do not show by themselves."""
    notes = []
    if joined.num_left_out:
        notes.append(f"{joined.num_left_out:,} references were left out: not all files have them")
    for name, texts in zip([*names, "references"], [*joined.systems, joined.references]):
        num_empty = sum(not text.strip() for text in texts)
        num_foreign = sum(not split_rouge_words(text) for text in texts) - num_empty
        if num_empty:
            notes.append(f"{name}: {num_empty:,} empty, which score 0")
        if num_foreign:
            notes.append(
                f"{name}: {num_foreign:,} without a word that ROUGE knows (a-z, 0-9), which score 0"
            )
    return notes
