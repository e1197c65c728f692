"""Two systems side by side: which is better, how sure that is, and where they differ most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiersum.config import EvaluationConfig
from hiersum.evaluation.differences import Run, mark_differences
from hiersum.evaluation.report import METRIC_LABELS, Report, bounds, in_points, points
from hiersum.evaluation.significance import Difference, compare_scores
from hiersum.evaluation.tables import Table


@dataclass(frozen=True, slots=True)
class Example:
    """One input on which the systems differ, with the words that only one of them has marked."""

    id: str
    title: str
    reference: str
    texts: tuple[str, str]
    marked: tuple[list[Run], list[Run]]
    f1: tuple[float, float]
    """Mean F1 over the metrics."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A report on two systems, and what lies between them."""

    report: Report
    differences: dict[str, Difference]
    examples: tuple[Example, ...]
    """Where the first is furthest ahead, then where the second is."""

    def tables(self) -> list[Table]:
        """Return scores with their differences, and the measures."""
        first, second = self.report.systems
        rows = tuple(
            (METRIC_LABELS[metric], points(first.rouge[metric]["f1"].mean),
             points(second.rouge[metric]["f1"].mean), f"{100 * d.interval.mean:+.2f}",
             bounds(d.interval), p_value(d.p_bootstrap), p_value(d.p_randomisation))
            for metric, d in self.differences.items()
        )  # fmt: skip
        header = (
            *("F1", *self.report.names),
            *("difference", "interval", "p (bootstrap)", "p (randomisation)"),
        )
        return [Table(header, rows), self.report.measure_table()]

    def to_record(self) -> dict[str, Any]:
        """Return everything for programs; ROUGE and its differences in points of 100."""
        return {
            **self.report.to_record(),
            "differences": {
                metric: {
                    **in_points(d.interval),
                    "p_bootstrap": d.p_bootstrap,
                    "p_randomisation": d.p_randomisation,
                }
                for metric, d in self.differences.items()
            },
            "examples": [example.id for example in self.examples],
        }


def compare(report: Report, config: EvaluationConfig, *, num_examples: int) -> Comparison:
    """Compare the two systems of a report.

    Args:
        report: of exactly two systems.
        config: samples, trials and their seed.
        num_examples: how many inputs to show for each system.
    """
    first, second = report.systems
    differences = compare_scores(first.scores.f1, second.scores.f1, config)
    return Comparison(
        report,
        dict(zip(first.scores.metrics, differences)),
        tuple(_examples(report, num_examples)),
    )


def p_value(p: float) -> str:
    """Return a p-value as people write it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _examples(report: Report, number: int) -> list[Example]:
    means = [system.scores.f1.mean(axis=1) for system in report.systems]
    ahead = means[0] - means[1]
    order = np.argsort(-ahead, kind="stable").tolist()
    best = [row for row in order[:number] if ahead[row] > 0]
    worst = [row for row in order[::-1][:number] if ahead[row] < 0]
    return [
        _example(report, row, (float(means[0][row]), float(means[1][row]))) for row in best + worst
    ]


def _example(report: Report, row: int, f1: tuple[float, float]) -> Example:
    joined = report.joined
    first, second = (system[row] for system in joined.systems)
    return Example(
        joined.ids[row],
        joined.clusters[row].title if joined.clusters else "",
        joined.references[row],
        (first, second),
        mark_differences(first, second),
        f1,
    )
