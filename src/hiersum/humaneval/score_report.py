"""The results of a study: the paper's Table 4 for your systems, with tests, agreement and a plot."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from hiersum.data.files import write_atomically
from hiersum.errors import InputError, MissingDependencyError
from hiersum.evaluation.comparison import Table, p_value
from hiersum.evaluation.significance import Interval
from hiersum.humaneval.statistics import Anova, PairTest
from hiersum.humaneval.study import Study

PAPER = {
    "Lead": (31.59, -0.383),
    "FT": (35.69, 0.000),
    "T-DMCA": (43.14, 0.147),
    "HT": (54.11, 0.237),
}
"""QA and rating in Table 4 of Liu & Lapata (2019)."""
_PICTURES = ("svg", "png", "pdf")
_INK, _BLUE, _ORANGE = "#333333", "#2f6db5", "#d1603d"


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """What one judge did."""

    judge: str
    num_done: int
    median_seconds: float
    checks_passed: int
    checks_failed: int


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one of the two evaluations."""

    name: str
    means: tuple[Interval, ...]
    """One per system: from 0 to 1 for qa, from -1 to 1 for ratings."""
    num_values: tuple[int, ...]
    variance: Anova | None
    pairs: tuple[PairTest, ...]
    alpha: float | None


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """The results of a study so far."""

    study: Study
    qa: Finding | None
    rating: Finding | None
    chosen: dict[str, dict[str, int]]
    """How often each system was shown in a comparison, was best and was worst."""
    judges: tuple[JudgeRecord, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    confidence: float

    def tables(self) -> list[Table]:
        """Return Table 4, the pairs, the choices behind the rating, the tests and the judges."""
        tables = [self.main_table(), self.pair_table()]
        if self.rating is not None:
            rows = [
                (system, *(str(of[key]) for key in ("shown", "best", "worst")))
                for system, of in self.chosen.items()
            ]
            tables.append(Table(("comparisons", "shown", "best", "worst"), tuple(rows)))
        return [*tables, self.test_table(), self.judge_table()]

    def main_table(self) -> Table:
        """Return Table 4 with the paper's numbers."""
        ours = {plain_name(system) for system in self.study.systems}
        theirs = {plain_name(name): values for name, values in PAPER.items()}
        rows = [
            self._row(system, place, theirs.get(plain_name(system)))
            for place, system in enumerate(self.study.systems)
        ]
        for name, paper in PAPER.items():
            if plain_name(name) not in ours:
                rows.append(self._row(f"{name} (paper only)", None, paper))
        return Table(
            ("system", "QA", "interval", "paper", "rating", "interval", "paper"), tuple(rows)
        )

    def _row(
        self, name: str, place: int | None, paper: tuple[float, float] | None
    ) -> tuple[str, ...]:
        cells = [name]
        for number, (finding, scale, digits) in enumerate(((self.qa, 100, 2), (self.rating, 1, 3))):
            ours = finding.means[place] if finding is not None and place is not None else None
            cells += [
                "-" if ours is None else _number(ours.mean * scale, digits),
                "-" if ours is None else _bounds(ours, scale, digits),
                "-" if paper is None else _number(paper[number], digits),
            ]
        return tuple(cells)

    def pair_table(self) -> Table:
        """Return the differences and p-values of all pairs of systems."""
        header = ["pair"]
        columns: list[list[str]] = []
        for finding, scale, digits in ((self.qa, 100, 2), (self.rating, 1, 3)):
            if finding is None:
                continue
            header += [f"{finding.name} difference", "p (Tukey)", "p (by items)"]
            columns += [
                [_number(pair.difference * scale, digits, sign=True) for pair in finding.pairs],
                [_p(pair.p_tukey) for pair in finding.pairs],
                [_p(pair.p_items) for pair in finding.pairs],
            ]
        names = [f"{first} - {second}" for first, second in combinations(self.study.systems, 2)]
        return Table(tuple(header), tuple(zip(names, *columns)))

    def test_table(self) -> Table:
        """Return the analysis of variance and the judges' agreement."""
        rows = []
        for finding in filter(None, (self.qa, self.rating)):
            alpha = "-" if finding.alpha is None else f"{finding.alpha:.3f}"
            rows.append(
                (finding.name, f"{sum(finding.num_values):,}", *_anova(finding.variance), alpha)
            )
        return Table(("all systems", "values", "ANOVA", "p", "Krippendorff's alpha"), tuple(rows))

    def judge_table(self) -> Table:
        """Return what each judge did."""
        rows = [
            (
                f"{record.judge} (left out)" if record.judge in self.left_out else record.judge,
                str(record.num_done),
                f"{record.median_seconds:.0f}",
                _checks(record),
            )
            for record in self.judges
        ]
        return Table(("judge", "tasks", "median seconds", "checks passed"), tuple(rows))

    def to_record(self) -> dict[str, Any]:
        """Return everything as JSON; QA from 0 to 100, ratings from -1 to 1."""
        return {
            "study": self.study.id,
            "systems": list(self.study.systems),
            "confidence": self.confidence,
            "qa": self._finding_record(self.qa, 100),
            "rating": self._finding_record(self.rating, 1),
            "comparisons": self.chosen,
            "judges": [asdict(record) for record in self.judges],
            "left_out": list(self.left_out),
            "paper": {name: {"qa": qa, "rating": rating} for name, (qa, rating) in PAPER.items()},
            "notes": list(self.notes),
        }

    def _finding_record(self, finding: Finding | None, scale: int) -> dict[str, Any] | None:
        if finding is None:
            return None
        systems = self.study.systems
        return {
            "systems": {
                name: {key: round(value * scale, 6) for key, value in asdict(interval).items()}
                | {"values": number}
                for name, interval, number in zip(systems, finding.means, finding.num_values)
            },
            "anova": None if finding.variance is None else asdict(finding.variance),
            "pairs": [
                {
                    "first": systems[pair.first],
                    "second": systems[pair.second],
                    "difference": round(pair.difference * scale, 6),
                    "p_tukey": pair.p_tukey,
                    "p_items": pair.p_items,
                }
                for pair in finding.pairs
            ],
            "alpha": finding.alpha,
        }


def plot_scores(report: ScoreReport, out: Path) -> Path:
    """Draw means with intervals, and the paper's numbers for systems of the same name.

    Raises:
        InputError: the file name has no known ending.
        MissingDependencyError: matplotlib is not installed.
    """
    kind = out.suffix.lstrip(".").lower()
    if kind not in _PICTURES:
        raise InputError(f"{out}: give the picture a name that ends in .{', .'.join(_PICTURES)}")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError("drawing scores", "train") from error
    matplotlib.rcParams["svg.hashsalt"] = "hiersum"  # the same scores give the same file
    findings = [finding for finding in (report.qa, report.rating) if finding is not None]
    size = (4.6 * len(findings), 1.5 + 0.42 * len(report.study.systems))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, len(findings), squeeze=False)[0]
    for axes, finding in zip(panels, findings):
        _draw(axes, report, finding)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    with write_atomically(out) as file:
        figure.savefig(
            file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None
        )
    return out


