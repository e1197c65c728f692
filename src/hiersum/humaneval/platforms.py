"""Judging elsewhere: tasks for Mechanical Turk, Potato and Label Studio, and their results."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from hiersum.data.files import read_lines, read_whole
from hiersum.data.records import parse_json
from hiersum.errors import DataError, InputError
from hiersum.humaneval.exchange import (
    Reader,
    Returned,
    export_pages,
    field_letters,
    question_numbers,
    read_pages,
    returned,
    task_fields,
    tasks_by_kind,
    write_text,
)
from hiersum.humaneval.study import BEST, LETTERS, WORST, Kind, Study, Task
from hiersum.text.encodings import decode_text

_CRITERIA = (
    "Judge by informativeness (important facts), fluency (good language) and succinctness "
    "(nothing said twice), next to the summary that a person wrote."
)

# Amazon Mechanical Turk: a layout and a CSV per kind of task. MTurk inserts a row's text for ${name} as
# it is, so texts are escaped here, and what is not ASCII becomes a character reference, which survives
# any encoding. Results have a row per assignment with `Input.*` and `Answer.*`; a radio button comes
# back as `Answer.best` with its value, or from crowd-form as `Answer.best.A` with true or false.

_MTURK_HEAD = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<style>
crowd-form { font: 16px/1.5 system-ui, sans-serif; }
.card { border: 1px solid #c9d0da; border-radius: 8px; padding: 12px 16px; margin: 12px 0;
  max-width: 60em; }
.gold { background: #fdf8ea; } .question[data-text=""] { display: none; }
fieldset { border: 0; padding: 0; margin: 16px 0; } label { margin-right: 20px; }
input[type=text] { width: 40em; max-width: 95%; padding: 6px; }
</style>
"""
_MTURK_RATING = """<p>Read the summary that a person wrote, and the others. Which of the others is the
<b>best</b> and which is the <b>worst</b> next to it? Judge by three criteria together:
<b>informativeness</b> (does it convey the important facts about the topic?), <b>fluency</b> (is it
fluent and grammatical?) and <b>succinctness</b> (does it avoid saying things twice?).</p>
<div class="card gold"><h3>Written by a person</h3><p>${gold}</p></div>
"""
_MTURK_QA = """<p>Read the summary and answer the questions from it alone, in a few words. If the summary
does not tell the answer, leave the field empty; please do not guess and do not look anything up.</p>
<div class="card"><h3>Summary</h3><p>${summary}</p></div>
"""


def export_mturk(study: Study, folder: Path) -> list[Path]:
    """Write a layout and a CSV for each kind of task."""
    paths = []
    for kind, tasks in tasks_by_kind(study):
        rows = [task_fields(study, task) for task in tasks]
        columns = max((list(row) for row in rows), key=len)
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, columns, lineterminator="\r\n")
        writer.writeheader()
        writer.writerows({name: mturk_text(value) for name, value in row.items()} for row in rows)
        form = _mturk_qa(study) if kind == "qa" else _mturk_rating(study)
        layout = f"{_MTURK_HEAD}<crowd-form>\n<h2>${{title}}</h2>\n{form}</crowd-form>\n"
        paths.append(write_text(folder / f"{kind}.html", layout))
        paths.append(write_text(folder / f"{kind}.csv", text.getvalue()))
    return paths


def read_mturk(study: Study, path: Path) -> Iterator[Returned]:
    """Yield the answers of a results file, without rejected assignments."""
    text = decode_text(read_whole(path), str(path)).removeprefix("\ufeff")
    rows = csv.DictReader(io.StringIO(text, newline=""), restkey="")
    for name in ("WorkerId", "Input.task", "Input.study"):
        if name not in (rows.fieldnames or []):
            raise DataError(f"{path}: has no column {name}; is it the results file of this layout?")
    for number, row in enumerate(rows, start=2):
        if (row.get("AssignmentStatus") or "").lower() != "rejected":
            seconds = row.get("WorkTimeInSeconds") or ""
            yield returned(
                study,
                f"{path}: row {number}",
                ("mturk", row["WorkerId"] or ""),
                (row["Input.study"] or "", row["Input.task"] or ""),
                _mturk_answers(row),
                float(seconds) if seconds.isdecimal() else 0.0,
            )


