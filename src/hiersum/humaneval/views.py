"""What a judge's browser, or a file for a judge, is told: texts and questions, never which system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hiersum.humaneval.answers import Submission
from hiersum.humaneval.study import LETTERS, Study, Task
from hiersum.humaneval.submissions import MAX_ANSWER


def judge_view(study: Study, judge: str, *, with_ratings: bool) -> dict[str, Any]:
    """Return a judge's tasks in order.

    Args:
        study: the study.
        judge: whose tasks.
        with_ratings: also tell the ratings, whose gold summaries answer the questions before them.
    """
    qa, ratings = study.tasks_of(judge, "qa"), study.tasks_of(judge, "rating")
    is_open = with_ratings or not qa
    return {
        "study": study.id,
        "judge": judge,
        "max_answer": MAX_ANSWER,
        "qa": [task_view(study, task) for task in qa],
        "ratings": [task_view(study, task) for task in ratings] if is_open else None,
        "num_ratings": len(ratings),
    }


def task_view(study: Study, task: Task) -> dict[str, Any]:
    """Return what a task shows and asks."""
    texts = study.texts(task)
    view: dict[str, Any] = {"id": task.id, "title": study.item[task.item].title}
    if task.kind == "qa":
        questions = [{"id": q.id, "text": q.text} for q in study.questions(task)]
        return {**view, "summary": texts[0], "questions": questions}
    letters = [{"letter": letter, "text": text} for letter, text in zip(LETTERS, texts)]
    return {**view, "gold": study.item[task.item].gold, "summaries": letters}


def saved_view(submissions: Iterable[Submission]) -> Mapping[str, Any]:
    """Return what a judge has answered so far, by task."""
    return {s.task: {"answers": s.answers, "seconds": s.seconds} for s in submissions}
