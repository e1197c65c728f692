"""Score summary files and compare two of them; results as tables and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel

from hiersum.config import EvaluationConfig
from hiersum.errors import InputError
from hiersum.evaluation.measures import NOVEL, measure_texts, measure_with_sources
from hiersum.evaluation.rouge import PRESETS, RougeScores, score_pairs, signature
from hiersum.evaluation.significance import Difference, Interval, compare_scores
from hiersum.evaluation.summary_files import Joined, join, read_sources, read_texts
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
class Table:
    """A header and rows; the first columns hold names, the others numbers."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    num_names: int = 1

    def to_text(self) -> str:
        """Return aligned columns, numbers flush right."""
        lines = [self.header, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines)]
        ways = [str.ljust] * self.num_names + [str.rjust] * (len(widths) - self.num_names)
        return "\n".join(
            "  ".join(way(cell, width) for way, cell, width in zip(ways, line, widths)).rstrip()
            for line in lines
        )

    def to_markdown(self) -> str:
        """Return a Markdown table."""
        rule = ["---"] * self.num_names + ["---:"] * (len(self.header) - self.num_names)
        lines = [self.header, rule, *self.rows]
        cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
        return "\n".join(f"| {' | '.join(line)} |" for line in cells)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of one system."""

    scores: RougeScores
    rouge: dict[str, dict[str, Interval]]
    measures: dict[str, float | None]
    """Means over the texts; None where no text has the measure."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of words that all occur, or all do not occur, in the other text."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class Example:
    """One input on which two systems differ."""

    id: str
    title: str
    reference: str
    marked: tuple[list[Run], list[Run]]
    """Both summaries, with words unique to one of them marked."""
    f1: tuple[float, float]
    """Mean F1 over the metrics."""


@dataclass(frozen=True, slots=True)
class Report:
    """The scores of several systems on the same inputs, and how two of them differ."""

    joined: Joined
    names: tuple[str, ...]
    systems: tuple[Evaluation, ...]
    reference_measures: dict[str, float | None]
    signature: str
    notes: tuple[str, ...]
    differences: dict[str, Difference] = field(default_factory=dict)
    """By metric, once two systems are compared."""
    examples: tuple[Example, ...] = ()
    """Where the first system is furthest ahead, then where the second is."""

    def tables(self) -> list[Table]:
        """Return the scores of the first system, or of two with their differences, and measures."""
        return [
            self._difference_table() if self.differences else self._score_table(),
            self.measure_table(),
        ]

    def _score_table(self) -> Table:
        rows = [
            (METRIC_LABELS[metric], points(of["f1"].mean), bounds(of["f1"]),
             points(of["precision"].mean), points(of["recall"].mean))
            for metric, of in self.systems[0].rouge.items()
        ]  # fmt: skip
        return Table(("", "F1", "interval", "precision", "recall"), tuple(rows))

    def _difference_table(self) -> Table:
        rows = []
        for metric, found in self.differences.items():
            means = (points(system.rouge[metric]["f1"].mean) for system in self.systems)
            difference = (f"{100 * found.interval.mean:+.2f}", bounds(found.interval))
            p_values = (p_value(found.p_bootstrap), p_value(found.p_randomisation))
            rows.append((METRIC_LABELS[metric], *means, *difference, *p_values))
        tests = ("difference", "interval", "p (bootstrap)", "p (randomisation)")
        return Table(("F1", *self.names, *tests), tuple(rows))

    def measure_table(self) -> Table:
        """Return the measures of every system and the references."""
        columns = [*(system.measures for system in self.systems), self.reference_measures]
        rows = [
            (_MEASURE_LABELS[name], *(_shown(name, column[name]) for column in columns))
            for name in self.reference_measures
        ]
        return Table(("", *self.names, "references"), tuple(rows))

    def to_record(self) -> dict[str, Any]:
        """Return everything as JSON; ROUGE and differences from 0 to 100, measures unchanged."""
        systems = []
        for name, system in zip(self.names, self.systems):
            rouge = {
                metric: {measure: in_points(interval) for measure, interval in of.items()}
                for metric, of in system.rouge.items()
            }
            rows = (100 * system.scores.f1).round(4).tolist()
            scores = [
                {"id": entry_id, **dict(zip(system.scores.metrics, row))}
                for entry_id, row in zip(self.joined.ids, rows)
            ]
            measures = system.measures
            systems.append({"name": name, "rouge": rouge, "measures": measures, "scores": scores})
        record = {
            "signature": self.signature,
            "pairs": len(self.joined.ids),
            "left_out": self.joined.num_left_out,
            "notes": list(self.notes),
            "systems": systems,
            "reference_measures": self.reference_measures,
        }
        if self.differences:
            record["differences"] = {m: difference_record(d) for m, d in self.differences.items()}
            record["examples"] = [example.id for example in self.examples]
        return record


