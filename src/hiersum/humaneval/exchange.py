"""Tasks out, answers back: HTML files for judges without network, and what all platforms share.

On every platform a task has the same fields: study, task and title; gold, summary_a, summary_b, ... for
a rating; summary, question_1, ... for questions. Answers come back as best and worst, or answer_1, ...

A judge's HTML file saves its answers as
{"format": 1, "study": ..., "judge": ..., "answers": {task: {"answers": {...}, "seconds": 12.3}}}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiersum.data.files import read_whole, write_atomically
from hiersum.data.records import BadRecords, parse_json
from hiersum.errors import DataError, InputError
from hiersum.humaneval.answers import AnswerStore, Submission
from hiersum.humaneval.study import (
    BEST,
    LETTERS,
    MAX_SECONDS,
    WORST,
    Kind,
    Study,
    Task,
    checked_answers,
    judge_view,
)

Reader = Callable[[Study, Path], Iterable["Returned"]]

_KINDS: tuple[Kind, ...] = ("qa", "rating")
_PAGES = Path(__file__).parent / "pages"
_STYLE = '<link rel="stylesheet" href="/static/style.css">'
_SCRIPT = '<script src="/static/judge.js"></script>'
# Lets the browser refuse any request from the file.
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">"
)


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """How many answers an import saved or already had, and of how many judges."""

    num_saved: int
    num_known: int
    num_judges: int


def import_answers(
    study: Study, store: AnswerStore, path: Path, read: Reader, bad: BadRecords
) -> ImportOutcome:
    """Check all answers in a file, then save them; importing a file again changes nothing.

    Raises:
        DataError: an answer is invalid and bad ones are not skipped; then nothing is saved.
    """
    session = f"import{_checksum(path)}"
    submissions = []
    for number, answer in enumerate(read(study, path), start=1):
        try:
            submissions.append(_submission(study, answer, session, number))
        except DataError as error:
            bad.handle(error)
    if not submissions and not bad.count:
        raise DataError(f"{path}: there are no answers in it")
    outcomes = store.save_all(submissions)
    num_saved = outcomes.count("saved")
    num_judges = len({submission.judge for submission in submissions})
    return ImportOutcome(num_saved, len(outcomes) - num_saved, num_judges)


def export_pages(study: Study, folder: Path) -> list[Path]:
    """Write one HTML file per judge."""
    return [
        write_text(folder / f"{judge}.html", judge_page(study, judge)) for judge in study.judges
    ]


def judge_page(study: Study, judge: str) -> str:
    """Return a page that holds its style, its script and the judge's tasks."""
    view = json.dumps(judge_view(study, judge, with_ratings=True), ensure_ascii=False)
    data = view.replace("<", "\\u003c")  # no text can end the script element
    page, style, script = (
        (_PAGES / name).read_text(encoding="utf-8")
        for name in ("judge.html", "style.css", "judge.js")
    )
    page = page.replace(_STYLE, f"{_POLICY}\n<style>\n{style}</style>")
    inside = f'<script id="study-data" type="application/json">{data}</script>'
    return page.replace(_SCRIPT, f"{inside}\n<script>\n{script}</script>")


def read_pages(study: Study, path: Path) -> Iterator[Returned]:
    """Yield the answers that a judge saved from such a page."""
    record: Any = parse_json(read_whole(path), str(path))
    try:
        study_id, judge, answers = record["study"], record["judge"], record["answers"]
        found = [(task, of["answers"], float(of["seconds"])) for task, of in answers.items()]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{path}: not a file of answers that a judge's page saved") from error
    if judge not in study.judges:
        raise DataError(f"{path}: {str(judge)[:40]!r} is not a judge of this study")
    for task, given, seconds in found:
        where = f"{path}: task {str(task)[:40]}"
        if study_id == study.id and known_task(study, task, where).judge != judge:
            raise DataError(f"{where}: is not a task of {judge}")
        yield Returned(where, str(study_id), judge, task, given, seconds)