def _draw(axes: Any, report: ScoreReport, finding: Finding) -> None:
    is_rating = finding is report.rating
    scale, label = (1, "rating (best minus worst)") if is_rating else (100, "QA score")
    systems = report.study.systems
    paper = {plain_name(name): values[is_rating] for name, values in PAPER.items()}
    rows = range(len(systems))
    means = [interval.mean * scale for interval in finding.means]
    below = [(i.mean - i.low) * scale for i in finding.means]
    above = [(i.high - i.mean) * scale for i in finding.means]
    share = f"{100 * report.confidence:g} %"
    axes.errorbar(
        means, rows, xerr=[below, above], fmt="o", color=_BLUE, capsize=3, label=f"this study, {share}"
    )  # fmt: skip
    known = [(paper[plain_name(s)], row) for row, s in zip(rows, systems) if plain_name(s) in paper]
    if known:
        values, places = zip(*known)
        axes.plot(
            values, places, "D", color=_ORANGE, fillstyle="none", label="the paper, other data"
        )
    if is_rating:
        axes.axvline(0, color=_INK, linewidth=0.6)
    axes.set_yticks(list(rows), systems)
    axes.set_ylim(len(systems) - 0.5, -0.5)
    axes.set_xlabel(label, fontsize=9, color=_INK)
    axes.tick_params(labelsize=9, colors=_INK)
    axes.locator_params(axis="x", nbins=6)
    axes.grid(alpha=0.25, axis="x")
    axes.spines[["top", "right"]].set_visible(False)


def plain_name(name: str) -> str:
    """Normalise a system's name for comparison with the paper's: tdmca is T-DMCA."""
    return name.lower().replace("-", "").replace("_", "").strip()


def _number(value: float, digits: int, *, sign: bool = False) -> str:
    return f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"


def _bounds(interval: Interval, scale: int, digits: int) -> str:
    return f"{interval.low * scale:.{digits}f} to {interval.high * scale:.{digits}f}"


def _p(value: float | None) -> str:
    return "-" if value is None else p_value(value)


def _checks(record: JudgeRecord) -> str:
    total = record.checks_passed + record.checks_failed
    return f"{record.checks_passed} of {total}" if total else "-"


def _anova(variance: Anova | None) -> tuple[str, str]:
    if variance is None:
        return "-", "-"
    return f"F({variance.between}, {variance.within}) = {variance.f:.2f}", _p(variance.p)
