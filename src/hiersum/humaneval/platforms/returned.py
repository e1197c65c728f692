"""Answers that come back from elsewhere, checked like any others and kept once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hiersum.data.records import BadRecords
from hiersum.errors import DataError, InputError
from hiersum.humaneval.answers import AnswerStore, Submission
from hiersum.humaneval.study import LETTERS, Study, Task
from hiersum.humaneval.submissions import MAX_SECONDS, checked_answers

Reader = Callable[[Study, Path], Iterable["Returned"]]


@dataclass(frozen=True, slots=True)
class Returned:
    """One answered task as another tool tells of it."""

    where: str
    study: str
    judge: str
    task: str
    answers: Mapping[str, str]
    seconds: float


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """What an import did."""

    num_saved: int
    num_known: int
    num_judges: int


def import_answers(
    study: Study, store: AnswerStore, path: Path, read: Reader, bad: BadRecords
) -> ImportOutcome:
    """Check all answers of a file, then keep them; the same file again changes nothing.

    Raises:
        DataError: an answer cannot be used, and bad ones are not skipped; then nothing is kept.
    """
    session = f"import{_content_checksum(path)}"
    submissions = []
    for number, returned in enumerate(read(study, path), start=1):
        try:
            submissions.append(_submission(study, returned, session, number))
        except DataError as error:
            bad.handle(error)
    if not submissions and not bad.count:
        raise DataError(f"{path}: there are no answers in it")
    outcomes = store.save_all(submissions)
    return ImportOutcome(
        outcomes.count("saved"),
        len(outcomes) - outcomes.count("saved"),
        len({submission.judge for submission in submissions}),
    )


def hidden_name(study: Study, platform: str, person: str) -> str:
    """Return a name for someone whose account should not stand in our files."""
    digest = hashlib.sha256(f"{study.id} {platform} {person}".encode()).hexdigest()
    return f"{platform}-{digest[:8]}"


def numbered_answers(study: Study, task: Task, texts: Mapping[int, str]) -> dict[str, str]:
    """Return answers given by number of the question; what was left empty, the summary did not tell."""
    questions = study.questions(task)
    return {question.id: texts.get(n, "") for n, question in enumerate(questions, start=1)}


def field_letters(study: Study) -> str:
    """Return the letters that some rating of the study uses, small."""
    width = max((len(task.shown) for task in study.tasks if task.kind == "rating"), default=0)
    return LETTERS[:width].lower()


def num_questions(study: Study) -> int:
    """Return how many questions the longest task asks."""
    return max((len(study.questions(task)) for task in study.tasks), default=0)


def known_task(study: Study, task_id: str, where: str) -> Task:
    """Return a task of the study.

    Raises:
        DataError: there is none of this id.
    """
    if task_id not in study.task:
        raise DataError(f"{where}: {task_id[:40]!r} is not a task of this study")
    return study.task[task_id]


def _submission(study: Study, returned: Returned, session: str, number: int) -> Submission:
    if returned.study != study.id:
        raise DataError(
            f"{returned.where}: belongs to another study ({returned.study[:40]!r}, not {study.id!r})"
        )
    task = known_task(study, returned.task, returned.where)
    try:
        answers = checked_answers(study, task, returned.answers)
    except InputError as error:
        raise DataError(f"{returned.where}: {error}") from error
    seconds = min(max(returned.seconds, 0.0), MAX_SECONDS)
    return Submission(returned.judge, task.id, session, number, answers, round(seconds, 1))


def _content_checksum(path: Path) -> str:
    digest = hashlib.sha256()
    for file in _files(path):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise DataError(f"{path}: no such file")
    if path.is_file():
        yield path
    else:
        yield from sorted(file for file in path.rglob("*") if file.is_file())
