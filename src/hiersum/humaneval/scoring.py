"""The results of a study: the paper's Table 4 for your systems, with tests and agreement.

A rating gives each system shown 1 (best), -1 (worst) or 0; an answer gives its mark to the system
whose summary was read. Incomplete tasks and excluded judges give no values; the report counts them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from hiersum.config import EvaluationConfig
from hiersum.errors import InputError
from hiersum.evaluation.comparison import Table, p_value
from hiersum.evaluation.significance import (
    CONFIDENCE,
    Anova,
    Interval,
    PairTest,
    Responses,
    Scale,
    anova,
    krippendorff_alpha,
    pair_tests,
    system_intervals,
)
from hiersum.humaneval.answers import AnswerStore, Submission, answer_key, propose
from hiersum.humaneval.study import (
    BEST,
    CHECK_QUESTION,
    GOLD,
    LETTERS,
    OTHER,
    WORST,
    Study,
    Task,
    is_complete,
)

PAPER = {
    "Lead": (31.59, -0.383),
    "FT": (35.69, 0.000),
    "T-DMCA": (43.14, 0.147),
    "HT": (54.11, 0.237),
}
"""QA and rating in Table 4 of Liu & Lapata (2019)."""


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """The work of one judge."""

    judge: str
    num_done: int
    median_seconds: float
    checks_passed: int
    checks_failed: int


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one of the two evaluations."""

    name: str
    scale: int
    """Factor for display: QA from 0 to 100, ratings from -1 to 1."""
    digits: int
    means: tuple[Interval, ...]
    """One per system: from 0 to 1 for QA, from -1 to 1 for ratings."""
    num_values: tuple[int, ...]
    variance: Anova | None
    pairs: tuple[PairTest, ...]
    alpha: float | None

    def cell(self, value: float, *, sign: str = "") -> str:
        """Format a value."""
        return f"{value * self.scale:{sign}.{self.digits}f}"

    def to_record(self, systems: Sequence[str]) -> dict[str, Any]:
        """Return everything as JSON."""
        scores = {}
        for name, interval, number in zip(systems, self.means, self.num_values):
            bounds = {key: round(value * self.scale, 6) for key, value in asdict(interval).items()}
            scores[name] = {**bounds, "values": number}
        pairs = [
            {
                **asdict(pair),
                "first": systems[pair.first],
                "second": systems[pair.second],
                "difference": round(pair.difference * self.scale, 6),
            }
            for pair in self.pairs
        ]
        variance = self.variance and asdict(self.variance)
        return {"systems": scores, "anova": variance, "pairs": pairs, "alpha": self.alpha}


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
            rows = [(name, *map(str, of.values())) for name, of in self.chosen.items()]
            tables.append(Table(("comparisons", "shown", "best", "worst"), tuple(rows)))
        return [*tables, self.test_table(), self.judge_table()]

    def main_table(self) -> Table:
        """Return Table 4 with the paper's numbers."""
        paper = {plain_name(n): (f"{qa:.2f}", f"{rating:.3f}") for n, (qa, rating) in PAPER.items()}
        own = [plain_name(system) for system in self.study.systems]
        rows = []
        for place, system in enumerate(self.study.systems):
            qa, rating = paper.get(own[place], ("-", "-"))
            rows.append((system, *_mean(self.qa, place), qa, *_mean(self.rating, place), rating))
        for name in PAPER:
            if plain_name(name) not in own:
                qa, rating = paper[plain_name(name)]
                rows.append((f"{name} (paper only)", "-", "-", qa, "-", "-", rating))
        header = ("system", "QA", "interval", "paper", "rating", "interval", "paper")
        return Table(header, tuple(rows))

    def pair_table(self) -> Table:
        """Return the differences and p-values of all pairs of systems."""
        header = ["pair"]
        columns: list[list[str]] = []
        for finding in filter(None, (self.qa, self.rating)):
            header += [f"{finding.name} difference", "p (Tukey)", "p (by items)"]
            columns += [
                [finding.cell(pair.difference, sign="+") for pair in finding.pairs],
                ["-" if pair.p_tukey is None else p_value(pair.p_tukey) for pair in finding.pairs],
                [p_value(pair.p_items) for pair in finding.pairs],
            ]
        names = [f"{first} - {second}" for first, second in combinations(self.study.systems, 2)]
        return Table(tuple(header), tuple(zip(names, *columns)))

    def test_table(self) -> Table:
        """Return the analysis of variance and the judges' agreement."""
        rows = []
        for finding in filter(None, (self.qa, self.rating)):
            alpha = "-" if finding.alpha is None else f"{finding.alpha:.3f}"
            test, p = "-", "-"
            if tested := finding.variance:
                test = f"F({tested.between}, {tested.within}) = {tested.f:.2f}"
                p = p_value(tested.p)
            rows.append((finding.name, f"{sum(finding.num_values):,}", test, p, alpha))
        return Table(("all systems", "values", "ANOVA", "p", "Krippendorff's alpha"), tuple(rows))

    def judge_table(self) -> Table:
        """Return the work of each judge."""
        rows = []
        for record in self.judges:
            name = f"{record.judge} (left out)" if record.judge in self.left_out else record.judge
            total = record.checks_passed + record.checks_failed
            checks = f"{record.checks_passed} of {total}" if total else "-"
            rows.append((name, str(record.num_done), f"{record.median_seconds:.0f}", checks))
        return Table(("judge", "tasks", "median seconds", "checks passed"), tuple(rows))

    def to_record(self) -> dict[str, Any]:
        """Return everything as JSON; QA from 0 to 100, ratings from -1 to 1."""
        systems = self.study.systems
        return {
            "study": self.study.id,
            "systems": list(systems),
            "confidence": CONFIDENCE,
            "qa": self.qa and self.qa.to_record(systems),
            "rating": self.rating and self.rating.to_record(systems),
            "comparisons": self.chosen,
            "judges": [asdict(record) for record in self.judges],
            "left_out": list(self.left_out),
            "paper": {name: {"qa": qa, "rating": rating} for name, (qa, rating) in PAPER.items()},
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Observation:
    """The value that a judge gave to a system on an item."""

    item: str
    system: str
    question: str
    """Empty for ratings. Agreement is measured per item, system and question."""
    value: float


@dataclass(slots=True)
class Collected:
    """All values, and counts of what yielded none."""

    qa: list[Observation] = field(default_factory=list)
    ratings: list[Observation] = field(default_factory=list)
    num_incomplete: int = 0
    num_confirmed: int = 0
    num_proposed: int = 0
    """Answers whose mark is not confirmed."""


def score_study(
    study: Study,
    store: AnswerStore,
    config: EvaluationConfig,
    *,
    accept_proposals: bool = False,
    max_failed_checks: int | None = None,
) -> ScoreReport:
    """Score the answers so far.

    `accept_proposals` counts proposed marks that nobody has confirmed; `max_failed_checks` excludes
    judges who failed more attention checks than this.
    """
    submissions = store.current()
    records = _judge_records(study, submissions)
    left_out = [
        record.judge
        for record in records
        if max_failed_checks is not None and record.checks_failed > max_failed_checks
    ]
    collected = _collect(study, submissions, store.marks(), left_out)
    if collected.num_proposed and not accept_proposals:
        raise InputError(
            f"{collected.num_proposed:,} answers have no confirmed mark; mark them on the marking page "
            "(hiersum humaneval serve prints its link), or count the proposed marks with "
            "--accept-proposals"
        )
    qa = _finding("QA", 100, 2, collected.qa, study, config, "interval")
    rating = _finding("rating", 1, 3, collected.ratings, study, config, "ordinal")
    if qa is None and rating is None:
        raise InputError("not enough answers to score yet: every system needs at least one")
    chosen = {}
    for system in study.systems:
        values = [of.value for of in collected.ratings if of.system == system]
        best, worst = sum(value > 0 for value in values), sum(value < 0 for value in values)
        chosen[system] = {"shown": len(values), "best": best, "worst": worst}
    notes = tuple(_notes(study, collected, left_out, qa, rating))
    return ScoreReport(study, qa, rating, chosen, tuple(records), tuple(left_out), notes)


def check_outcome(study: Study, task: Task, answers: dict[str, str]) -> bool | None:
    """Whether the judge passed a task's attention check; None if it has none or no answer yet."""
    if not task.is_check:
        return None
    if task.kind == "qa":
        if CHECK_QUESTION not in answers:
            return None
        (right,) = study.questions(task)[-1].answers
        return answer_key(answers[CHECK_QUESTION]) == answer_key(right)
    if not is_complete(study, task, answers):
        return None
    best, worst = (task.shown[LETTERS.index(answers[field])] for field in (BEST, WORST))
    return best == GOLD and worst.startswith(OTHER)


def plain_name(name: str) -> str:
    """Normalise a system's name for comparison with the paper's: tdmca is T-DMCA."""
    return name.lower().replace("-", "").replace("_", "").strip()


def _mean(finding: Finding | None, place: int) -> tuple[str, str]:
    """Return the cells of a system's mean and its interval."""
    if finding is None:
        return "-", "-"
    mean = finding.means[place]
    return finding.cell(mean.mean), f"{finding.cell(mean.low)} to {finding.cell(mean.high)}"


def _judge_records(study: Study, submissions: Iterable[Submission]) -> list[JudgeRecord]:
    """Return how much each judge did, and how attentively."""
    by_judge: dict[str, list[Submission]] = defaultdict(list)
    for submission in submissions:
        by_judge[submission.judge].append(submission)
    records = []
    for judge, own in sorted(by_judge.items()):
        seconds = [s.seconds for s in own if is_complete(study, study.task[s.task], s.answers)]
        checks = Counter(check_outcome(study, study.task[s.task], s.answers) for s in own)
        median = float(np.median(seconds)) if seconds else 0.0
        records.append(JudgeRecord(judge, len(seconds), median, checks[True], checks[False]))
    return records


def _collect(
    study: Study,
    submissions: Sequence[Submission],
    marks: dict[tuple[str, str, str], float],
    left_out: Collection[str],
) -> Collected:
    """Turn answers into values, using proposed marks where none is confirmed."""
    found = Collected()
    for submission in submissions:
        task, answers = study.task[submission.task], submission.answers
        if submission.judge in left_out:
            continue
        is_whole = is_complete(study, task, answers)
        found.num_incomplete += not is_whole
        if task.kind == "rating" and is_whole and not task.is_check:
            for letter, system in zip(LETTERS, task.shown):
                value = float(letter == answers[BEST]) - float(letter == answers[WORST])
                found.ratings.append(Observation(task.item, system, "", value))
        for question in study.item[task.item].questions if task.kind == "qa" else ():
            text = answers.get(question.id)
            if text is None:
                continue
            mark = 0.0
            if text:
                known = marks.get((task.item, question.id, answer_key(text)))
                found.num_confirmed += known is not None
                found.num_proposed += known is None
                mark = propose(text, question.answers).mark if known is None else known
            found.qa.append(Observation(task.item, task.shown[0], question.id, mark))
    return found


def _finding(
    name: str,
    scale: int,
    digits: int,
    observations: Sequence[Observation],
    study: Study,
    config: EvaluationConfig,
    kind: Scale,
) -> Finding | None:
    items = [item.id for item in study.items]
    responses = Responses(
        np.array([items.index(o.item) for o in observations], dtype=np.int64),
        np.array([study.systems.index(o.system) for o in observations], dtype=np.int64),
        np.array([o.value for o in observations], dtype=np.float64),
        len(items),
        len(study.systems),
    )
    numbers = np.bincount(responses.systems, minlength=len(study.systems))
    if not numbers.all():
        return None
    units: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for o in observations:
        units[o.item, o.system, o.question].append(o.value)
    return Finding(
        name,
        scale,
        digits,
        tuple(system_intervals(responses, config)),
        tuple(numbers.tolist()),
        anova(responses),
        tuple(pair_tests(responses)),
        krippendorff_alpha(units.values(), kind),
    )


def _notes(
    study: Study,
    collected: Collected,
    left_out: Sequence[str],
    qa: Finding | None,
    rating: Finding | None,
) -> list[str]:
    """Return notes for the reader."""
    notes = []
    if collected.num_incomplete:
        notes.append(f"tasks begun and not finished: {collected.num_incomplete:,}")
    if collected.num_proposed:
        notes.append(
            f"marks that nobody has confirmed: {collected.num_proposed:,} of "
            f"{collected.num_proposed + collected.num_confirmed:,}; QA is provisional"
        )
    if left_out:
        notes.append(f"left out for failed attention checks: {', '.join(left_out)}")
    for kind, finding, found in (("qa", qa, collected.qa), ("rating", rating, collected.ratings)):
        if finding is None and any(task.kind == kind for task in study.tasks):
            notes.append(f"{kind}: not enough answers for a table yet ({len(found)} values)")
    return notes
