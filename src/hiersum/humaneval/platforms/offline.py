"""One HTML file per judge that needs no network; its answers come back as a JSON file.

{"format": 1, "study": ..., "judge": ..., "answers": {task: {"answers": {...}, "seconds": 12.3}}}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hiersum.data.files import read_whole, write_atomically
from hiersum.data.records import parse_json
from hiersum.errors import DataError
from hiersum.humaneval.platforms.returned import Returned, known_task
from hiersum.humaneval.study import Study
from hiersum.humaneval.views import judge_view

_PAGES = Path(__file__).parents[1] / "pages"
_STYLE = '<link rel="stylesheet" href="/static/style.css">'
_SCRIPT = '<script src="/static/judge.js"></script>'
# The file asks nobody for anything, and says so to the browser.
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">"
)


def export_pages(study: Study, folder: Path) -> list[Path]:
    """Write the page of every judge."""
    paths = []
    for judge in study.judges:
        path = folder / f"{judge}.html"
        with write_atomically(path) as file:
            file.write(judge_page(study, judge).encode())
        paths.append(path)
    return paths


def judge_page(study: Study, judge: str) -> str:
    """Return a page with everything inside: style, program and the judge's tasks."""
    view = json.dumps(judge_view(study, judge, with_ratings=True), ensure_ascii=False)
    data = view.replace("<", "\\u003c")  # so that no text can end the script element
    page = (_PAGES / "judge.html").read_text(encoding="utf-8")
    style = (_PAGES / "style.css").read_text(encoding="utf-8")
    script = (_PAGES / "judge.js").read_text(encoding="utf-8")
    page = page.replace(_STYLE, f"{_POLICY}\n<style>\n{style}</style>")
    inside = f'<script id="study-data" type="application/json">{data}</script>'
    return page.replace(_SCRIPT, f"{inside}\n<script>\n{script}</script>")


def read_answers(study: Study, path: Path) -> Iterator[Returned]:
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
