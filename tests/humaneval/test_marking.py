"""Proposals are what a careful person would begin with; people decide, not knowing whose answer it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from judging import small_study

from hiersum.errors import InputError
from hiersum.humaneval.answers import Mark, Submission
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.marking import answer_key, group_answers, propose, save_marks


@pytest.mark.parametrize(
    ("answer", "right", "mark", "reason"),
    [
        ("Castine, Maine", ["Castine , Maine"], 1.0, "the same, written otherwise"),
        ("Castine, Maine", ["Castine, Maine"], 1.0, "the same"),
        ("castine maine", ["Castine, Maine"], 1.0, "the same, written otherwise"),
        ("A trading center.", ["trading center"], 1.0, "the same, written otherwise"),
        ("310000 crowns", ["310,000 crowns"], 1.0, "the same, written otherwise"),
        ("four", ["4"], 1.0, "the same, written otherwise"),
        ("4 may", ["May 4"], 1.0, "the same, written otherwise"),
        ("Zürich", ["Zurich"], 1.0, "the same, written otherwise"),
        ("the second one", ["first", "The second one"], 1.0, "the same, written otherwise"),
        ("in Castine, Maine, USA", ["Castine, Maine"], 0.5, "holds the right answer"),
        ("Maine", ["Castine, Maine"], 0.5, "a part of the right answer"),
        ("5km", ["5m"], 0.0, "something else"),
        ("in 1932", ["in 1931"], 0.0, "something else"),
        ("???", ["1931"], 0.0, "something else"),
        ("", ["1931"], 0.0, "no answer"),
        ("cast", ["Castine"], 0.0, "something else"),
    ],
)
def test_proposals(answer: str, right: list[str], mark: float, reason: str) -> None:
    proposal = propose(answer, right)
    assert (proposal.mark, proposal.reason) == (mark, reason)
    assert proposal.is_match == (reason in ("the same", "the same, written otherwise", "no answer"))


def test_different_answers_have_different_keys() -> None:
    assert answer_key("The Bridge!") == answer_key("bridge")
    assert answer_key("5m") != answer_key("5km")
    assert answer_key("???") != answer_key("!!!")
    assert answer_key("the") == "the"


def test_an_answer_stands_once_however_many_gave_it(tmp_path: Path) -> None:
    made, store = small_study(tmp_path, StudyPlan(items=2, responses=2))
    tasks = [t for t in made.study.tasks if t.kind == "qa" and t.item == "c0"]
    texts = ["1900", "in 1900", "1900.", "", "<b>1900</b>"]
    for task, text in zip(tasks, texts):
        store.save(Submission(task.judge, task.id, "session-a", 1, {"q1": text}, 1.0))
    groups = group_answers(made.study, store.current(), store.marks())
    assert [(g.key, g.count, g.proposal.mark) for g in groups] == [
        ("1900", 2, 1.0),
        ("b 1900 b", 1, 0.5),
        ("in 1900", 1, 0.5),
    ]
    assert groups[0].texts == ("1900", "1900.")
    save_marks(made.study, store, [Mark("c0", "q1", "in 1900", 1)])
    marked = group_answers(made.study, store.current(), store.marks())
    assert [g.mark for g in marked] == [None, None, 1.0]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"mark": 0.7}, "a mark is 1, 0.5 or 0, got 0.7"),
        ({"mark": True}, "a mark is 1, 0.5 or 0, got True"),
        ({"key": "something nobody said"}, "nobody gave this answer to 'q1' of 'c0'"),
        ({"item": "c9"}, "nobody gave this answer"),
    ],
)
def test_a_mark_for_nothing_is_refused(
    tmp_path: Path, changes: dict[str, object], sentence: str
) -> None:
    made, store = small_study(tmp_path, StudyPlan(items=2, responses=1))
    task = next(t for t in made.study.tasks if t.kind == "qa" and t.item == "c0")
    store.save(Submission(task.judge, task.id, "session-a", 1, {"q1": "1900"}, 1.0))
    good = Mark("c0", "q1", "1900", 1.0)
    with pytest.raises(InputError, match=sentence):
        save_marks(made.study, store, [good, replace(good, **changes)])  # type: ignore[arg-type]
    assert store.marks() == {}
