"""Judges without network: a page for each as an HTML file, and the answers it saves.

A page saves its answers as
{"format": 1, "study": ..., "judge": ..., "answers": {task: {"answers": {...}, "seconds": 12.3}}}
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiersum.data.files import read_whole, write_atomically
from hiersum.data.records import BadRecords, parse_json
from hiersum.errors import DataError, InputError
from hiersum.humaneval.answers import AnswerStore, Submission
from hiersum.humaneval.study import MAX_SECONDS, Study, checked_answers, judge_view

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
    """How many answers an import saved, and how many were known before."""

    num_saved: int
    num_known: int


def export_pages(study: Study, folder: Path) -> list[Path]:
    """Write one HTML file per judge; return the files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})") from error
    paths = []
    for judge in study.judges:
        paths.append(folder / f"{judge}.html")
        with write_atomically(paths[-1]) as file:
            file.write(judge_page(study, judge).encode())
    return paths


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


def import_answers(study: Study, store: AnswerStore, path: Path, bad: BadRecords) -> ImportOutcome:
    """Check all answers that a judge's page saved, then save them; importing twice changes nothing.

    Raises:
        DataError: an answer is invalid and bad ones are not skipped; then nothing is saved.
    """
    data = read_whole(path)
    record: Any = parse_json(data, str(path))
    try:
        study_id, judge, answers = record["study"], record["judge"], record["answers"]
        found = [(str(task), of["answers"], float(of["seconds"])) for task, of in answers.items()]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{path}: not a file of answers that a judge's page saved") from error
    if study_id != study.id:
        raise DataError(
            f"{path}: belongs to another study ({str(study_id)[:40]!r}, not {study.id!r})"
        )
    if judge not in study.judges:
        raise DataError(f"{path}: {str(judge)[:40]!r} is not a judge of this study")
    if not found:
        raise DataError(f"{path}: there are no answers in it")
    session = f"import{hashlib.sha256(data).hexdigest()[:24]}"
    submissions = []
    for number, (task_id, given, seconds) in enumerate(found, start=1):
        try:
            checked = _checked(study, judge, task_id, given)
        except InputError as error:
            bad.handle(DataError(f"{path}: {error}"))
            continue
        seconds = round(min(max(seconds, 0.0), MAX_SECONDS), 1)
        submissions.append(Submission(judge, task_id, session, number, checked, seconds))
    outcomes = store.save_all(submissions)
    num_saved = outcomes.count("saved")
    return ImportOutcome(num_saved, len(outcomes) - num_saved)


def _checked(study: Study, judge: str, task_id: str, answers: Any) -> dict[str, str]:
    task = study.task.get(task_id)
    if task is None:
        raise InputError(f"{task_id[:40]!r} is not a task of this study")
    if task.judge != judge:
        raise InputError(f"task {task_id}: is not a task of {judge}")
    return checked_answers(study, task, answers)
