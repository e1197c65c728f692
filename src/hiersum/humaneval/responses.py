"""From answers to numbers: which value each judge gave to which system on which item.

A rating gives each system it shows 1 (best), -1 (worst) or 0; an answer to a question gives the system
whose summary was read its mark. What is incomplete, not marked yet, or from a judge who is left out does
not count, and is counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from hiersum.humaneval.answers import Submission
from hiersum.humaneval.marking import answer_key, propose
from hiersum.humaneval.statistics import Responses
from hiersum.humaneval.study import CHECK_QUESTION, GOLD, LETTERS, OTHER, Study, Task
from hiersum.humaneval.submissions import BEST, WORST, is_complete


@dataclass(frozen=True, slots=True)
class Observation:
    """A value that a judge gave to a system on an item; `unit` is what others gave values to too."""

    judge: str
    item: str
    system: str
    unit: tuple[str, ...]
    value: float


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """What one judge did."""

    judge: str
    num_done: int
    median_seconds: float
    checks_passed: int
    checks_failed: int


@dataclass(slots=True)
class Collected:
    """All values, and what did not give one."""

    qa: list[Observation] = field(default_factory=list)
    ratings: list[Observation] = field(default_factory=list)
    num_incomplete: int = 0
    num_repeated: int = 0
    """Tasks on an item that the judge had answered questions on before."""
    num_confirmed: int = 0
    num_proposed: int = 0
    """Answers whose mark nobody has confirmed."""


def collect(
    study: Study,
    submissions: Sequence[Submission],
    marks: dict[tuple[str, str, str], float],
    *,
    left_out: Collection[str] = (),
) -> Collected:
    """Turn answers into values; unconfirmed marks count as proposed, and are counted."""
    collected = Collected()
    seen: set[tuple[str, str, str]] = set()
    for submission in submissions:
        task = study.task[submission.task]
        if submission.judge in left_out:
            continue
        if not is_complete(study, task, submission.answers):
            collected.num_incomplete += 1
        if task.kind == "rating":
            if not task.is_check and is_complete(study, task, submission.answers):
                collected.ratings += _rating_values(task, submission)
            continue
        key = (submission.judge, task.kind, task.item)
        if key in seen:  # who has read a summary of an item knows more when reading the next
            collected.num_repeated += 1
            continue
        seen.add(key)
        _add_qa_values(collected, study, task, submission, marks)
    return collected


def judge_records(study: Study, submissions: Iterable[Submission]) -> list[JudgeRecord]:
    """Return what each judge did, and how attentively."""
    by_judge: dict[str, list[Submission]] = defaultdict(list)
    for submission in submissions:
        by_judge[submission.judge].append(submission)
    return [_judge_record(study, judge, by_judge[judge]) for judge in sorted(by_judge)]


def table_of(observations: Sequence[Observation], study: Study) -> Responses:
    """Return values as the arrays that statistics are made from."""
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
    """Return the values that different judges gave to the same thing."""
    units: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for observation in observations:
        units[observation.unit].append(observation.value)
    return list(units.values())


def check_outcome(study: Study, task: Task, answers: dict[str, str]) -> bool | None:
    """Did the judge pass the attention check of a task? None if there is none, or no answer yet."""
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
