"""A study: what is judged, by whom and in which order; its folder, and what judges may see.

    study.json       items, systems, tasks (summaries, order and judge of each), seed, and checksums
                     of the files it was made from
    judges.json      the secret part of each judge's link, and of the link for marking answers
    answers.sqlite   every answer and every mark (see `answers.py`)

A rating task shows the gold summary and some systems' summaries as A, B, C; a qa task shows one
system's summary and the item's questions. Only study.json says which letter is which system:
judges' browsers are never told. Answers are

    rating   {"best": "A", "worst": "C"}
    qa       {"q1": "in 1931", "q2": ""}; an empty answer means that the summary does not tell
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from hiersum.data.files import make_folder, read_whole, write_atomically
from hiersum.data.records import parse_json
from hiersum.errors import DataError, InputError
from hiersum.text.encodings import clean_text

FORMAT = 1
LETTERS = "ABCDEFGH"
STUDY_FILE, JUDGES_FILE, ANSWERS_FILE = "study.json", "judges.json", "answers.sqlite"
GOLD, OTHER = "@gold", "@other:"
"""Attention-check texts that are not a system's: the gold summary, and another item's."""
CHECK_QUESTION = "q0"
"""The id of the attention-check question."""
MAX_ANSWER = 500
"""Maximum characters of an answer."""
MAX_SECONDS = 1_000_000.0
BEST, WORST = "best", "worst"

PAGES = Path(__file__).parent / "pages"
_STYLE = '<link rel="stylesheet" href="/static/style.css">'
_SCRIPT = '<script src="/static/judge.js"></script>'
# Makes the browser block all requests from the file, and all scripts but its own.
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "script-src '{script}'; style-src '{style}'; img-src data:; base-uri 'none'; form-action 'none'\">"
)

Kind = Literal["qa", "rating"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the gold summary answers."""

    id: str
    text: str
    answers: tuple[str, ...]
    """The correct answer and its variants."""


@dataclass(frozen=True, slots=True)
class Item:
    """One input: its gold summary, each system's summary, and questions about it."""

    id: str
    title: str
    gold: str
    summaries: dict[str, str]
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """One task for one judge."""

    id: str
    kind: Kind
    judge: str
    item: str
    shown: tuple[str, ...]
    """Systems in the order of their letters; only one in a qa task."""
    is_check: bool = False
    """Whether it has an attention check: an extra question (qa) or an obvious choice (rating)."""


