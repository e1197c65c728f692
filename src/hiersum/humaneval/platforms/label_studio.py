"""Label Studio: a labelling interface and a file of tasks per kind, and its JSON export back.

The export is a list of tasks, each with its `data` as it was imported and `annotations`; an annotation
has `completed_by`, `lead_time` in seconds and `result`, in which each answer names the control it came
from (`from_name`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hiersum.data.files import read_whole, write_atomically
from hiersum.data.records import parse_json
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

_NOTHING_ASKED = "(no further question)"


def export_tasks(study: Study, folder: Path) -> list[Path]:
    """Write the interface and the tasks for each kind that the study has."""
    paths = []
    kinds: tuple[tuple[Kind, str], ...] = (
        ("qa", _qa_interface(study)),
        ("rating", _rating_interface(study)),
    )
    for kind, interface in kinds:
        tasks = [{"data": _data(study, task)} for task in study.tasks if task.kind == kind]
        if tasks:
            paths += [folder / f"{kind}.xml", folder / f"{kind}.json"]
            with write_atomically(paths[-2]) as file:
                file.write(interface.encode())
            with write_atomically(paths[-1]) as file:
                file.write(json.dumps(tasks, ensure_ascii=False, indent=1).encode())
    return paths


def read_results(study: Study, path: Path) -> Iterator[Returned]:
    """Yield the answers of an export in Label Studio's own JSON."""
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


def _annotations(study: Study, record: Mapping[str, Any], where: str) -> Iterator[Returned]:
    study_id, task_id = str(record["data"].get("study")), str(record["data"].get("task"))
    for annotation in record["annotations"]:
        if annotation.get("was_cancelled"):
            continue
        person = annotation.get("completed_by")
        name = person.get("email", person.get("id")) if isinstance(person, dict) else person
        judge = hidden_name(study, "labelstudio", str(name))
        answers = {}
        if study_id == study.id:
            answers = _answers(study, known_task(study, task_id, where), annotation["result"])
        seconds = float(annotation.get("lead_time") or 0)
        yield Returned(where, study_id, judge, task_id, answers, seconds)


def _answers(study: Study, task: Task, results: list[dict[str, Any]]) -> dict[str, str]:
    given: dict[str, str] = {}
    for result in results:
        value = result["value"]
        texts = value["choices"] if result["type"] == "choices" else value["text"]
        given[result["from_name"]] = texts if isinstance(texts, str) else " ".join(texts)
    if task.kind == "rating":
        return {field: given.get(field, "") for field in ("best", "worst")}
    numbers = range(1, num_questions(study) + 1)
    return numbered_answers(study, task, {n: given.get(f"answer_{n}", "") for n in numbers})


def _data(study: Study, task: Task) -> dict[str, str]:
    item = study.item[task.item]
    data = {"study": study.id, "task": task.id, "title": item.title or item.id}
    if task.kind == "rating":
        letters = zip(LETTERS.lower(), study.texts(task))
        return {**data, "gold": item.gold, **{f"summary_{x}": text for x, text in letters}}
    asked = [question.text for question in study.questions(task)]
    asked += [_NOTHING_ASKED] * (num_questions(study) - len(asked))
    questions = {f"question_{n}": text for n, text in enumerate(asked, start=1)}
    return {**data, "summary": study.texts(task)[0], **questions}


def _rating_interface(study: Study) -> str:
    letters = field_letters(study)
    texts = "".join(
        f'  <Header value="Summary {x.upper()}" size="5"/>\n'
        f'  <Text name="summary_{x}" value="$summary_{x}"/>\n'
        for x in letters
    )
    options = "".join(f'    <Choice value="{x.upper()}"/>\n' for x in letters)
    choices = "".join(
        f'  <Header value="Which summary is the {field}?" size="5"/>\n'
        f'  <Choices name="{field}" toName="gold" choice="single" showInline="true" required="true">\n'
        f"{options}  </Choices>\n"
        for field in ("best", "worst")
    )
    return (
        '<View>\n  <Header value="$title"/>\n'
        '  <Header value="Judge by informativeness (important facts), fluency (good language) and '
        'succinctness (nothing said twice), next to the summary that a person wrote." size="6"/>\n'
        '  <Header value="Written by a person" size="5"/>\n  <Text name="gold" value="$gold"/>\n'
        f"{texts}{choices}</View>\n"
    )


def _qa_interface(study: Study) -> str:
    fields = "".join(
        f'  <Header value="$question_{n}" size="5"/>\n'
        f'  <TextArea name="answer_{n}" toName="summary" rows="1" maxSubmissions="1" editable="true"/>\n'
        for n in range(1, num_questions(study) + 1)
    )
    return (
        '<View>\n  <Header value="$title"/>\n'
        '  <Header value="Answer from the summary alone, in a few words; leave empty what it does not '
        'tell." size="6"/>\n'
        f'  <Text name="summary" value="$summary"/>\n{fields}</View>\n'
    )