def mturk_text(text: str) -> str:
    """Escape a text for a layout, on one line and in ASCII."""
    html = escape(" ".join(text.split())).replace("${", "&#36;{")
    return html.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _mturk_answers(row: Mapping[str, str | None]) -> dict[str, str]:
    columns = {name: value or "" for name, value in row.items() if name.startswith("Answer.")}
    given = {name.removeprefix("Answer."): value for name, value in columns.items()}
    for field in (BEST, WORST):
        ticked = [x for x in LETTERS if given.get(f"{field}.{x}", "").lower() == "true"]
        if not given.get(field) and len(ticked) == 1:
            given[field] = ticked[0]
    return given


def _mturk_rating(study: Study) -> str:
    letters = field_letters(study)
    cards = "".join(
        f'<div class="card"><h3>Summary {x.upper()}</h3><p>${{summary_{x}}}</p></div>\n'
        for x in letters
    )
    choices = ""
    for field in (BEST, WORST):
        buttons = "".join(
            f'<label><input type="radio" name="{field}" value="{x}" required> {x}</label>\n'
            for x in letters.upper()
        )
        legend = f"<legend><b>Which summary is the {field}?</b></legend>"
        choices += f"<fieldset>{legend}\n{buttons}</fieldset>\n"
    return f"{_MTURK_RATING}{cards}{choices}"


def _mturk_qa(study: Study) -> str:
    fields = "".join(
        f'<p class="question" data-text="${{question_{n}}}"><label for="answer_{n}">${{question_{n}}}'
        f'</label><br>\n<input type="text" id="answer_{n}" name="answer_{n}" autocomplete="off"></p>\n'
        for n in question_numbers(study)
    )
    return f"{_MTURK_QA}{fields}"


# Potato: a project folder per kind of task, with config.yaml and a file of instances. An annotator's
# answers are in annotation_output/ANNOTATOR/user_state.json, where `instance_id_to_label_to_value` lists,
# for each instance, pairs of {"schema", "name"} and a value; older versions write
# annotated_instances.jsonl with `label_annotations`.

_OUTPUT = "annotation_output"
_STATE, _LINES = "user_state.json", "annotated_instances.jsonl"
_POTATO = """annotation_task_name: {name}
task_dir: .
output_annotation_dir: {output}
data_files:
  - tasks.jsonl
item_properties:
  id_key: id
  text_key: text
num_annotators_per_item: 1
assignment_strategy: random
require_password: false
user_config:
  allow_all_users: true
instance_display:
  fields:
{fields}annotation_schemes:
{schemes}"""


def export_potato(study: Study, folder: Path) -> list[Path]:
    """Write a project for each kind of task."""
    paths = []
    for kind, tasks in tasks_by_kind(study):
        project = folder / kind
        try:
            project.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{project}: cannot be made ({error.strerror})") from error
        lines = [json.dumps(_instance(study, task), ensure_ascii=False) for task in tasks]
        paths.append(write_text(project / "config.yaml", _potato_config(study, kind)))
        paths.append(write_text(project / "tasks.jsonl", "".join(f"{line}\n" for line in lines)))
    return paths


def read_potato(study: Study, path: Path) -> Iterator[Returned]:
    """Yield the answers in Potato's output folder, or in one annotator's file."""
    files = sorted(
        [path] if path.is_file() else [*path.rglob(_STATE), *path.rglob(_LINES)], key=str
    )
    if not files:
        raise DataError(f"{path}: holds no {_STATE}; give the project's {_OUTPUT}")
    # A folder with both files has the same answers twice.
    folders = {file.parent for file in files if file.name == _STATE}
    for file in files:
        if file.name == _LINES and file.parent in folders:
            continue
        try:
            for where, annotator, instance, labels, seconds in _potato_labels(file):
                study_id, _, task_id = instance.rpartition("-")
                given = {schema: _picked(of) for schema, of in labels.items()}
                yield returned(
                    study, where, ("potato", annotator), (study_id, task_id), given, seconds
                )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise DataError(f"{file}: damaged ({error!r})") from error


