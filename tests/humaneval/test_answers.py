"""No answer is lost or counted twice; proposed marks are fair and wait for a person."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
from judging import again, small_study

from hiersum.errors import DataError, InputError
from hiersum.humaneval.answers import (
    AnswerStore,
    ConflictError,
    Mark,
    StorageError,
    Submission,
    answer_key,
    group_answers,
    propose,
    save_marks,
)
from hiersum.humaneval.making import StudyPlan

FIRST = Submission("judge-1", "t1", "session-a", 1, {"best": "A"}, 3.0)


@pytest.fixture
def store(tmp_path: Path) -> AnswerStore:
    return small_study(tmp_path, StudyPlan(items=2, responses=1))[1]


def test_the_last_answer_of_a_task_counts_and_all_are_kept(store: AnswerStore) -> None:
    assert store.save(FIRST) == ["saved"]
    last = again(FIRST, sequence=2, answers={"best": "B", "worst": "A"}, seconds=9.0)
    assert store.save(last) == ["saved"]
    assert store.current("judge-1") == [last]
    assert store.current("judge-2") == []
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("SELECT count(*) FROM submissions").fetchone() == (2,)


def test_a_replayed_submission_changes_nothing(store: AnswerStore) -> None:
    last = again(FIRST, sequence=2, answers={"best": "B"})
    assert store.save(FIRST, last, FIRST, last) == ["saved", "saved", "known", "known"]
    assert store.current() == [last]


def test_a_submission_that_was_overtaken_on_the_way_is_not_taken_for_the_last(
    store: AnswerStore,
) -> None:
    last = again(FIRST, sequence=5, answers={"best": "B"})
    assert store.save(last) == ["saved"]
    assert store.save(again(FIRST, sequence=4)) == ["overtaken"]
    assert store.current() == [last]
    other_window = again(FIRST, session="session-b")
    assert store.save(other_window) == ["saved"]
    assert store.current() == [other_window]


def test_one_number_cannot_mean_two_answers(store: AnswerStore) -> None:
    store.save(FIRST)
    with pytest.raises(ConflictError, match="submission 1 was already saved with other answers"):
        store.save(again(FIRST, answers={"best": "C"}))
    assert store.current() == [FIRST]


def test_all_or_nothing(store: AnswerStore) -> None:
    fine, bad = again(FIRST, task="t2"), again(FIRST, answers={"best": "C"})
    store.save(FIRST)
    with pytest.raises(ConflictError):
        store.save(fine, bad)
    assert store.current() == [FIRST]


def test_many_judges_at_once_lose_nothing(store: AnswerStore) -> None:
    def answer(judge: str) -> None:
        for number in range(1, 6):
            store.save(
                again(FIRST, judge=judge, sequence=number, answers={"best": "ABC"[number % 3]})
            )

    threads = [threading.Thread(target=answer, args=(f"judge-{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(s.judge for s in store.current()) == [f"judge-{n}" for n in range(6)]
    assert {s.sequence for s in store.current()} == {5}


def test_commits_wait_for_the_disk(store: AnswerStore) -> None:
    with store._connection() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_the_last_mark_counts(store: AnswerStore) -> None:
    first = Mark("c1", "q1", "in 1931", 0.0)
    store.mark([first, first._replace(mark=1.0)])
    store.mark([first._replace(mark=0.5), first._replace(question="q2", mark=1.0)])
    assert store.marks() == {("c1", "q1", "in 1931"): 0.5, ("c1", "q2", "in 1931"): 1.0}


def test_a_damaged_or_closed_file_is_said_so(tmp_path: Path) -> None:
    made, store = small_study(tmp_path, StudyPlan(items=2, responses=1))
    store.path.unlink()
    store.path.mkdir()
    with pytest.raises(StorageError, match="answers.sqlite: cannot be used"):
        AnswerStore(tmp_path, made.study)
    store.path.rmdir()
    store.path.write_bytes(b"not a database at all " * 200)
    with pytest.raises(DataError, match="answers.sqlite: damaged .*; restore it from a copy"):
        AnswerStore(tmp_path, made.study)


@pytest.mark.parametrize(
    ("answer", "right", "mark", "reason"),
    [
        ("Castine, Maine", ["Castine , Maine"], 1.0, "the same in another spelling"),
        ("Castine, Maine", ["Castine, Maine"], 1.0, "the same"),
        ("castine maine", ["Castine, Maine"], 1.0, "the same in another spelling"),
        ("A trading center.", ["trading center"], 1.0, "the same in another spelling"),
        ("310000 crowns", ["310,000 crowns"], 1.0, "the same in another spelling"),
        ("four", ["4"], 1.0, "the same in another spelling"),
        ("4 may", ["May 4"], 1.0, "the same in another spelling"),
        ("Zürich", ["Zurich"], 1.0, "the same in another spelling"),
        ("the second one", ["first", "The second one"], 1.0, "the same in another spelling"),
        ("in Castine, Maine, USA", ["Castine, Maine"], 0.5, "contains the right answer"),
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
        save_marks(made.study, store, [good, good._replace(**changes)])  # type: ignore[arg-type]
    assert store.marks() == {}
