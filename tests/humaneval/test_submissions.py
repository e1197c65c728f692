"""An answer is kept as it was meant, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from judging import small_study

from hiersum.errors import InputError
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.study import Study
from hiersum.humaneval.submissions import checked_answers, checked_seconds, is_complete


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder: Path = tmp_path_factory.mktemp("study")
    return small_study(folder, StudyPlan(items=3, responses=1))[0].study


def test_parts_of_an_answer_are_welcome(study: Study) -> None:
    rating = next(task for task in study.tasks if task.kind == "rating")
    reading = next(task for task in study.tasks if task.kind == "qa")
    assert checked_answers(study, rating, {"best": "A"}) == {"best": "A"}
    assert not is_complete(study, rating, {"best": "A"})
    assert is_complete(study, rating, {"best": "A", "worst": "C"})
    given = checked_answers(study, reading, {"q1": "  in\n1931\x00 ", "q2": ""})
    assert given == {"q1": "in 1931", "q2": ""}
    assert is_complete(study, reading, given)  # an empty answer is one: the summary does not tell


def test_text_is_kept_as_text(study: Study) -> None:
    """HTML is nothing special: it is kept as written, and shown as text wherever it is shown."""
    reading = next(task for task in study.tasks if task.kind == "qa")
    text = '<script>alert(1)</script> & "so on"'
    assert checked_answers(study, reading, {"q1": text}) == {"q1": text}


@pytest.mark.parametrize(
    ("kind", "answers", "sentence"),
    [
        ("rating", {"best": "D"}, "best must be one of A, B, C, got 'D'"),
        ("rating", {"best": "AB"}, "best must be one of A, B, C, got 'AB'"),
        ("rating", {"best": ""}, "best must be one of A, B, C, got ''"),
        ("rating", {"best": "B", "worst": "B"}, "best and worst are the same, B"),
        ("rating", {"q1": "x"}, "asks no 'q1'; it asks best, worst"),
        ("qa", {"best": "A"}, "asks no 'best'; it asks q1, q2"),
        ("qa", {"q1": 3}, "q1 must be text"),
        ("qa", {"q1": "x" * 501}, "q1 has 501 characters; 500 are allowed"),
        ("qa", ["q1"], "answers must be an object"),
        ("qa", None, "answers must be an object"),
    ],
)
def test_what_answers_something_else_is_refused(
    study: Study, kind: str, answers: object, sentence: str
) -> None:
    task = next(task for task in study.tasks if task.kind == kind)
    with pytest.raises(InputError, match=sentence) as caught:
        checked_answers(study, task, answers)
    assert task.id in str(caught.value)


@pytest.mark.parametrize("seconds", [-1, 1e9, float("nan"), "12", None, True])
def test_impossible_times_are_refused(seconds: object) -> None:
    with pytest.raises(InputError, match="seconds must be"):
        checked_seconds(seconds)