def _potato_labels(path: Path) -> Iterator[tuple[str, str, str, dict[str, dict[str, Any]], float]]:
    """Yield place, annotator, instance, values by schema and label, and seconds."""
    if path.name == _LINES:
        for number, line in read_lines(path):
            where = f"{path}:{number}"
            record = parse_json(line, where)
            yield where, path.parent.name, str(record["id"]), record["label_annotations"], 0.0
        return
    state = parse_json(read_whole(path), str(path))
    times = state.get("instance_id_to_behavioral_data") or {}
    for instance, pairs in state["instance_id_to_label_to_value"].items():
        labels: dict[str, dict[str, Any]] = {}
        for label, value in pairs:
            labels.setdefault(label["schema"], {})[label["name"]] = value
        seconds = float((times.get(instance) or {}).get("total_time_ms") or 0) / 1000
        yield f"{path}: {instance}", str(state["user_id"]), instance, labels, seconds


def _picked(labels: Mapping[str, Any]) -> str:
    """Return the content of a text box, or the one label that was chosen."""
    if "text_box" in labels:
        return str(labels["text_box"] or "")
    chosen = [name for name, value in labels.items() if value not in (None, "", False, "false")]
    return chosen[0] if len(chosen) == 1 else ""


def _instance(study: Study, task: Task) -> dict[str, str]:
    fields = task_fields(study, task)
    shown = {name: text for name, text in fields.items() if name.startswith(("gold", "summary"))}
    if task.kind == "qa":
        asked = enumerate(study.questions(task), start=1)
        shown["questions"] = "\n".join(f"{n}. {question.text}" for n, question in asked)
    return {"id": f"{study.id}-{task.id}", "text": fields["title"], **shown}


def _potato_config(study: Study, kind: Kind) -> str:
    letters = field_letters(study)
    if kind == "rating":
        fields = [("gold", "Written by a person")]
        fields += [(f"summary_{x}", f"Summary {x.upper()}") for x in letters]
        schemes = "".join(
            f"  - annotation_type: radio\n    name: {name}\n"
            f"    description: {json.dumps(f'Which summary is the {name}? {_CRITERIA}')}\n"
            f"    labels: [{', '.join(letters.upper())}]\n"
            "    label_requirement:\n      required: true\n"
            for name in (BEST, WORST)
        )
    else:
        fields = [("summary", "Summary"), ("questions", "Questions: answer from the summary alone")]
        schemes = "".join(
            f"  - annotation_type: text\n    name: answer_{n}\n"
            f'    description: "Answer to question {n}, if there is one and the summary tells it"\n'
            for n in question_numbers(study)
        )
    shown = "".join(
        f"    - key: {key}\n      type: text\n      label: {json.dumps(label)}\n"
        for key, label in [("text", "Topic"), *fields]
    )
    return _POTATO.format(name=f"hiersum-{kind}", output=_OUTPUT, fields=shown, schemes=schemes)


# Label Studio: a labelling interface and a file of tasks per kind. Its JSON export is a list of tasks,
# each with its `data` as imported and `annotations`; an annotation has `completed_by`, `lead_time` in
# seconds and `result`, in which each answer names its control (`from_name`).


def export_label_studio(study: Study, folder: Path) -> list[Path]:
    """Write a labelling interface and the tasks for each kind."""
    paths = []
    for kind, tasks in tasks_by_kind(study):
        interface = _qa_interface(study) if kind == "qa" else _rating_interface(study)
        # An empty question would look like a mistake.
        data = [
            {
                name: text or "(no further question)"
                for name, text in task_fields(study, task).items()
            }
            for task in tasks
        ]
        records = json.dumps([{"data": of} for of in data], ensure_ascii=False, indent=1)
        paths.append(write_text(folder / f"{kind}.xml", interface))
        paths.append(write_text(folder / f"{kind}.json", records))
    return paths