def evaluate_files(
    predictions: Sequence[Path],
    references: Path,
    config: EvaluationConfig,
    *,
    sources: Path | None = None,
    kind: str = "auto",
    common: bool = False,
) -> Report:
    """Score a file of summaries per system against one file of references.

    Some measures need the sources, clusters of the given kind. `common` scores only inputs that all
    files have, instead of raising an error.
    """
    if len(set(predictions)) < len(predictions):
        raise InputError(f"{predictions[0]} is compared with itself; give two files of summaries")
    joined = join(
        read_texts(references),
        [read_texts(path) for path in predictions],
        None if sources is None else read_sources(sources, kind),
        common=common,
    )
    return evaluate(joined, config, names=_names(predictions))


def evaluate(joined: Joined, config: EvaluationConfig, *, names: Sequence[str]) -> Report:
    """Score systems against references, and against sources if given."""
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
        tuple(Evaluation(found, found.intervals(config), of) for found, of in zip(scores, means)),
        means[-1],
        signature(config, len(joined.ids)),
        tuple(_notes(joined, names)),
    )


def compare(report: Report, config: EvaluationConfig, *, num_examples: int) -> Report:
    """Compare the two systems of a report, with at most this many examples in favour of each."""
    first, second = report.systems
    differences = compare_scores(first.scores.f1, second.scores.f1, config)
    means = [system.scores.f1.mean(axis=1) for system in report.systems]
    lead = means[0] - means[1]
    order = np.argsort(-lead, kind="stable").tolist()
    rows = [row for row in order[:num_examples] if lead[row] > 0]
    rows += [row for row in order[::-1][:num_examples] if lead[row] < 0]
    joined = report.joined
    examples = (
        Example(
            joined.ids[row],
            joined.clusters[row].title if joined.clusters else "",
            joined.references[row],
            mark_differences(joined.systems[0][row], joined.systems[1][row]),
            (float(means[0][row]), float(means[1][row])),
        )
        for row in rows
    )
    by_metric: dict[str, Difference] = dict(zip(first.scores.metrics, differences))
    return replace(report, differences=by_metric, examples=tuple(examples))


def mark_differences(first: str, second: str) -> tuple[list[Run], list[Run]]:
    """Return both texts as runs; words outside their longest common subsequence differ.

    Case, and punctuation at the ends of words, are ignored.
    """
    words = first.split(), second.split()
    edits = Indel.opcodes(*([_normalised(word) for word in side] for side in words))
    left = [(edit.tag != "equal", words[0][edit.src_start : edit.src_end]) for edit in edits]
    right = [(edit.tag != "equal", words[1][edit.dest_start : edit.dest_end]) for edit in edits]
    return _runs(left), _runs(right)


def points(value: float) -> str:
    """Format a share as points of 100."""
    return f"{100 * value:.2f}"


def bounds(interval: Interval) -> str:
    """Format the bounds of an interval in points."""
    return f"{points(interval.low)} to {points(interval.high)}"


def with_interval(values: Mapping[str, float] | None, form: str = ".2f") -> str:
    """Format a mean and its interval; "-" if there is none."""
    if values is None:
        return "-"
    return f"{values['mean']:{form}} ({values['low']:{form}} to {values['high']:{form}})"


def p_value(p: float) -> str:
    """Format a p-value."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def in_points(interval: Interval) -> dict[str, float]:
    """Return an interval in points as JSON."""
    return {name: round(100 * value, 4) for name, value in asdict(interval).items()}


def difference_record(difference: Difference) -> dict[str, float]:
    """Return a difference in points, with its p-values, as JSON."""
    return {
        **in_points(difference.interval),
        "p_bootstrap": difference.p_bootstrap,
        "p_randomisation": difference.p_randomisation,
    }


def _normalised(word: str) -> str:
    return word.strip(".,;:!?\"'()[]\u201c\u201d\u2018\u2019").casefold() or word


def _runs(edits: Sequence[tuple[bool, list[str]]]) -> list[Run]:
    groups = groupby((edit for edit in edits if edit[1]), key=lambda edit: edit[0])
    return [
        Run(" ".join(word for _, words in group for word in words), differs)
        for differs, group in groups
    ]


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return round(float(known.mean()), 6) if len(known) else None


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if name == "words" else f"{100 * value:.1f} %"


def _notes(joined: Joined, names: Sequence[str]) -> list[str]:
    """Return notes for the reader."""
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


def _names(paths: Sequence[Path]) -> list[str]:
    """Name systems after their files, with as many folders as needed to tell them apart."""
    for depth in range(1, 1 + max(len(path.parts) for path in paths)):
        names = [str(Path(*path.parts[-depth:])) for path in paths]
        if len(set(names)) == len(names):
            break
    return names
