"""Answers are kept once, in order, and outlive the process that took them."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
from judging import again, small_study

from hiersum.errors import DataError
from hiersum.humaneval.answers import AnswerStore, ConflictError, Mark, StorageError, Submission
from hiersum.humaneval.making import StudyPlan

FIRST = Submission("judge-1", "t1", "session-a", 1, {"best": "A"}, 3.0)


@pytest.fixture
def store(tmp_path: Path) -> AnswerStore:
    return small_study(tmp_path, StudyPlan(items=2, responses=1))[1]


def test_the_last_answer_of_a_task_counts_and_all_are_kept(store: AnswerStore) -> None:
    assert store.save(FIRST) == "saved"
    last = again(FIRST, sequence=2, answers={"best": "B", "worst": "A"}, seconds=9.0)
    assert store.save(last) == "saved"
    assert store.current("judge-1") == [last]
    assert store.current("judge-2") == []
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("SELECT count(*) FROM submissions").fetchone() == (2,)


def test_a_replayed_submission_changes_nothing(store: AnswerStore) -> None:
    last = again(FIRST, sequence=2, answers={"best": "B"})
    assert [store.save(s) for s in (FIRST, last, FIRST, last)] == [
        "saved",
        "saved",
        "known",
        "known",
    ]
    assert store.current() == [last]


def test_a_submission_that_was_overtaken_on_the_way_is_not_taken_for_the_last(
    store: AnswerStore,
) -> None:
    last = again(FIRST, sequence=5, answers={"best": "B"})
    assert store.save(last) == "saved"
    assert store.save(again(FIRST, sequence=4)) == "overtaken"
    assert store.current() == [last]
    other_window = again(FIRST, session="session-b")
    assert store.save(other_window) == "saved"
    assert store.current() == [other_window]


def test_one_number_cannot_mean_two_answers(store: AnswerStore) -> None:
    store.save(FIRST)
    with pytest.raises(ConflictError, match="submission 1 came before with other answers"):
        store.save(again(FIRST, answers={"best": "C"}))
    assert store.current() == [FIRST]


def test_all_or_nothing(store: AnswerStore) -> None:
    fine, bad = again(FIRST, task="t2"), again(FIRST, answers={"best": "C"})
    store.save(FIRST)
    with pytest.raises(ConflictError):
        store.save_all([fine, bad])
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
    store.mark([first, again(first, mark=1.0)])
    store.mark([again(first, mark=0.5), again(first, question="q2", mark=1.0)])
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
