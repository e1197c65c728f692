"""What a judge hands in, checked against the task it claims to answer.

    rating   {"best": "A", "worst": "C"}
    qa       {"q1": "in 1931", "q2": ""}; an empty answer says that the summary does not tell

A part of an answer is as welcome as all of it: the page saves after every choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hiersum.errors import InputError
from hiersum.humaneval.study import LETTERS, Study, Task
from hiersum.text.encodings import clean_text

MAX_ANSWER = 500
"""Characters of one answer; a summary's own sentence is shorter."""
MAX_SECONDS = 1_000_000.0
BEST, WORST = "best", "worst"


def checked_answers(study: Study, task: Task, answers: Any) -> dict[str, str]:
    """Return the answers to a task as they are kept.

    Raises:
        InputError: they answer something else than what the task asks.
    """
    if not isinstance(answers, Mapping):
        raise InputError(f"task {task.id}: answers must be an object")
    known = answer_fields(study, task)
    checked = {}
    for field, value in answers.items():
        if field not in known:
            raise InputError(
                f"task {task.id}: asks no {str(field)[:40]!r}; it asks {', '.join(known)}"
            )
        if not isinstance(value, str):
            raise InputError(f"task {task.id}: {field} must be text")
        if len(value) > MAX_ANSWER:
            raise InputError(
                f"task {task.id}: {field} has {len(value):,} characters; {MAX_ANSWER} are allowed"
            )
        checked[field] = " ".join(clean_text(value).split())
    if task.kind == "rating":
        _check_rating(task, checked)
    return checked


def answer_fields(study: Study, task: Task) -> list[str]:
    """Return what a whole answer to a task holds."""
    return [BEST, WORST] if task.kind == "rating" else [q.id for q in study.questions(task)]


def is_complete(study: Study, task: Task, answers: Mapping[str, str]) -> bool:
    """Is everything answered that the task asks?"""
    return all(field in answers for field in answer_fields(study, task))


def checked_seconds(value: Any) -> float:
    """Return a time as it is kept; what a clock cannot have measured is refused."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError("seconds must be a number")
    if not 0 <= value <= MAX_SECONDS:
        raise InputError(f"seconds must be from 0 to {MAX_SECONDS:,.0f}, got {value}")
    return round(float(value), 1)


def _check_rating(task: Task, answers: Mapping[str, str]) -> None:
    letters = LETTERS[: len(task.shown)]
    for field, letter in answers.items():
        if len(letter) != 1 or letter not in letters:
            raise InputError(
                f"task {task.id}: {field} must be one of {', '.join(letters)}, got {letter[:20]!r}"
            )
    if len(answers) == 2 and answers[BEST] == answers[WORST]:
        raise InputError(f"task {task.id}: best and worst are the same, {answers[BEST]}")
