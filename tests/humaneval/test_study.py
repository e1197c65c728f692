"""A study folder is read back as written; invalid answers are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from judging import small_study

from hiersum.errors import DataError, InputError
from hiersum.humaneval.answers import AnswerStore
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.study import (
    STUDY_FILE,
    Study,
    checked_answers,
    checked_seconds,
    is_complete,
    read_links,
    read_study,
    write_study,
)


def test_a_study_is_read_as_it_was_written(tmp_path: Path) -> None:
    made, _ = small_study(tmp_path, StudyPlan(items=4, responses=2, checks=1))
    assert read_study(tmp_path) == made.study
    assert read_study(tmp_path).id == made.study.id
    assert read_links(tmp_path) == made.links
    assert (tmp_path / "judges.json").stat().st_mode & 0o077 == 0  # the links are secrets


def test_a_study_is_never_written_over(tmp_path: Path) -> None:
    made, _ = small_study(tmp_path)
    with pytest.raises(InputError, match="already holds a study, perhaps with answers"):
        write_study(made.study, made.links, tmp_path)


def test_links_tell_judges_apart_and_no_one_else(tmp_path: Path) -> None:
    made, _ = small_study(tmp_path)
    tokens = [*made.links.judges.values(), made.links.marker]
    assert len(set(tokens)) == len(tokens)
    assert all(len(token) >= 24 for token in tokens)  # 18 random bytes
    for judge, token in made.links.judges.items():
        assert made.links.judge_of(token) == judge
        assert made.links.judge_of(token[:-1]) is None
        assert not made.links.is_marker(token)
    assert made.links.judge_of("\udcff") is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda r: r.pop("tasks"), "damaged study .*'tasks'.*; make it again"),
        (lambda r: r.update(format=99), "not a study of format 1"),
        (lambda r: r["tasks"][0].update(item="nowhere"), "names an item or a judge that is not"),
        (lambda r: r["tasks"][0].update(shown=["nobody"]), "shows 'nobody', which is not a system"),
        (lambda r: r["tasks"].append(r["tasks"][0]), "two tasks have the same id"),
        (lambda r: r["items"][0].pop("gold"), "damaged study"),
        (lambda r: r["items"][0].update(questions=3), "damaged study"),
        (lambda r: r["tasks"][0].update(shown=[]), "damaged study"),
        (
            lambda r: (
                r.update(judges=["../../evil", *r["judges"]]),
                r["tasks"][0].update(judge="../../evil"),
            ),
            r"the judge '\.\./\.\./evil' cannot be the name of a file",
        ),
    ],
)
def test_a_damaged_study_is_refused(tmp_path: Path, change: object, sentence: str) -> None:
    small_study(tmp_path)
    record = json.loads((tmp_path / STUDY_FILE).read_text())
    change(record)  # type: ignore[operator]
    (tmp_path / STUDY_FILE).write_text(json.dumps(record))
    with pytest.raises(DataError, match=sentence):
        read_study(tmp_path)


def test_answers_do_not_go_with_a_changed_study(tmp_path: Path) -> None:
    small_study(tmp_path)
    record = json.loads((tmp_path / STUDY_FILE).read_text())
    record["seed"] += 1
    (tmp_path / STUDY_FILE).write_text(json.dumps(record))
    with pytest.raises(DataError, match="answers of another study; was study.json changed"):
        AnswerStore(tmp_path, read_study(tmp_path))


def test_a_folder_without_a_study_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no study.json; make a study with"):
        read_study(tmp_path)
    (tmp_path / "judges.json").write_text("{}")
    with pytest.raises(DataError, match="judges.json: damaged"):
        read_links(tmp_path)


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
