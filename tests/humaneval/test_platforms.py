"""Tasks go to Mechanical Turk, Potato and Label Studio and come back as answers, once."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from judging import small_study

from hiersum.data.records import BadRecords
from hiersum.errors import DataError
from hiersum.humaneval.answers import AnswerStore
from hiersum.humaneval.exchange import import_answers
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.platforms import (
    export_label_studio,
    export_mturk,
    export_potato,
    mturk_text,
    read_label_studio,
    read_mturk,
    read_potato,
)
from hiersum.humaneval.study import Study

# The columns of a results file as the requester's site writes it, before Input.* and Answer.*.
RESULT_COLUMNS = """HITId HITTypeId Title Description Keywords Reward CreationTime MaxAssignments
    RequesterAnnotation AssignmentDurationInSeconds AutoApprovalDelayInSeconds Expiration
    NumberOfSimilarHITs LifetimeInSeconds AssignmentId WorkerId AssignmentStatus AcceptTime SubmitTime
    AutoApprovalTime ApprovalTime RejectionTime RequesterFeedback WorkTimeInSeconds
    LifetimeApprovalRate Last30DaysApprovalRate Last7DaysApprovalRate""".split()


@pytest.fixture
def mturk_study(tmp_path: Path) -> tuple[Study, AnswerStore, Path]:
    study, store = small_study(tmp_path / "s", StudyPlan(items=2, responses=1, checks=1))
    (tmp_path / "out").mkdir()
    export_mturk(study.study, tmp_path / "out")
    return study.study, store, tmp_path / "out"


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="ascii"), newline="")))


def results(
    path: Path, hits: list[dict[str, str]], answers: list[dict[str, str]], **changes: str
) -> Path:
    """Write a results file for HITs that were answered."""
    inputs = [f"Input.{name}" for name in hits[0]]
    given = sorted({f"Answer.{name}" for answer in answers for name in answer})
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*RESULT_COLUMNS, *inputs, *given, "Approve", "Reject"])
        writer.writeheader()
        for number, (hit, answer) in enumerate(zip(hits, answers)):
            writer.writerow(
                {
                    "HITId": f"H{number}",
                    "WorkerId": f"A{number % 3}WORKER",
                    "AssignmentStatus": "Submitted",
                    "WorkTimeInSeconds": "31",
                    **{f"Input.{name}": html.unescape(text) for name, text in hit.items()},
                    **{f"Answer.{name}": text for name, text in answer.items()},
                    **changes,
                }
            )
    return path


@pytest.mark.parametrize("kind", ["qa", "rating"])
def test_mturk_every_field_of_a_layout_is_a_column_and_the_other_way(
    mturk_study: tuple[Study, AnswerStore, Path], kind: str
) -> None:
    study, _, folder = mturk_study
    wanted = set(re.findall(r"\$\{(\w+)\}", (folder / f"{kind}.html").read_text()))
    found = rows(folder / f"{kind}.csv")
    assert wanted <= set(found[0])
    assert set(found[0]) - wanted == {"study", "task"}
    tasks = {task.id: task for task in study.tasks if task.kind == kind}
    assert {row["task"] for row in found} == set(tasks)
    for row in found:
        texts = [html.unescape(row[name]) for name in row if name.startswith("summary")]
        assert texts == study.texts(tasks[row["task"]])
    assert not any(system in (folder / f"{kind}.html").read_text() for system in study.systems)


def test_mturk_texts_cannot_become_markup_or_fields() -> None:
    text = "<script>${gold}</script> \u201cso\u201d \U0001f600\nnext"
    escaped = mturk_text(text)
    assert escaped.isascii()
    assert "<" not in escaped
    assert "${" not in escaped
    assert html.unescape(escaped) == text.replace("\n", " ")


@pytest.mark.parametrize("form", ["plain", "crowd"])
def test_mturk_comparisons_come_back_in_both_forms(
    mturk_study: tuple[Study, AnswerStore, Path], tmp_path: Path, form: str
) -> None:
    study, store, folder = mturk_study
    hits = rows(folder / "rating.csv")
    answer = {"best": "B", "worst": "A"}
    if form == "crowd":
        answer = {f"{f}.{x}": str(answer[f] == x).lower() for f in answer for x in "ABC"}
    path = results(tmp_path / "r.csv", hits, [answer] * len(hits))
    outcome = import_answers(study, store, path, read_mturk, BadRecords())
    assert (outcome.num_saved, outcome.num_judges) == (len(hits), min(3, len(hits)))
    assert all(s.answers == {"best": "B", "worst": "A"} for s in store.current())
    assert {s.seconds for s in store.current()} == {31.0}
    assert "WORKER" not in store.path.read_bytes().decode("latin-1")  # accounts are not kept


def test_mturk_answers_come_back_and_empty_ones_say_that_the_summary_does_not_tell(
    mturk_study: tuple[Study, AnswerStore, Path], tmp_path: Path
) -> None:
    study, store, folder = mturk_study
    hits = rows(folder / "qa.csv")
    answers = [
        {"answer_1": "<b>1900</b>, \u00e0 peu pr\u00e8s", "answer_2": "", "answer_3": "x"}
    ] * len(hits)
    path = results(tmp_path / "r.csv", hits, answers)
    import_answers(study, store, path, read_mturk, BadRecords())
    for submission in store.current():
        task = study.task[submission.task]
        expected = {"q1": "<b>1900</b>, \u00e0 peu pr\u00e8s", "q2": ""}
        assert submission.answers == expected | ({"q0": "x"} if task.is_check else {})


def test_mturk_rejected_work_does_not_count(
    mturk_study: tuple[Study, AnswerStore, Path], tmp_path: Path
) -> None:
    study, store, folder = mturk_study
    hits = rows(folder / "rating.csv")
    given = [{"best": "A", "worst": "B"}] * len(hits)
    path = results(tmp_path / "r.csv", hits, given, AssignmentStatus="Rejected")
    with pytest.raises(DataError, match="there are no answers in it"):
        import_answers(study, store, path, read_mturk, BadRecords())


def test_mturk_bad_rows_are_refused_or_skipped_and_named(
    mturk_study: tuple[Study, AnswerStore, Path], tmp_path: Path
) -> None:
    study, store, folder = mturk_study
    hits = rows(folder / "rating.csv")
    good, same, none = {"best": "A", "worst": "B"}, {"best": "A", "worst": "A"}, {"best": "A"}
    given = [same, none, *[good] * (len(hits) - 2)]
    path = results(tmp_path / "r.csv", hits, given)
    with pytest.raises(DataError, match=r"r.csv: row 2: task t\d+: best and worst are the same, A"):
        import_answers(study, store, path, read_mturk, BadRecords())
    assert store.current() == []
    bad = BadRecords(skip=True)
    outcome = import_answers(study, store, path, read_mturk, bad)
    assert (outcome.num_saved, bad.count) == (len(hits) - 2, 2)
    assert "row 3" in bad.messages[1]


def test_mturk_another_file_is_not_taken_for_results(
    mturk_study: tuple[Study, AnswerStore, Path], tmp_path: Path
) -> None:
    study, store, folder = mturk_study
    with pytest.raises(DataError, match="has no column WorkerId; is it the results file"):
        import_answers(study, store, folder / "rating.csv", read_mturk, BadRecords())
    hits = rows(folder / "rating.csv")
    given = [{"best": "A", "worst": "B"}] * len(hits)
    other = results(tmp_path / "o.csv", [{**hits[0], "study": "other"}], given[:1])
    with pytest.raises(DataError, match="row 2: belongs to another study"):
        import_answers(study, store, other, read_mturk, BadRecords())
    unknown = results(tmp_path / "u.csv", [{**hits[0], "task": "t999"}], given[:1])
    with pytest.raises(DataError, match="row 2: 't999' is not a task of this study"):
        import_answers(study, store, unknown, read_mturk, BadRecords())
    with pytest.raises(DataError, match="no such file"):
        import_answers(study, store, tmp_path / "no.csv", read_mturk, BadRecords())


Made = tuple[Study, AnswerStore, Path]


@pytest.fixture
def potato_study(tmp_path: Path) -> Made:
    study, store = small_study(tmp_path / "s", StudyPlan(items=2, responses=1, checks=1))
    export_potato(study.study, tmp_path / "out")
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
def test_potato_a_project_has_what_it_must(potato_study: Made, kind: str, schemes: str) -> None:
    study, _, folder = potato_study
    config = (folder / kind / "config.yaml").read_text()
    for key in ("annotation_task_name", "task_dir", "output_annotation_dir", "item_properties"):
        assert re.search(rf"^{key}:", config, flags=re.M)
    assert re.findall(r"^    name: (\w+)$", config, flags=re.M) == schemes.split()
    shown = re.findall(r"- key: (\w+)", config)
    found = instances(folder / kind)
    assert all(set(shown) == set(instance) - {"id"} for instance in found)
    ids = {f"{study.id}-{task.id}" for task in study.tasks if task.kind == kind}
    assert {instance["id"] for instance in found} == ids


def test_potato_answers_come_back(potato_study: Made) -> None:
    study, store, folder = potato_study
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
            study, store, folder / kind / "annotation_output", read_potato, BadRecords()
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


def test_potato_the_older_form_is_read_and_not_twice(potato_study: Made) -> None:
    study, store, folder = potato_study
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
    outcome = import_answers(study, store, output, read_potato, BadRecords())
    assert (outcome.num_saved, outcome.num_judges) == (2, 2)


def test_potato_what_is_not_an_answer_is_refused(potato_study: Made) -> None:
    study, store, folder = potato_study
    output = folder / "rating" / "annotation_output"
    output.mkdir()
    first = instances(folder / "rating")[0]["id"]
    with pytest.raises(DataError, match="holds no user_state.json; give the project's"):
        import_answers(study, store, output, read_potato, BadRecords())
    for labels, sentence in (
        ({first: {"best": {"B": "B"}}}, "worst must be one of A, B, C, got ''"),
        ({first: {"best": {"B": "B", "C": "C"}, "worst": {"A": "A"}}}, "best must be one of"),
        ({"other-t1": {"best": {"B": "B"}}}, "belongs to another study"),
        ({f"{study.id}-t99": {"best": {"B": "B"}}}, "'t99' is not a task of this study"),
    ):
        user_state(folder / "rating", "anna", labels)
        with pytest.raises(DataError, match=sentence):
            import_answers(study, store, output, read_potato, BadRecords())
    (output / "anna" / "user_state.json").write_text('{"user_id": 1}')
    with pytest.raises(DataError, match="user_state.json: damaged"):
        import_answers(study, store, output, read_potato, BadRecords())
    assert store.current() == []


@pytest.fixture
def label_studio_study(tmp_path: Path) -> Made:
    study, store = small_study(tmp_path / "s", StudyPlan(items=2, responses=1, checks=1))
    (tmp_path / "out").mkdir()
    export_label_studio(study.study, tmp_path / "out")
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
def test_label_studio_an_interface_shows_what_tasks_hold(
    label_studio_study: Made, kind: str
) -> None:
    study, _, folder = label_studio_study
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


def test_label_studio_answers_come_back(label_studio_study: Made, tmp_path: Path) -> None:
    study, store, folder = label_studio_study
    ratings = json.loads((folder / "rating.json").read_text())
    readings = json.loads((folder / "qa.json").read_text())
    exported = [annotated(task, {"best": "C", "worst": "A"}) for task in ratings]
    exported += [
        annotated(task, {"answer_1": "in 1900"}, {"email": "a@b.example"}) for task in readings
    ]
    exported[0]["annotations"].append({"was_cancelled": True, "result": [], "completed_by": 9})
    path = tmp_path / "export.json"
    path.write_text(json.dumps(exported))
    outcome = import_answers(study, store, path, read_label_studio, BadRecords())
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
def test_label_studio_what_is_not_an_answer_is_refused(
    label_studio_study: Made, tmp_path: Path, change: object, sentence: str
) -> None:
    study, store, folder = label_studio_study
    tasks = json.loads((folder / "rating.json").read_text())
    exported = [annotated(task, {"best": "A", "worst": "B"}) for task in tasks]
    change(exported)  # type: ignore[operator]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(exported))
    with pytest.raises(DataError, match=sentence):
        import_answers(study, store, path, read_label_studio, BadRecords())
    assert store.current() == []
