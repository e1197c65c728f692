"""Amazon Mechanical Turk: a layout and a CSV per kind of task, and the CSV of results back.

Each row is one HIT for one worker. A layout's ${name} is replaced by the row's text as it stands, so
texts are escaped here, and what is not ASCII becomes a character reference, which no encoding can
damage. Results have a row per assignment with `Input.*` and `Answer.*`; a radio button comes back as
`Answer.best` with its value, or from crowd-form as `Answer.best.A` with true or false.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

from hiersum.data.files import read_whole, write_atomically
from hiersum.errors import DataError
from hiersum.humaneval.platforms.returned import (
    Returned,
    field_letters,
    hidden_name,
    known_task,
    num_questions,
    numbered_answers,
)
from hiersum.humaneval.study import LETTERS, Kind, Study, Task
from hiersum.text.encodings import decode_text

_REJECTED = "rejected"
_HEAD = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<style>
crowd-form { font: 16px/1.5 system-ui, sans-serif; }
.card { border: 1px solid #c9d0da; border-radius: 8px; padding: 12px 16px; margin: 12px 0;
  max-width: 60em; }
.gold { background: #fdf8ea; } .question[data-text=""] { display: none; }
fieldset { border: 0; padding: 0; margin: 16px 0; } label { margin-right: 20px; }
input[type=text] { width: 40em; max-width: 95%; padding: 6px; }
</style>
"""
_RATING_INTRO = """<p>Read the summary that a person wrote, and the others. Which of the others is the
<b>best</b> and which is the <b>worst</b> next to it? Judge by three criteria together:
<b>informativeness</b> (does it convey the important facts about the topic?), <b>fluency</b> (is it
fluent and grammatical?) and <b>succinctness</b> (does it avoid saying things twice?).</p>
"""
_QA_INTRO = """<p>Read the summary and answer the questions from it alone, in a few words. If the summary
does not tell the answer, leave the field empty; please do not guess and do not look anything up.</p>
"""


def export_tasks(study: Study, folder: Path) -> list[Path]:
    """Write layout and CSV for each kind of task that the study has."""
    paths = []
    kinds: tuple[tuple[Kind, str], ...] = (("qa", _qa_layout(study)), ("rating", _layout(study)))
    for kind, layout in kinds:
        rows = [_row(study, task) for task in study.tasks if task.kind == kind]
        if rows:
            paths += [folder / f"{kind}.html", folder / f"{kind}.csv"]
            with write_atomically(paths[-2]) as file:
                file.write(layout.encode())
            with write_atomically(paths[-1]) as file:
                file.write(_csv(rows, _columns(study, kind)).encode("ascii"))
    return paths


def read_results(study: Study, path: Path) -> Iterator[Returned]:
    """Yield the answers of a results file; rejected assignments are left out."""
    text = decode_text(read_whole(path), str(path)).removeprefix("\ufeff")
    rows = csv.DictReader(io.StringIO(text, newline=""))
    names = rows.fieldnames or []
    for name in ("WorkerId", "Input.task", "Input.study"):
        if name not in names:
            raise DataError(f"{path}: has no column {name}; is it the results file of this layout?")
    for number, row in enumerate(rows, start=2):
        where = f"{path}: row {number}"
        if (row.get("AssignmentStatus") or "").lower() == _REJECTED:
            continue
        study_id, worker = row["Input.study"] or "", row["WorkerId"] or ""
        if study_id != study.id:
            yield Returned(where, study_id, worker, "", {}, 0.0)
            continue
        task = known_task(study, row["Input.task"] or "", where)
        judge = hidden_name(study, "mturk", worker)
        seconds = _seconds(row.get("WorkTimeInSeconds"))
        yield Returned(where, study_id, judge, task.id, _answers(study, task, row), seconds)


def _answers(study: Study, task: Task, row: Mapping[str, str | None]) -> dict[str, str]:
    if task.kind == "qa":
        numbers = range(1, num_questions(study) + 1)
        texts = {number: row.get(f"Answer.answer_{number}") or "" for number in numbers}
        return numbered_answers(study, task, texts)
    letters = LETTERS[: len(task.shown)]
    answers = {}
    for field in ("best", "worst"):
        ticked = [x for x in letters if (row.get(f"Answer.{field}.{x}") or "").lower() == "true"]
        answers[field] = row.get(f"Answer.{field}") or (ticked[0] if len(ticked) == 1 else "")
    return answers


def _seconds(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def _columns(study: Study, kind: Kind) -> list[str]:
    if kind == "rating":
        letters = [f"summary_{letter}" for letter in field_letters(study)]
        return ["study", "task", "title", "gold", *letters]
    return ["study", "task", "title", "summary", *_question_names(study)]


def _question_names(study: Study) -> list[str]:
    return [f"question_{number}" for number in range(1, num_questions(study) + 1)]


def _row(study: Study, task: Task) -> dict[str, str]:
    row = {"study": study.id, "task": task.id, "title": study.item[task.item].title}
    if task.kind == "rating":
        row["gold"] = study.item[task.item].gold
        row |= {f"summary_{x.lower()}": t for x, t in zip(LETTERS, study.texts(task))}
    else:
        row["summary"] = study.texts(task)[0]
        asked = [question.text for question in study.questions(task)]
        names = _question_names(study)
        row |= dict(zip(names, asked + [""] * (len(names) - len(asked))))
    return {name: _escaped(text) for name, text in row.items()}


def _escaped(text: str) -> str:
    html = escape(" ".join(text.split())).replace("${", "&#36;{")
    return html.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _csv(rows: list[dict[str, str]], columns: list[str]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _layout(study: Study) -> str:
    letters = field_letters(study)
    cards = "".join(
        f'<div class="card"><h3>Summary {letter.upper()}</h3><p>${{summary_{letter}}}</p></div>\n'
        for letter in letters
    )
    choices = "".join(
        f"<fieldset><legend><b>Which summary is the {field}?</b></legend>\n"
        + "".join(
            f'<label><input type="radio" name="{field}" value="{letter.upper()}" required> '
            f"{letter.upper()}</label>\n"
            for letter in letters
        )
        + "</fieldset>\n"
        for field in ("best", "worst")
    )
    gold = '<div class="card gold"><h3>Written by a person</h3><p>${gold}</p></div>\n'
    return _form(f"{_RATING_INTRO}{gold}{cards}{choices}")


def _qa_layout(study: Study) -> str:
    fields = "".join(
        f'<p class="question" data-text="${{question_{n}}}"><label for="answer_{n}">${{question_{n}}}'
        f'</label><br>\n<input type="text" id="answer_{n}" name="answer_{n}" autocomplete="off"></p>\n'
        for n in range(1, num_questions(study) + 1)
    )
    card = '<div class="card"><h3>Summary</h3><p>${summary}</p></div>\n'
    return _form(f"{_QA_INTRO}{card}{fields}")


def _form(content: str) -> str:
    return f"{_HEAD}<crowd-form>\n<h2>${{title}}</h2>\n{content}</crowd-form>\n"
