"""MTurk: layouts and CSV that fit each other, texts that stay texts, and results in both of its forms."""

from __future__ import annotations

import csv
import html
import io
import re
from pathlib import Path

import pytest
from judging import small_study

from hiersum.data.records import BadRecords
from hiersum.errors import DataError
from hiersum.humaneval.answers import AnswerStore
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.platforms.mturk import _escaped, export_tasks, read_results
from hiersum.humaneval.platforms.returned import import_answers
from hiersum.humaneval.study import Study

# The columns of a results file as the requester's site writes it, before Input.* and Answer.*.
RESULT_COLUMNS = """HITId HITTypeId Title Description Keywords Reward CreationTime MaxAssignments
    RequesterAnnotation AssignmentDurationInSeconds AutoApprovalDelayInSeconds Expiration
    NumberOfSimilarHITs LifetimeInSeconds AssignmentId WorkerId AssignmentStatus AcceptTime SubmitTime
    AutoApprovalTime ApprovalTime RejectionTime RequesterFeedback WorkTimeInSeconds
    LifetimeApprovalRate Last30DaysApprovalRate Last7DaysApprovalRate""".split()


@pytest.fixture
def made(tmp_path: Path) -> tuple[Study, AnswerStore, Path]:
    study, store = small_study(tmp_path / "s", StudyPlan(items=2, responses=1, checks=1))
    (tmp_path / "out").mkdir()
    export_tasks(study.study, tmp_path / "out")
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
def test_every_field_of_a_layout_is_a_column_and_the_other_way(
    made: tuple[Study, AnswerStore, Path], kind: str
) -> None:
    study, _, folder = made
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


def test_texts_cannot_become_markup_or_fields() -> None:
    text = "<script>${gold}</script> \u201cso\u201d \U0001f600\nnext"
    escaped = _escaped(text)
    assert escaped.isascii()
    assert "<" not in escaped
    assert "${" not in escaped
    assert html.unescape(escaped) == text.replace("\n", " ")


@pytest.mark.parametrize("form", ["plain", "crowd"])
def test_comparisons_come_back_in_both_forms(
    made: tuple[Study, AnswerStore, Path], tmp_path: Path, form: str
) -> None:
    study, store, folder = made
    hits = rows(folder / "rating.csv")
    answer = {"best": "B", "worst": "A"}
    if form == "crowd":
        answer = {f"{f}.{x}": str(answer[f] == x).lower() for f in answer for x in "ABC"}
    path = results(tmp_path / "r.csv", hits, [answer] * len(hits))
    outcome = import_answers(study, store, path, read_results, BadRecords())
    assert (outcome.num_saved, outcome.num_judges) == (len(hits), min(3, len(hits)))
    assert all(s.answers == {"best": "B", "worst": "A"} for s in store.current())
    assert {s.seconds for s in store.current()} == {31.0}
    assert "WORKER" not in store.path.read_bytes().decode("latin-1")  # accounts are not kept


def test_answers_come_back_and_empty_ones_say_that_the_summary_does_not_tell(
    made: tuple[Study, AnswerStore, Path], tmp_path: Path
) -> None:
    study, store, folder = made
    hits = rows(folder / "qa.csv")
    answers = [
        {"answer_1": "<b>1900</b>, \u00e0 peu pr\u00e8s", "answer_2": "", "answer_3": "x"}
    ] * len(hits)
    path = results(tmp_path / "r.csv", hits, answers)
    import_answers(study, store, path, read_results, BadRecords())
    for submission in store.current():
        task = study.task[submission.task]
        expected = {"q1": "<b>1900</b>, \u00e0 peu pr\u00e8s", "q2": ""}
        assert submission.answers == expected | ({"q0": "x"} if task.is_check else {})


def test_rejected_work_does_not_count(
    made: tuple[Study, AnswerStore, Path], tmp_path: Path
) -> None:
    study, store, folder = made
    hits = rows(folder / "rating.csv")
    given = [{"best": "A", "worst": "B"}] * len(hits)
    path = results(tmp_path / "r.csv", hits, given, AssignmentStatus="Rejected")
    with pytest.raises(DataError, match="there are no answers in it"):
        import_answers(study, store, path, read_results, BadRecords())


def test_bad_rows_are_refused_or_skipped_and_named(
    made: tuple[Study, AnswerStore, Path], tmp_path: Path
) -> None:
    study, store, folder = made
    hits = rows(folder / "rating.csv")
    good, same, none = {"best": "A", "worst": "B"}, {"best": "A", "worst": "A"}, {"best": "A"}
    given = [same, none, *[good] * (len(hits) - 2)]
    path = results(tmp_path / "r.csv", hits, given)
    with pytest.raises(DataError, match=r"r.csv: row 2: task t\d+: best and worst are the same, A"):
        import_answers(study, store, path, read_results, BadRecords())
    assert store.current() == []
    bad = BadRecords(skip=True)
    outcome = import_answers(study, store, path, read_results, bad)
    assert (outcome.num_saved, bad.count) == (len(hits) - 2, 2)
    assert "row 3" in bad.messages[1]


def test_another_file_is_not_taken_for_results(
    made: tuple[Study, AnswerStore, Path], tmp_path: Path
) -> None:
    study, store, folder = made
    with pytest.raises(DataError, match="has no column WorkerId; is it the results file"):
        import_answers(study, store, folder / "rating.csv", read_results, BadRecords())
    hits = rows(folder / "rating.csv")
    given = [{"best": "A", "worst": "B"}] * len(hits)
    other = results(tmp_path / "o.csv", [{**hits[0], "study": "other"}], given[:1])
    with pytest.raises(DataError, match="row 2: belongs to another study"):
        import_answers(study, store, other, read_results, BadRecords())
    unknown = results(tmp_path / "u.csv", [{**hits[0], "task": "t999"}], given[:1])
    with pytest.raises(DataError, match="row 2: 't999' is not a task of this study"):
        import_answers(study, store, unknown, read_results, BadRecords())
    with pytest.raises(DataError, match="no such file"):
        import_answers(study, store, tmp_path / "no.csv", read_results, BadRecords())
