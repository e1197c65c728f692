"""Make a study: draw items, hide systems, assign tasks.

A line of a question file is {"id": which item, "question", "answers": [the answer, other ways to
write it]}.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hiersum.data.corpora import corpus_files, read_corpus, read_records
from hiersum.data.files import checksum
from hiersum.data.records import BadRecords, is_texts, record_id
from hiersum.errors import DataError, InputError
from hiersum.evaluation.summary_files import read_texts
from hiersum.humaneval.design import Showing, qa_design, rating_design
from hiersum.humaneval.study import GOLD, OTHER, Item, Kind, Links, Question, Study, Task
from hiersum.text.encodings import clean_text

_MAX_SYSTEMS = 26


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyPlan:
    """The size and questions of a study."""

    items: int = 20
    responses: int = 5
    shown: int | None = None
    """Systems in a rating; default 3, or 2 if there are only 2."""
    judges: int | None = None
    """Default: as few as possible."""
    checks: int = 0
    """Attention checks per judge and kind of task."""
    rating: bool = True
    seed: int = 1


@dataclass(frozen=True, slots=True)
class MadeStudy:
    """A new study, its links and its design."""

    study: Study
    links: Links
    ratings: list[Showing]
    readings: list[Showing]
    """For question answering: one system each."""


def make_study(
    gold: Path,
    systems: Mapping[str, Path],
    plan: StudyPlan,
    *,
    questions: Path | None = None,
    kind: str = "auto",
) -> MadeStudy:
    """Draw items that all files have, with questions if any are asked, and assign them to judges."""
    _check_systems(systems)
    asked = None if questions is None else read_questions(questions)
    if asked is None and not plan.rating:
        raise InputError("without --questions and with --no-rating there is nothing to judge")
    items = _draw(_read_items(gold, systems, asked, kind), plan, gold)
    names = tuple(systems)
    num_judges = plan.judges or max(
        plan.responses, plan.responses * len(names) if asked is not None else 0
    )
    sizes = {"items": len(items), "systems": len(names), "responses": plan.responses}
    readings, ratings = [], []
    if asked is not None:
        readings = qa_design(**sizes, judges=num_judges, seed=plan.seed)
    if plan.rating:
        shown = plan.shown or min(3, len(names))
        ratings = rating_design(**sizes, shown=shown, judges=num_judges, seed=plan.seed)
    judges = [f"judge-{n:0{len(str(num_judges))}}" for n in range(1, num_judges + 1)]
    tasks = _deal(items, names, judges, readings, ratings, plan)
    inputs = {"gold": gold, **systems} | ({"questions": questions} if questions else {})
    study = Study(
        names,
        tuple(items),
        tuple(judges),
        tuple(tasks),
        plan.responses,
        plan.seed,
        {name: checksum(corpus_files(path)) for name, path in inputs.items()},
    )
    links = Links({judge: secrets.token_urlsafe(18) for judge in judges}, secrets.token_urlsafe(18))
    return MadeStudy(study, links, ratings, readings)


def _check_systems(systems: Mapping[str, Path]) -> None:
    if not 2 <= len(systems) <= _MAX_SYSTEMS:
        raise InputError(
            f"{len(systems)} systems: give --system NAME=FILE from 2 to {_MAX_SYSTEMS} times"
        )
    for name in systems:
        if not name.strip() or name.startswith("@"):
            raise InputError(f"{name!r} cannot name a system; write --system NAME=FILE")


def _read_items(
    gold: Path,
    systems: Mapping[str, Path],
    asked: dict[str, list[Question]] | None,
    kind: str,
) -> list[Item]:
    texts = {name: _texts_by_id(path) for name, path in systems.items()}
    items = []
    for cluster in read_corpus(gold, kind):
        if not cluster.summary or any(cluster.id not in of for of in texts.values()):
            continue
        if asked is not None and cluster.id not in asked:
            continue
        summaries = {name: of[cluster.id].strip() for name, of in texts.items()}
        if empty := [name for name, text in summaries.items() if not text]:
            raise DataError(
                f"{systems[empty[0]]}: the summary of {cluster.id!r} is empty; nobody can judge it"
            )
        questions = tuple((asked or {}).get(cluster.id, ()))
        items.append(Item(cluster.id, cluster.title, cluster.summary, summaries, questions))
    return items


def _texts_by_id(path: Path) -> dict[str, str]:
    entries = read_texts(path)
    if not entries.ids:
        raise DataError(f"{path}: its summaries have no ids to join them with the gold")
    return dict(zip(entries.ids, entries.items))


def _draw(items: list[Item], plan: StudyPlan, gold: Path) -> list[Item]:
    if len({item.id for item in items}) < len(items):
        raise DataError(f"{gold}: two of its clusters have the same id; give each its own")
    if len(items) < plan.items:
        raise DataError(
            f"{gold}: {plan.items} items are wanted, but only {len(items)} of its clusters have a "
            "gold summary, one by every system and, where questions are asked, questions; lower "
            "--items or give more"
        )
    drawn = np.random.default_rng(plan.seed).permutation(len(items))[: plan.items]
    return [items[number] for number in drawn.tolist()]


def _deal(
    items: Sequence[Item],
    systems: Sequence[str],
    judges: Sequence[str],
    readings: Sequence[Showing],
    ratings: Sequence[Showing],
    plan: StudyPlan,
) -> list[Task]:
    """Put each judge's tasks in random order, add checks, and number all tasks at random.

    A task's number must not reveal what it shows.
    """
    generator = np.random.default_rng(plan.seed + 1)
    kinds: tuple[tuple[Kind, Sequence[Showing]], ...] = (("qa", readings), ("rating", ratings))
    tasks: list[Task] = []
    for number, judge in enumerate(judges):
        for kind, showings in kinds:
            own = [
                Task("", kind, judge, items[s.item].id, tuple(systems[n] for n in s.systems))
                for s in showings
                if s.judge == number
            ]
            own = [own[place] for place in generator.permutation(len(own))]
            tasks += _with_checks(own, items, plan.checks, generator)
    numbers = generator.permutation(len(tasks)).tolist()
    width = len(str(len(tasks)))
    return [replace(task, id=f"t{number + 1:0{width}}") for task, number in zip(tasks, numbers)]


def _with_checks(
    tasks: list[Task], items: Sequence[Item], number: int, generator: np.random.Generator
) -> list[Task]:
    if not tasks or not number:
        return tasks
    if tasks[0].kind == "qa":
        chosen = generator.permutation(len(tasks))[:number].tolist()
        return [replace(task, is_check=place in chosen) for place, task in enumerate(tasks)]
    if len(items) < 2:
        raise InputError("attention checks need another item's text; give --items 2 or more")
    own = {task.item for task in tasks}
    like = tasks[0]
    for _ in range(number):
        # Prefer an item that the judge does not rate otherwise.
        free = [item for item in items if item.id not in own] or list(items)
        item = free[int(generator.integers(len(free)))]
        others = [other.id for other in items if other.id != item.id]
        other = others[int(generator.integers(len(others)))]
        shown = [GOLD, f"{OTHER}{other}", *like.shown[2:]]
        order = generator.permutation(len(shown))
        check = Task(
            "", "rating", like.judge, item.id, tuple(shown[place] for place in order), is_check=True
        )
        tasks.insert(int(generator.integers(len(tasks) + 1)), check)
    return tasks


def read_questions(path: Path) -> dict[str, list[Question]]:
    """Read a question file; return the questions by item."""
    found: dict[str, list[Question]] = {}
    for where, record in read_records(path, BadRecords()):
        if not isinstance(record, Mapping) or not record_id(record):
            raise DataError(f'{where}: expected an object with "id", "question" and "answers"')
        text, answers = record.get("question"), record.get("answers")
        if not isinstance(text, str) or not text.strip():
            raise DataError(f'{where}: "question" must be text')
        if not is_texts(answers) or not answers or not all(answer.strip() for answer in answers):
            raise DataError(f'{where}: "answers" must be a list of texts, the right answer first')
        asked = found.setdefault(record_id(record), [])
        right = tuple(clean_text(answer) for answer in answers)
        asked.append(Question(f"q{len(asked) + 1}", clean_text(text), right))
    if not found:
        raise DataError(f"{path}: contains no questions")
    return found