@dataclass(frozen=True, slots=True)
class Returned:
    """One answered task, as read from a platform's results."""

    where: str
    study: str
    judge: str
    task: str
    answers: Mapping[str, str]
    seconds: float


def known_task(study: Study, task_id: str, where: str) -> Task:
    """Return a task of the study.

    Raises:
        DataError: the study has no such task.
    """
    if task_id not in study.task:
        raise DataError(f"{where}: {task_id[:40]!r} is not a task of this study")
    return study.task[task_id]


def write_text(path: Path, text: str) -> Path:
    """Write a file and return its path."""
    with write_atomically(path) as file:
        file.write(text.encode())
    return path


def tasks_by_kind(study: Study) -> Iterator[tuple[Kind, list[Task]]]:
    for kind in _KINDS:
        if tasks := [task for task in study.tasks if task.kind == kind]:
            yield kind, tasks


def task_fields(study: Study, task: Task) -> dict[str, str]:
    """Return a task's texts by field name; questions that it does not have are empty."""
    item, texts = study.item[task.item], study.texts(task)
    fields = {"study": study.id, "task": task.id, "title": item.title or item.id}
    if task.kind == "rating":
        letters = {f"summary_{x}": text for x, text in zip(LETTERS.lower(), texts)}
        return {**fields, "gold": item.gold, **letters}
    asked = dict(enumerate((question.text for question in study.questions(task)), start=1))
    questions = {f"question_{n}": asked.get(n, "") for n in question_numbers(study)}
    return {**fields, "summary": texts[0], **questions}


def field_letters(study: Study) -> str:
    """Return the letters that the study's ratings use, in lower case."""
    width = max((len(task.shown) for task in study.tasks if task.kind == "rating"), default=0)
    return LETTERS[:width].lower()


def question_numbers(study: Study) -> range:
    longest = max((len(study.questions(task)) for task in study.tasks), default=0)
    return range(1, longest + 1)


def returned(
    study: Study,
    where: str,
    account: tuple[str, str],
    ids: tuple[str, str],
    given: Mapping[str, str],
    seconds: float,
) -> Returned:
    """Return the answers to a task that someone gave on a platform.

    Args:
        study: the study that imports them.
        where: their place in the results, for errors.
        account: platform and account name; only a checksum of the name is kept.
        ids: of the study and the task.
        given: what was filled in, by field; a missing field counts as empty.
        seconds: time spent on the task.
    """
    (platform, person), (study_id, task_id) = account, ids
    digest = hashlib.sha256(f"{study.id} {platform} {person}".encode()).hexdigest()
    answers: dict[str, str] = {}
    if study_id == study.id:  # the import refuses the answers of another study
        task = known_task(study, task_id, where)
        names = {BEST: BEST, WORST: WORST}
        if task.kind == "qa":
            questions = enumerate(study.questions(task), start=1)
            names = {question.id: f"answer_{n}" for n, question in questions}
        answers = {field: given.get(name, "") for field, name in names.items()}
    return Returned(where, study_id, f"{platform}-{digest[:8]}", task_id, answers, seconds)


def _submission(study: Study, answer: Returned, session: str, number: int) -> Submission:
    if answer.study != study.id:
        raise DataError(
            f"{answer.where}: belongs to another study ({answer.study[:40]!r}, not {study.id!r})"
        )
    task = known_task(study, answer.task, answer.where)
    try:
        answers = checked_answers(study, task, answer.answers)
    except InputError as error:
        raise DataError(f"{answer.where}: {error}") from error
    seconds = min(max(answer.seconds, 0.0), MAX_SECONDS)
    return Submission(answer.judge, task.id, session, number, answers, round(seconds, 1))


def _checksum(path: Path) -> str:
    """Return a checksum of a file, or of all files in a folder."""
    if not path.exists():
        raise DataError(f"{path}: no such file")
    files = [path] if path.is_file() else sorted(f for f in path.rglob("*") if f.is_file())
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:24]