@dataclass(frozen=True)
class Study:
    """Everything that is fixed before the first answer."""

    systems: tuple[str, ...]
    items: tuple[Item, ...]
    judges: tuple[str, ...]
    tasks: tuple[Task, ...]
    """Each judge's tasks in order, qa first: the gold summary would give answers away."""
    responses: int
    seed: int
    inputs: dict[str, str]
    """Checksums (SHA-256) of the gold, of each system's file and of the questions."""

    @cached_property
    def item(self) -> dict[str, Item]:
        """Items by id."""
        return {item.id: item for item in self.items}

    @cached_property
    def task(self) -> dict[str, Task]:
        """Tasks by id."""
        return {task.id: task for task in self.tasks}

    @cached_property
    def id(self) -> str:
        """A checksum; exported tasks carry it, and imported answers must match it."""
        content = json.dumps(self.to_record(), sort_keys=True).encode()
        return hashlib.sha256(content).hexdigest()[:16]

    def tasks_of(self, judge: str, kind: Kind | None = None) -> list[Task]:
        """Return a judge's tasks in order."""
        return [t for t in self.tasks if t.judge == judge and kind in (None, t.kind)]

    def texts(self, task: Task) -> list[str]:
        """Return the summaries that a task shows, in the order of their letters."""
        item = self.item[task.item]
        return [
            self.item[name.removeprefix(OTHER)].gold
            if name.startswith(OTHER)
            else {**item.summaries, GOLD: item.gold}[name]
            for name in task.shown
        ]

    def questions(self, task: Task) -> list[Question]:
        """Return the questions of a qa task, with the attention check last."""
        if task.kind != "qa":
            return []
        asked = list(self.item[task.item].questions)
        if task.is_check:
            # It cannot be answered without looking at the summary.
            word = self.texts(task)[0].split()[-1].strip(".,;:!?\"'()")
            text = "To show that you are reading: which word is the last one of the summary?"
            asked.append(Question(CHECK_QUESTION, text, (word,)))
        return asked

    def to_record(self) -> dict[str, Any]:
        """Return the content of study.json."""
        return {"format": FORMAT, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Links:
    """The secrets in the links: they identify a judge, or allow marking."""

    judges: dict[str, str]
    marker: str

    def judge_of(self, token: str) -> str | None:
        """Return the judge with this link."""
        return next((judge for judge, own in self.judges.items() if _is_same(own, token)), None)

    def is_marker(self, token: str) -> bool:
        """Whether this is the link for marking."""
        return _is_same(self.marker, token)


def _is_same(secret: str, token: str) -> bool:
    return hmac.compare_digest(secret.encode(), token.encode("utf-8", "replace"))


def write_study(study: Study, links: Links, folder: Path) -> None:
    """Write a new study folder.

    Raises:
        InputError: the folder already holds a study, or cannot be written.
    """
    if (folder / STUDY_FILE).exists():
        raise InputError(
            f"{folder}: already holds a study, perhaps with answers; give another --out"
        )
    make_folder(folder)
    _write_json(asdict(links), folder / JUDGES_FILE, mode=0o600)
    _write_json(study.to_record(), folder / STUDY_FILE)  # last: it makes the folder a study


def read_study(folder: Path) -> Study:
    """Read the study in a folder.

    Raises:
        InputError: the folder holds no study.
        DataError: the study is damaged or of another version.
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
        for judge in study.judges:  # what judges may see must be there, or it fails before them
            judge_view(study, judge, with_ratings=True)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise DataError(f"{path}: damaged study ({error!r}); make it again") from error
    return study


def read_links(folder: Path) -> Links:
    """Read the secrets of a study's links."""
    path = folder / JUDGES_FILE
    record = parse_json(read_whole(path), str(path))
    try:
        judges = {str(judge): str(token) for judge, token in record["judges"].items()}
        return Links(judges, str(record["marker"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: damaged ({error!r}); make the study again") from error


def _item(record: dict[str, Any]) -> Item:
    questions = tuple(
        Question(q["id"], q["text"], tuple(q["answers"])) for q in record["questions"]
    )
    return Item(**{**record, "questions": questions})


def _problems(study: Study) -> Iterator[str]:
    known = {*study.systems, GOLD, *(f"{OTHER}{item.id}" for item in study.items)}
    for judge in study.judges:
        if Path(judge).name != judge:
            yield f"the judge {judge!r} cannot be the name of a file"
    for task in study.tasks:
        if task.item not in study.item or task.judge not in study.judges:
            yield f"task {task.id} names an item or a judge that is not there"
        if unknown := set(task.shown) - known:
            yield f"task {task.id} shows {sorted(unknown)[0]!r}, which is not a system"
    if len(study.task) < len(study.tasks):
        yield "two tasks have the same id"


def judge_view(study: Study, judge: str, *, with_ratings: bool) -> dict[str, Any]:
    """Return what a judge's page may contain: texts and questions, never which system wrote what.

    Ratings show gold summaries, which answer the questions, so they are returned only on request.
    """
    qa, ratings = study.tasks_of(judge, "qa"), study.tasks_of(judge, "rating")
    is_open = with_ratings or not qa
    return {
        "study": study.id,
        "judge": judge,
        "max_answer": MAX_ANSWER,
        "qa": [_task_view(study, task) for task in qa],
        "ratings": [_task_view(study, task) for task in ratings] if is_open else None,
        "num_ratings": len(ratings),
    }


def _task_view(study: Study, task: Task) -> dict[str, Any]:
    texts = study.texts(task)
    view: dict[str, Any] = {"id": task.id, "title": study.item[task.item].title}
    if task.kind == "qa":
        questions = [{"id": q.id, "text": q.text} for q in study.questions(task)]
        return {**view, "summary": texts[0], "questions": questions}
    letters = [{"letter": letter, "text": text} for letter, text in zip(LETTERS, texts)]
    return {**view, "gold": study.item[task.item].gold, "summaries": letters}


def export_pages(study: Study, folder: Path) -> list[Path]:
    """Write one HTML file per judge; return the files."""
    make_folder(folder)
    paths = []
    for judge in study.judges:
        paths.append(folder / f"{judge}.html")
        with write_atomically(paths[-1]) as file:
            file.write(judge_page(study, judge).encode())
    return paths


def judge_page(study: Study, judge: str) -> str:
    """Return a page that holds its style, its script and the judge's tasks."""
    view = json.dumps(judge_view(study, judge, with_ratings=True), ensure_ascii=False)
    data = view.replace("<", "\\u003c")  # keeps text from closing the script element
    page, style, script = (
        (PAGES / name).read_text(encoding="utf-8")
        for name in ("judge.html", "style.css", "judge.js")
    )
    policy = _POLICY.format(script=_digest(script), style=_digest(style))
    page = page.replace(_STYLE, f"{policy}\n<style>{style}</style>")
    inside = f'<script id="study-data" type="application/json">{data}</script>'
    return page.replace(_SCRIPT, f"{inside}\n<script>{script}</script>")


def _digest(text: str) -> str:
    """Return what a content policy calls an inline script or style by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def checked_answers(study: Study, task: Task, answers: Any) -> dict[str, str]:
    """Return the answers to a task, cleaned.

    Raises:
        InputError: they do not answer what the task asks.
    """
    if not isinstance(answers, Mapping):
        raise InputError(f"task {task.id}: answers must be an object")
    known = answer_fields(study, task)
    checked = {}
    for field, value in answers.items():
        if field not in known:
            raise InputError(
                f"task {task.id}: asks no {str(field)[:40]!r}; it asks {', '.join(known)}"
            )
        if not isinstance(value, str):
            raise InputError(f"task {task.id}: {field} must be text")
        if (length := len(value)) > MAX_ANSWER:
            raise InputError(
                f"task {task.id}: {field} has {length:,} characters; {MAX_ANSWER} are allowed"
            )
        checked[field] = " ".join(clean_text(value).split())
    if task.kind == "rating":
        _check_rating(task, checked)
    return checked


def answer_fields(study: Study, task: Task) -> list[str]:
    """Return the fields of a complete answer to a task."""
    return [BEST, WORST] if task.kind == "rating" else [q.id for q in study.questions(task)]


def is_complete(study: Study, task: Task, answers: Mapping[str, str]) -> bool:
    """Whether all fields are answered."""
    return all(field in answers for field in answer_fields(study, task))


def checked_seconds(value: Any) -> float:
    """Return a time in seconds, rounded; refuse impossible ones."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError("seconds must be a number")
    if not 0 <= value <= MAX_SECONDS:
        raise InputError(f"seconds must be from 0 to {MAX_SECONDS:,.0f}, got {value}")
    return round(float(value), 1)


def _check_rating(task: Task, answers: Mapping[str, str]) -> None:
    letters = LETTERS[: len(task.shown)]
    for field, letter in answers.items():
        if len(letter) != 1 or letter not in letters:
            raise InputError(
                f"task {task.id}: {field} must be one of {', '.join(letters)}, got {letter[:20]!r}"
            )
    if len(answers) == 2 and answers[BEST] == answers[WORST]:
        raise InputError(f"task {task.id}: best and worst are the same, {answers[BEST]}")


def _write_json(record: dict[str, Any], path: Path, mode: int | None = None) -> None:
    with write_atomically(path) as file:
        if mode is not None:
            os.fchmod(file.fileno(), mode)  # before there is anything to read
        file.write(json.dumps(record, ensure_ascii=False, indent=1).encode() + b"\n")