def read_label_studio(study: Study, path: Path) -> Iterator[Returned]:
    """Yield the answers of a JSON export."""
    tasks: Any = parse_json(read_whole(path), str(path))
    is_whole = isinstance(tasks, list) and all(
        isinstance(task, dict) and "annotations" in task and "data" in task for task in tasks
    )
    if not is_whole:
        raise DataError(f"{path}: not an export of Label Studio; export as JSON (not JSON-MIN)")
    for number, task in enumerate(tasks, start=1):
        where = f"{path}: task {number}"
        try:
            yield from _annotations(study, task, where)
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            raise DataError(f"{where}: damaged annotation ({error!r})") from error


def _annotations(study: Study, task: Mapping[str, Any], where: str) -> Iterator[Returned]:
    for annotation in task["annotations"]:
        if annotation.get("was_cancelled"):
            continue
        person = annotation.get("completed_by")
        if isinstance(person, dict):
            person = person.get("email", person.get("id"))
        given: dict[str, str] = {}
        for result in annotation["result"]:
            texts = result["value"]["choices" if result["type"] == "choices" else "text"]
            given[result["from_name"]] = texts if isinstance(texts, str) else " ".join(texts)
        ids = (str(task["data"].get("study")), str(task["data"].get("task")))
        seconds = float(annotation.get("lead_time") or 0)
        yield returned(study, where, ("labelstudio", str(person)), ids, given, seconds)


def _rating_interface(study: Study) -> str:
    letters = field_letters(study)
    texts = "".join(
        f'  <Header value="Summary {x.upper()}" size="5"/>\n'
        f'  <Text name="summary_{x}" value="$summary_{x}"/>\n'
        for x in letters
    )
    options = "".join(f'    <Choice value="{x}"/>\n' for x in letters.upper())
    choices = "".join(
        f'  <Header value="Which summary is the {field}?" size="5"/>\n'
        f'  <Choices name="{field}" toName="gold" choice="single" showInline="true" required="true">\n'
        f"{options}  </Choices>\n"
        for field in (BEST, WORST)
    )
    return (
        f'<View>\n  <Header value="$title"/>\n  <Header value="{_CRITERIA}" size="6"/>\n'
        '  <Header value="Written by a person" size="5"/>\n  <Text name="gold" value="$gold"/>\n'
        f"{texts}{choices}</View>\n"
    )


def _qa_interface(study: Study) -> str:
    fields = "".join(
        f'  <Header value="$question_{n}" size="5"/>\n'
        f'  <TextArea name="answer_{n}" toName="summary" rows="1" maxSubmissions="1" editable="true"/>\n'
        for n in question_numbers(study)
    )
    return (
        '<View>\n  <Header value="$title"/>\n'
        '  <Header value="Answer from the summary alone, in a few words; leave empty what it does not '
        'tell." size="6"/>\n'
        f'  <Text name="summary" value="$summary"/>\n{fields}</View>\n'
    )


class Platform(NamedTuple):
    """How to export a study's tasks and how to read the answers."""

    export: Callable[[Study, Path], list[Path]]
    read: Reader


PLATFORMS = {
    "html": Platform(export_pages, read_pages),
    "mturk": Platform(export_mturk, read_mturk),
    "potato": Platform(export_potato, read_potato),
    "label-studio": Platform(export_label_studio, read_label_studio),
}


def platform(name: str) -> Platform:
    """Return a platform by name.

    Raises:
        InputError: the name is unknown.
    """
    if name not in PLATFORMS:
        raise InputError(f"format {name!r} is unknown; known: {', '.join(PLATFORMS)}")
    return PLATFORMS[name]


def export_study(study: Study, name: str, folder: Path) -> list[Path]:
    """Write a study's tasks for a platform into a folder; return the files."""
    chosen = platform(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})") from error
    return chosen.export(study, folder)
