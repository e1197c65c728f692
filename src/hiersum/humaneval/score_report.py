"""The results of a study: the paper's Table 4 for your systems, with tests and agreement."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from hiersum.evaluation.comparison import Table, p_value
from hiersum.evaluation.significance import CONFIDENCE, Interval
from hiersum.humaneval.statistics import Anova, PairTest
from hiersum.humaneval.study import Study

PAPER = {
    "Lead": (31.59, -0.383),
    "FT": (35.69, 0.000),
    "T-DMCA": (43.14, 0.147),
    "HT": (54.11, 0.237),
}
"""QA and rating in Table 4 of Liu & Lapata (2019)."""


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
            "confidence": CONFIDENCE,
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
