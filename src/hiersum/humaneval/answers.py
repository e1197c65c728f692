"""Judges' answers: stored in SQLite, imported from exported pages, and marked.

Nothing is overwritten: the page saves after every choice, even partial answers. It numbers its
submissions within a session; repeated and outdated ones are dropped, and the last one for a task
counts. Acknowledged answers are on disk: `synchronous=FULL` makes commits wait for it.

Marks (1, 0.5 for partly correct, 0) are proposed here and confirmed by a person, who sees each
distinct answer once, without its judge or system. An answer that differs from the correct one only
in case, articles, punctuation, accents or number spelling is proposed as correct; one that contains
the correct one, or is part of it, as half correct.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hiersum.data.files import read_whole
from hiersum.data.records import parse_json
from hiersum.errors import DataError, InputError
from hiersum.humaneval.study import (
    ANSWERS_FILE,
    CHECK_QUESTION,
    Item,
    Links,
    Question,
    Study,
    checked_answers,
    checked_seconds,
    read_links,
    read_study,
)
from hiersum.text.numbers import find_numbers_and_dates
from hiersum.text.words import split_words

Outcome = Literal["saved", "known", "overtaken"]

MARKS = (1.0, 0.5, 0.0)
_ARTICLES = frozenset({"a", "an", "the"})
_UNIT = re.compile(r"\d((?!st|nd|rd|th)[a-z]{1,3})$", re.I)  # 5m is not 5km
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
    """A judge's submission for a task."""

    judge: str
    task: str
    session: str
    """Random per page load, or the checksum of an imported file."""
    sequence: int
    """Counts up within the session."""
    answers: dict[str, str]
    seconds: float
    """Total time that the judge has viewed the task."""


class Mark(NamedTuple):
    """A person's mark for an answer to a question."""

    item: str
    question: str
    key: str
    """The normalised answer (see `answer_key`)."""
    mark: float


class ConflictError(InputError):
    """Two different submissions with the same number."""


class StorageError(InputError):
    """The database is busy, full or not writable: retry."""


class AnswerStore:
    """The answers and marks in a study folder."""

    def __init__(self, folder: Path, study: Study) -> None:
        """Open or create the database of a study; refuse that of another."""
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

    def save(self, *submissions: Submission) -> list[Outcome]:
        """Save all submissions, or none if one fails; they are on disk when this returns."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            return [_save(connection, submission) for submission in submissions]

    def current(self, judge: str | None = None) -> list[Submission]:
        """Return the last submission for each task, of one judge or of all."""
        with self._connection() as connection:
            rows = connection.execute(
                "SELECT judge, task, session, sequence, answers, seconds FROM submissions WHERE number "
                "IN (SELECT max(number) FROM submissions WHERE judge = ifnull(?, judge) "
                "GROUP BY judge, task) ORDER BY number",
                (judge,),
            ).fetchall()
        return [
            Submission(judge, task, session, sequence, json.loads(answers), seconds)
            for judge, task, session, sequence, answers, seconds in rows
        ]

    def begin_ratings(self, judge: str) -> None:
        """Record that a judge has moved on to the ratings, which show the gold summaries."""
        with self._connection() as connection:
            connection.execute("INSERT OR IGNORE INTO begun VALUES (?, ?)", (judge, _now()))

    def has_begun_ratings(self, judge: str) -> bool:
        """Whether this judge has seen gold summaries."""
        with self._connection() as connection:
            rows = connection.execute("SELECT 1 FROM begun WHERE judge = ?", (judge,))
            return rows.fetchone() is not None

    def mark(self, marks: Iterable[Mark]) -> None:
        """Save a person's marks; they are on disk when this returns."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT INTO marks (item, question, answer, mark, received) VALUES (?, ?, ?, ?, ?)",
                [(*mark, _now()) for mark in marks],
            )

    def marks(self) -> dict[tuple[str, str, str], float]:
        """Return the last mark of each answer by item, question and answer key."""
        with self._connection() as connection:
            rows = connection.execute(
                "SELECT item, question, answer, mark FROM marks ORDER BY number"
            ).fetchall()
        return {(item, question, answer): mark for item, question, answer, mark in rows}

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Open a connection, commit at the end, and turn SQLite's errors into ours.

        Each operation has its own connection, so threads and processes can work concurrently.
        """
        try:
            connection = sqlite3.connect(self.path, timeout=20, isolation_level=None)
            try:
                connection.execute("PRAGMA synchronous=FULL")
                yield connection
                if connection.in_transaction:
                    connection.execute("COMMIT")
            finally:
                connection.close()  # rolls back if not committed
        except sqlite3.OperationalError as error:
            raise StorageError(f"{self.path}: cannot be used ({error})") from error
        except sqlite3.DatabaseError as error:
            raise DataError(f"{self.path}: damaged ({error}); restore it from a copy") from error


def _save(connection: sqlite3.Connection, submission: Submission) -> Outcome:
    key = (submission.judge, submission.task, submission.session)
    number = submission.sequence
    answers = json.dumps(submission.answers, sort_keys=True, ensure_ascii=False)
    select = (
        "SELECT sequence, answers FROM submissions WHERE judge = ? AND task = ? AND session = ?"
    )
    known = dict(connection.execute(select, key).fetchall())
    if number in known and known[number] != answers:
        raise ConflictError(
            f"task {submission.task}: submission {number} was already saved with other answers; "
            "load the page again"
        )
    if number in known:
        return "known"
    if known and number < max(known):
        return "overtaken"
    connection.execute(
        "INSERT INTO submissions (judge, task, session, sequence, answers, seconds, received) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*key, number, answers, submission.seconds, _now()),
    )
    return "saved"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def open_study(folder: Path) -> tuple[Study, Links, AnswerStore]:
    """Open a study folder."""
    study = read_study(folder)
    return study, read_links(folder), AnswerStore(folder, study)


def import_answers(study: Study, store: AnswerStore, path: Path) -> tuple[int, int]:
    """Save the answers of an exported page, all or none; return how many are new, and known.

    The file is {"format": 1, "study": ..., "judge": ..., "answers": {task: {"answers": {...},
    "seconds": 12.3}}}.
    """
    data = read_whole(path)
    record: Any = parse_json(data, str(path))
    try:
        study_id, judge, answers = record["study"], record["judge"], record["answers"]
        found = [(str(task), of["answers"], float(of["seconds"])) for task, of in answers.items()]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{path}: not a file of answers that a judge's page saved") from error
    if study_id != study.id:
        raise DataError(
            f"{path}: belongs to another study ({str(study_id)[:40]!r}, not {study.id!r})"
        )
    if judge not in study.judges:
        raise DataError(f"{path}: {str(judge)[:40]!r} is not a judge of this study")
    if not found:
        raise DataError(f"{path}: contains no answers")
    session = f"import{hashlib.sha256(data).hexdigest()[:24]}"
    submissions = []
    for number, (task_id, given, seconds) in enumerate(found, start=1):
        task = study.task.get(task_id)
        if task is None or task.judge != judge:
            raise DataError(f"{path}: {task_id[:40]!r} is not a task of {judge}")
        try:
            checked, seconds = checked_answers(study, task, given), checked_seconds(seconds)
        except InputError as error:
            raise DataError(f"{path}: {error}") from error
        submissions.append(Submission(judge, task_id, session, number, checked, seconds))
    outcomes = store.save(*submissions)
    num_saved = outcomes.count("saved")
    return num_saved, len(outcomes) - num_saved


class Proposal(NamedTuple):
    """A proposed mark and the reason."""

    mark: float
    reason: str


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """One distinct answer to one question."""

    item: Item
    question: Question
    key: str
    texts: tuple[str, ...]
    """Its spellings, most frequent first."""
    count: int
    proposal: Proposal
    mark: float | None
    """A person's mark, if any."""


