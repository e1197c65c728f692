"""Potato: projects with everything its validator asks for, and its output read in both forms.

Both projects passed `python -m potato.validate_cli --strict` of potato-annotation 2.12.1; an instance of
each was annotated in it, in a browser, and its output, whose form is the one here, was imported.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from judging import small_study

from hiersum.data.records import BadRecords
from hiersum.errors import DataError
from hiersum.humaneval.answers import AnswerStore
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.platforms.potato import export_projects, read_results
from hiersum.humaneval.platforms.returned import import_answers
from hiersum.humaneval.study import Study

Made = tuple[Study, AnswerStore, Path]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    study, store = small_study(tmp_path / "s", StudyPlan(items=2, responses=1, checks=1))
    export_projects(study.study, tmp_path / "out")
    return study.study, store, tmp_path / "out"


def instances(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "tasks.jsonl").read_text().splitlines()]


def user_state(folder: Path, user: str, labels: dict[str, dict[str, dict[str, str]]]) -> Path:
    """Write what Potato 2 keeps of an annotator: schema, label and value for each instance."""
    pairs = {
        instance: [
            [{"schema": schema, "name": name}, value]
            for schema, of in schemas.items()
            for name, value in of.items()
        ]
        for instance, schemas in labels.items()
    }
    path = folder / "annotation_output" / user / "user_state.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {
        "user_id": user,
        "instance_id_ordering": list(labels),
        "instance_id_to_behavioral_data": {i: {"total_time_ms": 4703} for i in labels},
        "instance_id_to_label_to_value": pairs,
    }
    path.write_text(json.dumps(state))
    return path


@pytest.mark.parametrize(
    ("kind", "schemes"), [("rating", "best worst"), ("qa", "answer_1 answer_2 answer_3")]
)
def test_a_project_has_what_it_must(made: Made, kind: str, schemes: str) -> None:
    study, _, folder = made
    config = (folder / kind / "config.yaml").read_text()
    for key in ("annotation_task_name", "task_dir", "output_annotation_dir", "item_properties"):
        assert re.search(rf"^{key}:", config, flags=re.M)
    assert re.findall(r"^    name: (\w+)$", config, flags=re.M) == schemes.split()
    shown = re.findall(r"- key: (\w+)", config)
    found = instances(folder / kind)
    assert all(set(shown) == set(instance) - {"id"} for instance in found)
    ids = {f"{study.id}-{task.id}" for task in study.tasks if task.kind == kind}
    assert {instance["id"] for instance in found} == ids


def test_answers_come_back(made: Made) -> None:
    study, store, folder = made
    ratings = {
        i["id"]: {"best": {"B": "B"}, "worst": {"C": "C"}} for i in instances(folder / "rating")
    }
    user_state(folder / "rating", "anna", ratings)
    texts = {
        i["id"]: {"answer_1": {"text_box": "<b>1900"}, "answer_2": {"text_box": ""}}
        for i in instances(folder / "qa")
    }
    user_state(folder / "qa", "anna", texts)
    for kind in ("rating", "qa"):
        outcome = import_answers(
            study, store, folder / kind / "annotation_output", read_results, BadRecords()
        )
        assert outcome.num_judges == 1
    for submission in store.current():
        task = study.task[submission.task]
        assert submission.seconds == 4.7
        if task.kind == "rating":
            assert submission.answers == {"best": "B", "worst": "C"}
        else:
            empty = {"q0": ""} if task.is_check else {}
            assert submission.answers == {"q1": "<b>1900", "q2": ""} | empty
    assert len(store.current()) == len(study.tasks)


def test_the_older_form_is_read_and_not_twice(made: Made) -> None:
    study, store, folder = made
    (first, second, *_) = instances(folder / "rating")
    line = {
        "id": first["id"],
        "displayed_text": "x",
        "label_annotations": {"best": {"A": "1"}, "worst": {"B": "2"}},
    }
    for user in ("old", "both"):
        path = folder / "rating" / "annotation_output" / user / "annotated_instances.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(line) + "\n")
    user_state(folder / "rating", "both", {second["id"]: {"best": {"B": "B"}, "worst": {"A": "A"}}})
    output = folder / "rating" / "annotation_output"
    outcome = import_answers(study, store, output, read_results, BadRecords())
    assert (outcome.num_saved, outcome.num_judges) == (2, 2)


def test_what_is_not_an_answer_is_refused(made: Made) -> None:
    study, store, folder = made
    output = folder / "rating" / "annotation_output"
    output.mkdir()
    first = instances(folder / "rating")[0]["id"]
    with pytest.raises(DataError, match="holds no user_state.json; give the project's"):
        import_answers(study, store, output, read_results, BadRecords())
    for labels, sentence in (
        ({first: {"best": {"B": "B"}}}, "worst must be one of A, B, C, got ''"),
        ({first: {"best": {"B": "B", "C": "C"}, "worst": {"A": "A"}}}, "best must be one of"),
        ({"other-t1": {"best": {"B": "B"}}}, "belongs to another study"),
        ({f"{study.id}-t99": {"best": {"B": "B"}}}, "'t99' is not a task of this study"),
    ):
        user_state(folder / "rating", "anna", labels)
        with pytest.raises(DataError, match=sentence):
            import_answers(study, store, output, read_results, BadRecords())
    (output / "anna" / "user_state.json").write_text('{"user_id": 1}')
    with pytest.raises(DataError, match="user_state.json: damaged"):
        import_answers(study, store, output, read_results, BadRecords())
    assert store.current() == []
