"""From answers to results: which value each judge gave to which system, and what follows.

A rating gives each system it shows 1 (best), -1 (worst) or 0; an answer to a question gives its mark to
the system whose summary was read. Incomplete tasks, and judges who are left out, give no values; the
report says how many there were.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from hiersum.config import EvaluationConfig
from hiersum.errors import InputError
from hiersum.humaneval.answers import AnswerStore, Submission, answer_key, propose
from hiersum.humaneval.score_report import Finding, JudgeRecord, ScoreReport
from hiersum.humaneval.statistics import (
    Responses,
    Scale,
    anova,
    krippendorff_alpha,
    pair_tests,
    system_intervals,
)
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


@dataclass(frozen=True, slots=True)
class Observation:
    """The value that a judge gave to a system on an item."""

    judge: str
    item: str
    system: str
    unit: tuple[str, ...]
    """What was judged; judges agree if they give the same unit the same value."""
    value: float


@dataclass(slots=True)
class Collected:
    """All values, and counts of what gave none."""

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

    Args:
        study: the study.
        store: its answers and marks.
        config: bootstrap, randomisation and seed.
        accept_proposals: count proposed marks that nobody has confirmed.
        max_failed_checks: leave out judges who failed more attention checks than this.

    Raises:
        InputError: there is nothing to score, or answers are not marked yet.
    """
    submissions = store.current()
    records = judge_records(study, submissions)
    left_out = [
        record.judge
        for record in records
        if max_failed_checks is not None and record.checks_failed > max_failed_checks
    ]
    collected = collect(study, submissions, store.marks(), left_out=left_out)
    if collected.num_proposed and not accept_proposals:
        raise InputError(
            f"{collected.num_proposed:,} answers have no confirmed mark; mark them on the marking page "
            "(hiersum humaneval serve prints its link), or count the proposed marks with "
            "--accept-proposals"
        )
    qa = _finding("QA", collected.qa, study, config, "interval")
    rating = _finding("rating", collected.ratings, study, config, "ordinal")
    if qa is None and rating is None:
        raise InputError(
            "there are not enough answers to score yet: every system needs at least one"
        )
    return ScoreReport(
        study,
        qa,
        rating,
        _choices(study, collected.ratings),
        tuple(records),
        tuple(left_out),
        tuple(_notes(study, collected, left_out, qa, rating)),
    )


def collect(
    study: Study,
    submissions: Sequence[Submission],
    marks: dict[tuple[str, str, str], float],
    *,
    left_out: Collection[str] = (),
) -> Collected:
    """Turn answers into values; where a mark is not confirmed, use the proposed one."""
    collected = Collected()
    for submission in submissions:
        task = study.task[submission.task]
        if submission.judge in left_out:
            continue
        if not is_complete(study, task, submission.answers):
            collected.num_incomplete += 1
        if task.kind == "rating":
            if not task.is_check and is_complete(study, task, submission.answers):
                collected.ratings += _rating_values(task, submission)
        else:
            _add_qa_values(collected, study, task, submission, marks)
    return collected


def judge_records(study: Study, submissions: Iterable[Submission]) -> list[JudgeRecord]:
    """Return how much each judge did, and how attentively."""
    by_judge: dict[str, list[Submission]] = defaultdict(list)
    for submission in submissions:
        by_judge[submission.judge].append(submission)
    return [_judge_record(study, judge, by_judge[judge]) for judge in sorted(by_judge)]


def table_of(observations: Sequence[Observation], study: Study) -> Responses:
    """Return the values as arrays."""
    item_place = {item.id: number for number, item in enumerate(study.items)}
    system_place = {name: number for number, name in enumerate(study.systems)}
    return Responses(
        np.array([item_place[o.item] for o in observations], dtype=np.int64),
        np.array([system_place[o.system] for o in observations], dtype=np.int64),
        np.array([o.value for o in observations], dtype=np.float64),
        len(study.items),
        len(study.systems),
    )


def agreement_units(observations: Iterable[Observation]) -> list[list[float]]:
    """Return the values of each unit."""
    units: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for observation in observations:
        units[observation.unit].append(observation.value)
    return list(units.values())


def check_outcome(study: Study, task: Task, answers: dict[str, str]) -> bool | None:
    """Did the judge pass the attention check of a task? None if it has none or no answer yet."""
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


def _judge_record(study: Study, judge: str, submissions: Sequence[Submission]) -> JudgeRecord:
    done = [s for s in submissions if is_complete(study, study.task[s.task], s.answers)]
    outcomes = Counter(check_outcome(study, study.task[s.task], s.answers) for s in submissions)
    seconds = float(np.median([s.seconds for s in done])) if done else 0.0
    return JudgeRecord(judge, len(done), seconds, outcomes[True], outcomes[False])


def _rating_values(task: Task, submission: Submission) -> list[Observation]:
    best, worst = (LETTERS.index(submission.answers[field]) for field in (BEST, WORST))
    return [
        Observation(
            submission.judge,
            task.item,
            system,
            (task.item, system),
            float(place == best) - float(place == worst),
        )
        for place, system in enumerate(task.shown)
    ]


def _add_qa_values(
    collected: Collected,
    study: Study,
    task: Task,
    submission: Submission,
    marks: dict[tuple[str, str, str], float],
) -> None:
    (system,) = task.shown
    for question in study.item[task.item].questions:
        text = submission.answers.get(question.id)
        if text is None:
            continue
        mark = 0.0
        if text:
            known = marks.get((task.item, question.id, answer_key(text)))
            collected.num_confirmed += known is not None
            collected.num_proposed += known is None
            mark = propose(text, question.answers).mark if known is None else known
        unit = (task.item, system, question.id)
        collected.qa.append(Observation(submission.judge, task.item, system, unit, mark))


def _finding(
    name: str,
    observations: Sequence[Observation],
    study: Study,
    config: EvaluationConfig,
    scale: Scale,
) -> Finding | None:
    responses = table_of(observations, study)
    numbers = np.bincount(responses.systems, minlength=len(study.systems))
    if not observations or not numbers.all():
        return None
    return Finding(
        name,
        tuple(system_intervals(responses, config)),
        tuple(numbers.tolist()),
        anova(responses),
        tuple(pair_tests(responses, config)),
        krippendorff_alpha(agreement_units(observations), scale),
    )


def _choices(study: Study, ratings: Sequence[Observation]) -> dict[str, dict[str, int]]:
    chosen = {system: {"shown": 0, "best": 0, "worst": 0} for system in study.systems}
    for observation in ratings:
        of = chosen[observation.system]
        of["shown"] += 1
        of["best"] += observation.value > 0
        of["worst"] += observation.value < 0
    return chosen


def _notes(
    study: Study,
    collected: Collected,
    left_out: Sequence[str],
    qa: Finding | None,
    rating: Finding | None,
) -> list[str]:
    """Return what readers of the numbers should know."""
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
            notes.append(f"{kind}: no table yet, for want of answers ({len(found)} values)")
    return notes