def answer_key(answer: str) -> str:
    """Normalise an answer: no case, articles, accents or punctuation."""
    return " ".join(_words(answer)) or " ".join(answer.lower().split())


def propose(answer: str, correct: Sequence[str]) -> Proposal:
    """Propose a mark for an answer, given the correct ones."""
    if not answer.strip():
        return Proposal(0.0, "no answer")
    if answer.strip() in [text.strip() for text in correct]:
        return Proposal(1.0, "the same")
    given = _words(answer)
    wanted = [_words(text) for text in correct]
    if given in wanted or _values(answer) in [_values(text) for text in correct]:
        return Proposal(1.0, "the same in another spelling")
    if any(_contains(given, words) for words in wanted):
        return Proposal(0.5, "contains the right answer")
    if any(_contains(words, given) for words in wanted):
        return Proposal(0.5, "a part of the right answer")
    return Proposal(0.0, "something else")


def group_answers(
    study: Study, submissions: Iterable[Submission], marks: dict[tuple[str, str, str], float]
) -> list[AnswerGroup]:
    """Return every distinct answer to every question, in the order of items and questions."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for submission in submissions:
        task = study.task[submission.task]
        for asked, text in submission.answers.items() if task.kind == "qa" else ():
            if asked != CHECK_QUESTION and text:
                texts_of = found.setdefault((task.item, asked), {})
                texts_of.setdefault(answer_key(text), []).append(text)
    groups = []
    for item, question in ((i, question) for i in study.items for question in i.questions):
        texts_of = found.get((item.id, question.id), {})
        for key, texts in sorted(texts_of.items(), key=lambda of: (-len(of[1]), of[0])):
            spellings = tuple(sorted(set(texts), key=lambda text: (-texts.count(text), text)))
            proposals = (propose(text, question.answers) for text in spellings)
            best = max(proposals, key=lambda proposal: proposal.mark)
            mark = marks.get((item.id, question.id, key))
            groups.append(AnswerGroup(item, question, key, spellings, len(texts), best, mark))
    return groups


def save_marks(study: Study, store: AnswerStore, marks: Sequence[Mark]) -> None:
    """Save a person's marks, all or none; refuse one for an answer that nobody gave."""
    groups = group_answers(study, store.current(), {})
    known = {(group.item.id, group.question.id, group.key) for group in groups}
    for mark in marks:
        if isinstance(mark.mark, bool) or mark.mark not in MARKS:
            raise InputError(f"a mark is 1, 0.5 or 0, got {str(mark.mark)[:20]}")
        if (mark.item, mark.question, mark.key) not in known:
            raise InputError(
                f"nobody gave this answer to {mark.question[:40]!r} of {mark.item[:80]!r}"
            )
    store.mark(marks)


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return tuple(word for word in split_words(plain) if word not in _ARTICLES)


def _values(text: str) -> tuple[str, ...]:
    """Return the words of a text, with numbers and dates in a standard form."""
    text = text.title()  # so that months are found without their capital
    numbers, dates = find_numbers_and_dates(text)
    taken = {place for date in dates for place in range(date.start, date.end)}
    spans = [*dates, *(n for n in numbers if n.start not in taken and not n.is_weak)]
    for span in sorted(spans, key=lambda span: -span.start):
        unit = _UNIT.search(text[span.start : span.end])
        value = f"{span.value} {unit[1] if unit else ''}"
        text = f"{text[: span.start]} {value} {text[span.end :]}"
    return _words(text)


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    return bool(part) and f" {' '.join(part)} " in f" {' '.join(words)} "
