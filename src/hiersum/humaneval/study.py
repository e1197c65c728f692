"""A study: what is judged, by whom, in which order; and the folder that holds it.

    study.json       items, systems, tasks (which summaries, in which order, for which judge), seed,
                     checksums of the files it was made from; plain and readable
    judges.json      the secret parts of the links, one for each judge and one for who marks answers
    answers.sqlite   every answer and every mark (see `answers.py`)

A rating task shows the gold summary and some systems' summaries as A, B, C; a qa task shows one
system's summary and the item's questions. Which letter is which system stands in study.json alone and
never leaves for a judge's browser.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from hiersum.data.files import read_whole, write_atomically
from hiersum.data.records import parse_json
from hiersum.errors import DataError, InputError

FORMAT = 1
LETTERS = "ABCDEFGH"
STUDY_FILE, JUDGES_FILE, ANSWERS_FILE = "study.json", "judges.json", "answers.sqlite"
GOLD, OTHER = "@gold", "@other:"
"""What attention checks show besides systems: the gold summary, and another item's."""
CHECK_QUESTION = "q0"
"""The id of the question that only asks whether someone reads."""

Kind = Literal["qa", "rating"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the gold summary answers."""

    id: str
    text: str
    answers: tuple[str, ...]
    """The right answer, and other ways to write it."""


@dataclass(frozen=True, slots=True)
class Item:
    """One input: its gold summary, what each system wrote, and what is asked about it."""

    id: str
    title: str
    gold: str
    summaries: dict[str, str]
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """What one judge is asked to do once."""

    id: str
    kind: Kind
    judge: str
    item: str
    shown: tuple[str, ...]
    """Systems in the order of their letters; one alone in a qa task."""
    is_check: bool = False
    """An attention check: for qa one more question, for a rating a choice that nobody misses."""


@dataclass(frozen=True)
class Study:
    """Everything that is fixed before the first answer."""

    systems: tuple[str, ...]
    items: tuple[Item, ...]
    judges: tuple[str, ...]
    tasks: tuple[Task, ...]
    """Of each judge in the order in which they come, qa first: the gold gives answers away."""
    responses: int
    seed: int
    inputs: dict[str, str]
    """Checksums (SHA-256) of the gold, of each system's file and of the questions."""

    @cached_property
    def item(self) -> dict[str, Item]:
        """The items by id."""
        return {item.id: item for item in self.items}

    @cached_property
    def task(self) -> dict[str, Task]:
        """The tasks by id."""
        return {task.id: task for task in self.tasks}

    @cached_property
    def id(self) -> str:
        """Tells this study from every other; exported tasks carry it, and answers must match it."""
        content = json.dumps(self.to_record(), sort_keys=True).encode()
        return hashlib.sha256(content).hexdigest()[:16]

    def tasks_of(self, judge: str, kind: Kind | None = None) -> list[Task]:
        """Return a judge's tasks in order."""
        return [t for t in self.tasks if t.judge == judge and kind in (None, t.kind)]

    def texts(self, task: Task) -> list[str]:
        """Return the summaries that a task shows, in the order of their letters."""
        return [self._text(task, name) for name in task.shown]

    def _text(self, task: Task, name: str) -> str:
        if name.startswith(OTHER):
            return self.item[name.removeprefix(OTHER)].gold
        item = self.item[task.item]
        return item.gold if name == GOLD else item.summaries[name]

    def questions(self, task: Task) -> list[Question]:
        """Return what a qa task asks, with the attention check last."""
        if task.kind != "qa":
            return []
        asked = list(self.item[task.item].questions)
        if task.is_check:
            # The summary has no answer of its own to this: only who looks at it can know.
            word = self.texts(task)[0].split()[-1].strip(".,;:!?\"'()")
            text = "To show that you are reading: which word is the last one of the summary?"
            asked.append(Question(CHECK_QUESTION, text, (word,)))
        return asked

    def to_record(self) -> dict[str, Any]:
        """Return what study.json holds."""
        return {
            "format": FORMAT,
            "systems": list(self.systems),
            "responses": self.responses,
            "seed": self.seed,
            "inputs": self.inputs,
            "judges": list(self.judges),
            "items": [asdict(item) for item in self.items],
            "tasks": [asdict(task) for task in self.tasks],
        }


@dataclass(frozen=True, slots=True)
class Links:
    """The secrets in the links: who knows one is that judge, or the one who marks."""

    judges: dict[str, str]
    marker: str

    def judge_of(self, token: str) -> str | None:
        """Return whose link this is."""
        return next((judge for judge, own in self.judges.items() if _is_same(own, token)), None)

    def is_marker(self, token: str) -> bool:
        """Is this the link of the one who marks?"""
        return _is_same(self.marker, token)


def _is_same(secret: str, token: str) -> bool:
    return hmac.compare_digest(secret.encode(), token.encode("utf-8", "replace"))


def write_study(study: Study, links: Links, folder: Path) -> None:
    """Write a new study folder.

    Raises:
        InputError: there is a study in it already, or it cannot be written.
    """
    if (folder / STUDY_FILE).exists():
        raise InputError(
            f"{folder}: holds a study already, perhaps with answers; give another --out"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})") from error
    _write_json(asdict(links), folder / JUDGES_FILE)
    (folder / JUDGES_FILE).chmod(0o600)
    _write_json(study.to_record(), folder / STUDY_FILE)  # last: with it the folder is a study


def read_study(folder: Path) -> Study:
    """Read the study of a folder.

    Raises:
        InputError: there is none.
        DataError: it is damaged or of another version.
    """
    path = folder / STUDY_FILE
    if not path.is_file():
        raise InputError(
            f"{folder}: holds no {STUDY_FILE}; make a study with: hiersum humaneval make"
        )
    record = parse_json(read_whole(path), str(path))
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise DataError(f"{path}: not a study of format {FORMAT}; make it again")
    try:
        study = Study(
            tuple(record["systems"]),
            tuple(_item(item) for item in record["items"]),
            tuple(record["judges"]),
            tuple(Task(**{**task, "shown": tuple(task["shown"])}) for task in record["tasks"]),
            record["responses"],
            record["seed"],
            record["inputs"],
        )
        for problem in _problems(study):
            raise DataError(f"{path}: {problem}; make the study again")
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: damaged study ({error!r}); make it again") from error
    return study


def read_links(folder: Path) -> Links:
    """Read the secrets of a study folder."""
    path = folder / JUDGES_FILE
    record = parse_json(read_whole(path), str(path))
    try:
        return Links({str(judge): str(token) for judge, token in record["judges"].items()},
                     str(record["marker"]))  # fmt: skip
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: damaged ({error!r}); make the study again") from error


def _item(record: dict[str, Any]) -> Item:
    questions = tuple(
        Question(q["id"], q["text"], tuple(q["answers"])) for q in record["questions"]
    )
    return Item(**{**record, "questions": questions})


def _problems(study: Study) -> Iterator[str]:
    known = {*study.systems, GOLD, *(f"{OTHER}{item.id}" for item in study.items)}
    for task in study.tasks:
        if task.item not in study.item or task.judge not in study.judges:
            yield f"task {task.id} names an item or a judge that is not there"
        if unknown := set(task.shown) - known:
            yield f"task {task.id} shows {sorted(unknown)[0]!r}, which is no system"
    if len(study.task) < len(study.tasks):
        yield "two tasks have the same id"


def _write_json(record: dict[str, Any], path: Path) -> None:
    with write_atomically(path) as file:
        file.write(json.dumps(record, ensure_ascii=False, indent=1).encode() + b"\n")
