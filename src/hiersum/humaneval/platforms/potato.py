"""Potato: a project folder per kind of task, and its annotation output back.

A project is config.yaml and a file of instances. What each annotator said is in
annotation_output/ANNOTATOR/user_state.json, where `instance_id_to_label_to_value` lists, for each
instance, pairs of {"schema", "name"} and a value; older versions write annotated_instances.jsonl with
`label_annotations`. Both are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hiersum.data.files import read_lines, read_whole, write_atomically
from hiersum.data.records import parse_json
from hiersum.errors import DataError, InputError
from hiersum.humaneval.platforms.returned import (
    Returned,
    field_letters,
    hidden_name,
    known_task,
    num_questions,
    numbered_answers,
)
from hiersum.humaneval.study import LETTERS, Kind, Study, Task

_OUTPUT = "annotation_output"
_STATE, _LINES = "user_state.json", "annotated_instances.jsonl"
_CRITERIA = (
    "Judge by informativeness (important facts), fluency (good language) and succinctness "
    "(nothing said twice), next to the summary that a person wrote."
)
_CONFIG = """annotation_task_name: {name}
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


def export_projects(study: Study, folder: Path) -> list[Path]:
    """Write a project for each kind of task that the study has."""
    paths = []
    kinds: tuple[tuple[Kind, str], ...] = (("qa", _qa_config(study)), ("rating", _config(study)))
    for kind, config in kinds:
        lines = [_instance(study, task) for task in study.tasks if task.kind == kind]
        if not lines:
            continue
        project = folder / kind
        try:
            project.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{project}: cannot be made ({error.strerror})") from error
        paths += [project / "config.yaml", project / "tasks.jsonl"]
        with write_atomically(paths[-2]) as file:
            file.write(config.encode())
        with write_atomically(paths[-1]) as file:
            file.writelines(json.dumps(x, ensure_ascii=False).encode() + b"\n" for x in lines)
    return paths


def read_results(study: Study, path: Path) -> Iterator[Returned]:
    """Yield the answers in an output folder of Potato, or in one annotator's file."""
    files = sorted(
        [path] if path.is_file() else [*path.rglob(_STATE), *path.rglob(_LINES)], key=str
    )
    if not files:
        raise DataError(f"{path}: holds no {_STATE}; give the project's {_OUTPUT}")
    # A folder that has both forms holds the same answers twice.
    folders = {file.parent for file in files if file.name == _STATE}
    for file in files:
        if file.name == _STATE or file.parent not in folders:
            try:
                yield from _user_answers(study, file)
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise DataError(f"{file}: damaged ({error!r})") from error


def _user_answers(study: Study, path: Path) -> Iterator[Returned]:
    if path.name == _LINES:
        for number, line in read_lines(path):
            record = parse_json(line, f"{path}:{number}")
            given = {schema: _picked(of) for schema, of in record["label_annotations"].items()}
            where = f"{path}:{number}"
            yield _returned(study, where, path.parent.name, str(record["id"]), given, 0.0)
        return
    state = parse_json(read_whole(path), str(path))
    times = state.get("instance_id_to_behavioral_data") or {}
    for instance, labels in state["instance_id_to_label_to_value"].items():
        by_schema: dict[str, dict[str, Any]] = {}
        for label, value in labels:
            by_schema.setdefault(label["schema"], {})[label["name"]] = value
        given = {schema: _picked(of) for schema, of in by_schema.items()}
        seconds = float((times.get(instance) or {}).get("total_time_ms") or 0) / 1000
        where = f"{path}: {instance}"
        yield _returned(study, where, str(state["user_id"]), instance, given, seconds)


def _picked(labels: Mapping[str, Any]) -> str:
    """Return the text of a text box, or the one label that was chosen."""
    if "text_box" in labels:
        return str(labels["text_box"] or "")
    chosen = [name for name, value in labels.items() if value not in (None, "", False, "false")]
    return chosen[0] if len(chosen) == 1 else ""


def _returned(
    study: Study,
    where: str,
    annotator: str,
    instance: str,
    given: Mapping[str, str],
    seconds: float,
) -> Returned:
    study_id, _, task_id = instance.rpartition("-")
    judge = hidden_name(study, "potato", annotator)
    if study_id != study.id:
        return Returned(where, study_id, judge, task_id, {}, seconds)
    task = known_task(study, task_id, where)
    if task.kind == "rating":
        answers = {field: given.get(field, "") for field in ("best", "worst")}
    else:
        numbers = range(1, num_questions(study) + 1)
        answers = numbered_answers(study, task, {n: given.get(f"answer_{n}", "") for n in numbers})
    return Returned(where, study_id, judge, task_id, answers, seconds)


def _instance(study: Study, task: Task) -> dict[str, str]:
    item = study.item[task.item]
    instance = {"id": f"{study.id}-{task.id}", "text": item.title or item.id}
    if task.kind == "rating":
        letters = zip(LETTERS.lower(), study.texts(task))
        return {**instance, "gold": item.gold, **{f"summary_{x}": text for x, text in letters}}
    asked = [f"{n}. {q.text}" for n, q in enumerate(study.questions(task), start=1)]
    return {**instance, "summary": study.texts(task)[0], "questions": "\n".join(asked)}


def _config(study: Study) -> str:
    letters = field_letters(study)
    fields = [("gold", "Written by a person")]
    fields += [(f"summary_{x}", f"Summary {x.upper()}") for x in letters]
    labels = ", ".join(x.upper() for x in letters)
    schemes = "".join(
        f"  - annotation_type: radio\n    name: {name}\n"
        f"    description: {json.dumps(f'Which summary is the {name}? {_CRITERIA}')}\n"
        f"    labels: [{labels}]\n    label_requirement:\n      required: true\n"
        for name in ("best", "worst")
    )
    return _filled("hiersum-rating", fields, schemes)


def _qa_config(study: Study) -> str:
    schemes = "".join(
        f"  - annotation_type: text\n    name: answer_{n}\n"
        f'    description: "Answer to question {n}, if there is one and the summary tells it"\n'
        for n in range(1, num_questions(study) + 1)
    )
    fields = [("summary", "Summary"), ("questions", "Questions: answer from the summary alone")]
    return _filled("hiersum-qa", fields, schemes)


def _filled(name: str, fields: list[tuple[str, str]], schemes: str) -> str:
    shown = "".join(
        f"    - key: {key}\n      type: text\n      label: {json.dumps(label)}\n"
        for key, label in [("text", "Topic"), *fields]
    )
    return _CONFIG.format(name=name, output=_OUTPUT, fields=shown, schemes=schemes)
