"""Label Studio: an interface whose variables are the tasks' data, and exports as it writes them.

Interface and tasks were also checked once with the validator of label-studio-sdk 2.1.2.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from judging import small_study

from hiersum.data.records import BadRecords
from hiersum.errors import DataError
from hiersum.humaneval.answers import AnswerStore
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.platforms.label_studio import export_tasks, read_results
from hiersum.humaneval.platforms.returned import import_answers
from hiersum.humaneval.study import Study

Made = tuple[Study, AnswerStore, Path]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    study, store = small_study(tmp_path / "s", StudyPlan(items=2, responses=1, checks=1))
    (tmp_path / "out").mkdir()
    export_tasks(study.study, tmp_path / "out")
    return study.study, store, tmp_path / "out"


def annotated(task: dict, results: dict[str, str], person: object = 5) -> dict:
    """Return a task as Label Studio exports it."""
    regions = [
        {
            "id": f"x{name}",
            "from_name": name,
            "to_name": "gold" if name in ("best", "worst") else "summary",
            "type": "choices" if name in ("best", "worst") else "textarea",
            "origin": "manual",
            "value": {"choices": [text]} if name in ("best", "worst") else {"text": [text]},
        }
        for name, text in results.items()
    ]
    annotation = {
        "id": 1,
        "completed_by": person,
        "result": regions,
        "was_cancelled": False,
        "ground_truth": False,
        "lead_time": 21.52,
    }
    return {"id": 7, "annotations": [annotation], "predictions": [], "data": task["data"]}


@pytest.mark.parametrize("kind", ["qa", "rating"])
def test_an_interface_shows_what_tasks_hold(made: Made, kind: str) -> None:
    study, _, folder = made
    interface = ET.fromstring((folder / f"{kind}.xml").read_text())
    tasks = json.loads((folder / f"{kind}.json").read_text())
    shown = {v[1:] for e in interface.iter() if (v := e.get("value", "")).startswith("$")}
    for task in tasks:
        assert set(task) == {"data"}
        assert shown <= set(task["data"])
        assert set(task["data"]) - shown == {"study", "task"}
        assert all(isinstance(text, str) and text for text in task["data"].values())
    names = {e.get("name") for e in interface.iter() if e.tag in ("Text", "Choices", "TextArea")}
    controls = [e for e in interface.iter() if e.get("toName")]
    assert all(control.get("toName") in names for control in controls)
    assert len(tasks) == sum(task.kind == kind for task in study.tasks)


def test_answers_come_back(made: Made, tmp_path: Path) -> None:
    study, store, folder = made
    ratings = json.loads((folder / "rating.json").read_text())
    readings = json.loads((folder / "qa.json").read_text())
    exported = [annotated(task, {"best": "C", "worst": "A"}) for task in ratings]
    exported += [
        annotated(task, {"answer_1": "in 1900"}, {"email": "a@b.example"}) for task in readings
    ]
    exported[0]["annotations"].append({"was_cancelled": True, "result": [], "completed_by": 9})
    path = tmp_path / "export.json"
    path.write_text(json.dumps(exported))
    outcome = import_answers(study, store, path, read_results, BadRecords())
    assert (outcome.num_saved, outcome.num_judges) == (len(exported), 2)
    for submission in store.current():
        task = study.task[submission.task]
        assert submission.seconds == 21.5
        if task.kind == "rating":
            assert submission.answers == {"best": "C", "worst": "A"}
        else:
            empty = {"q0": ""} if task.is_check else {}
            assert submission.answers == {"q1": "in 1900", "q2": ""} | empty
    assert b"b.example" not in store.path.read_bytes()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda e: e[0]["data"].update(study="x"), "task 1: belongs to another study"),
        (lambda e: e[0]["data"].update(task="t99"), "'t99' is not a task of this study"),
        (lambda e: e[0]["annotations"][0]["result"].pop(), "worst must be one of A, B, C, got ''"),
        (lambda e: e[0]["annotations"][0]["result"][0].pop("value"), "damaged annotation"),
        (lambda e: e[0].pop("annotations"), r"export as JSON \(not JSON-MIN\)"),
        (lambda e: e.append("text"), "not an export of Label Studio"),
    ],
)
def test_what_is_not_an_answer_is_refused(
    made: Made, tmp_path: Path, change: object, sentence: str
) -> None:
    study, store, folder = made
    tasks = json.loads((folder / "rating.json").read_text())
    exported = [annotated(task, {"best": "A", "worst": "B"}) for task in tasks]
    change(exported)  # type: ignore[operator]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(exported))
    with pytest.raises(DataError, match=sentence):
        import_answers(study, store, path, read_results, BadRecords())
    assert store.current() == []
