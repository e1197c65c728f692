"""The answers of a study in SQLite: an answer that was acknowledged is on the disk.

Nothing is overwritten. A judge's page numbers what it sends within its session; a submission that
comes twice is kept once, one that was overtaken by a later one of its session is not kept, and the last
one of a task counts. Write-ahead logging lets judges write while others read; `synchronous=FULL` makes
a commit wait for the disk.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from hiersum.errors import DataError, InputError
from hiersum.humaneval.study import ANSWERS_FILE, Study

Outcome = Literal["saved", "known", "overtaken"]

_TABLES = """
CREATE TABLE IF NOT EXISTS study (id TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS submissions (
    number INTEGER PRIMARY KEY, judge TEXT NOT NULL, task TEXT NOT NULL, session TEXT NOT NULL,
    sequence INTEGER NOT NULL, answers TEXT NOT NULL, seconds REAL NOT NULL, received TEXT NOT NULL,
    UNIQUE (judge, task, session, sequence));
CREATE TABLE IF NOT EXISTS begun (judge TEXT PRIMARY KEY, received TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS marks (
    number INTEGER PRIMARY KEY, item TEXT NOT NULL, question TEXT NOT NULL, answer TEXT NOT NULL,
    mark REAL NOT NULL, received TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Submission:
    """What a judge sent for a task."""

    judge: str
    task: str
    session: str
    """Drawn by the page when it is opened, or what was imported."""
    sequence: int
    """Counts up within the session."""
    answers: dict[str, str]
    seconds: float
    """How long the judge has looked at the task in all."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a person gave for an answer to a question."""

    item: str
    question: str
    key: str
    """The answer, in the form in which answers are the same (see `marking.answer_key`)."""
    mark: float


class ConflictError(InputError):
    """Two different submissions under one number."""


class StorageError(InputError):
    """The file of answers is busy, full or not writable: worth another try."""


class AnswerStore:
    """The answers and marks of a study folder."""

    def __init__(self, folder: Path, study: Study) -> None:
        """Open the answers of a study, or begin them.

        Raises:
            DataError: the file holds the answers of another study, or is damaged.
            StorageError: it cannot be written.
        """
        self.path = folder / ANSWERS_FILE
        with self._connection() as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(_TABLES)
            connection.execute("BEGIN IMMEDIATE")
            row = connection.execute("SELECT id FROM study").fetchone()
            if row is None:
                connection.execute("INSERT INTO study VALUES (?)", (study.id,))
            elif row[0] != study.id:
                raise DataError(
                    f"{self.path}: holds the answers of another study; was study.json changed?"
                )

    def save(self, submission: Submission) -> Outcome:
        """Keep a submission; when this returns, it is on the disk.

        Raises:
            ConflictError: the same number came with other answers before.
        """
        return self.save_all([submission])[0]

    def save_all(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """Keep all of them, or none if one of them cannot be kept; see `save`."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            return [_save(connection, submission) for submission in submissions]

    def current(self, judge: str | None = None) -> list[Submission]:
        """Return the last submission for each task of each judge, or of one."""
        where = "" if judge is None else "WHERE judge = ?"
        with self._connection() as connection:
            rows = connection.execute(
                "SELECT judge, task, session, sequence, answers, seconds FROM submissions WHERE number "
                f"IN (SELECT max(number) FROM submissions {where} GROUP BY judge, task) "
                "ORDER BY number",
                () if judge is None else (judge,),
            ).fetchall()
        return [
            Submission(judge, task, session, sequence, json.loads(answers), seconds)
            for judge, task, session, sequence, answers, seconds in rows
        ]

    def begin_ratings(self, judge: str) -> None:
        """Note that a judge has gone on to the ratings, which show the gold summaries."""
        with self._connection() as connection:
            connection.execute("INSERT OR IGNORE INTO begun VALUES (?, ?)", (judge, _now()))

    def has_begun_ratings(self, judge: str) -> bool:
        """Has this judge seen gold summaries?"""
        with self._connection() as connection:
            query = "SELECT 1 FROM begun WHERE judge = ?"
            return connection.execute(query, (judge,)).fetchone() is not None

    def mark(self, marks: Iterable[Mark]) -> None:
        """Keep a person's marks; when this returns, they are on the disk."""
        rows = [(mark.item, mark.question, mark.key, mark.mark, _now()) for mark in marks]
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT INTO marks (item, question, answer, mark, received) VALUES (?, ?, ?, ?, ?)",
                rows,
            )

    def marks(self) -> dict[tuple[str, str, str], float]:
        """Return the last mark of each answer that has one."""
        with self._connection() as connection:
            rows = connection.execute(
                "SELECT item, question, answer, mark FROM marks ORDER BY number"
            ).fetchall()
        return {(item, question, answer): mark for item, question, answer, mark in rows}

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Open the file, commit at the end, and turn SQLite's errors into ours.

        One connection for each piece of work: threads and processes may work at the same time.
        """
        try:
            connection = sqlite3.connect(self.path, timeout=20, isolation_level=None)
            try:
                connection.execute("PRAGMA synchronous=FULL")
                yield connection
                if connection.in_transaction:
                    connection.execute("COMMIT")
            finally:
                connection.close()  # rolls back what was not committed
        except sqlite3.OperationalError as error:
            raise StorageError(f"{self.path}: cannot be used ({error})") from error
        except sqlite3.DatabaseError as error:
            raise DataError(f"{self.path}: damaged ({error}); restore it from a copy") from error


def _save(connection: sqlite3.Connection, submission: Submission) -> Outcome:
    key = (submission.judge, submission.task, submission.session)
    answers = json.dumps(submission.answers, sort_keys=True, ensure_ascii=False)
    known = dict(
        connection.execute(
            "SELECT sequence, answers FROM submissions WHERE judge = ? AND task = ? AND session = ?",
            key,
        ).fetchall()
    )
    if submission.sequence in known:
        if known[submission.sequence] != answers:
            raise ConflictError(
                f"task {submission.task}: submission {submission.sequence} came before with other "
                "answers; load the page again"
            )
        return "known"
    if known and submission.sequence < max(known):
        return "overtaken"
    connection.execute(
        "INSERT INTO submissions (judge, task, session, sequence, answers, seconds, received) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*key, submission.sequence, answers, submission.seconds, _now()),
    )
    return "saved"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
