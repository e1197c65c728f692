"""From files to a study: items are drawn, systems hidden and dealt out, checks added."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from hiersum.data.corpora import corpus_files, read_corpus
from hiersum.data.files import open_binary
from hiersum.errors import DataError, InputError
from hiersum.evaluation.summary_files import Entries, read_texts
from hiersum.humaneval.design import Showing, balance_counts, qa_design, rating_design
from hiersum.humaneval.questions import AskedQuestion, read_questions, write_drafts
from hiersum.humaneval.study import GOLD, OTHER, Item, Kind, Links, Question, Study, Task

_MAX_SYSTEMS = 26


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyPlan:
    """How large a study is, and what it asks."""

    items: int = 20
    responses: int = 5
    shown: int | None = None
    """Systems in a rating at a time; 3, or 2 if there are only 2."""
    judges: int | None = None
    """As few as can be, if None."""
    checks: int = 0
    """Attention checks for each judge, of each kind of task."""
    rating: bool = True
    seed: int = 1
    allow_drafts: bool = False


@dataclass(frozen=True, slots=True)
class MadeStudy:
    """A new study, and how its showings are balanced."""

    study: Study
    links: Links
    ratings: list[Showing]
    readings: list[Showing]
    """Of the question answering: one system each."""


def make_study(
    gold: Path,
    systems: Mapping[str, Path],
    plan: StudyPlan,
    *,
    questions: Path | None = None,
    kind: str = "auto",
) -> MadeStudy:
    """Draw items that all files have, and deal them out to judges.

    Args:
        gold: clusters with summaries.
        systems: a file of summaries for each name.
        plan: numbers and choices.
        questions: questions on the gold summaries; items without any are not drawn.
        kind: the kind of the clusters.

    Raises:
        InputError: names or numbers do not fit.
        DataError: a file cannot be used, or the files have too few items in common.
    """
    _check_systems(systems)
    asked = None if questions is None else _final_questions(questions, plan.allow_drafts)
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
    study = Study(
        names,
        tuple(items),
        tuple(judges),
        tuple(tasks),
        plan.responses,
        plan.seed,
        _checksums({"gold": gold, **systems} | ({"questions": questions} if questions else {})),
    )
    links = Links({judge: secrets.token_urlsafe(18) for judge in judges}, secrets.token_urlsafe(18))
    return MadeStudy(study, links, ratings, readings)


def draft_file(
    gold: Path, out: Path, *, items: int | None, per_item: int, seed: int, kind: str = "auto"
) -> tuple[int, int]:
    """Draft questions on gold summaries into a file; return how many, and on how many clusters.

    Raises:
        InputError: the file is there already, perhaps with someone's work in it.
        DataError: there are too few gold summaries.
    """
    if out.exists():
        raise InputError(f"{out}: is there already, perhaps edited; give another --out")
    found = [(c.id, c.title, c.summary) for c in read_corpus(gold, kind) if c.summary]
    if not found or len(found) < (items or 0):
        raise DataError(f"{gold}: only {len(found)} of its clusters have a gold summary")
    order = np.random.default_rng(seed).permutation(len(found))[: items or len(found)]
    drawn = [found[number] for number in sorted(order.tolist())]
    return write_drafts(drawn, out, number=per_item), len(drawn)


def balance_record(made: MadeStudy) -> dict[str, Any]:
    """Return how often each system was shown, where, and with which other, for programs."""
    systems = made.study.systems
    record: dict[str, Any] = {"study": made.study.id, "judges": len(made.study.judges)}
    for name, showings in (("qa", made.readings), ("rating", made.ratings)):
        places, pairs = balance_counts(showings, len(systems))
        record[name] = {
            "tasks": len(showings),
            "places": dict(zip(systems, places.tolist())),
            "pairs": [
                {"first": systems[a], "second": systems[b], "shown": int(pairs[a, b])}
                for a, b in combinations(range(len(systems)), 2)
            ],
        }
    return record


def _check_systems(systems: Mapping[str, Path]) -> None:
    if not 2 <= len(systems) <= _MAX_SYSTEMS:
        raise InputError(
            f"{len(systems)} systems: give --system NAME=FILE from 2 to {_MAX_SYSTEMS} times"
        )
    for name in systems:
        if not name.strip() or name.startswith("@"):
            raise InputError(f"{name!r} cannot name a system; write --system NAME=FILE")


def _final_questions(path: Path, allow_drafts: bool) -> dict[str, list[AskedQuestion]]:
    found: dict[str, list[AskedQuestion]] = {}
    asked = read_questions(path)
    drafts = sum(not question.is_final for question in asked)
    if drafts and not allow_drafts:
        raise InputError(
            f"{path}: {drafts} of {len(asked)} questions are drafts that nobody has checked; read "
            'them, write "status": "final", or use them as they are with --allow-drafts'
        )
    for question in asked:
        found.setdefault(question.item, []).append(question)
    return found


def _read_items(
    gold: Path,
    systems: Mapping[str, Path],
    asked: dict[str, list[AskedQuestion]] | None,
    kind: str,
) -> list[Item]:
    texts = {name: _by_id(read_texts(path)) for name, path in systems.items()}
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
        questions = [
            Question(f"q{number}", question.text, question.answers)
            for number, question in enumerate((asked or {}).get(cluster.id, []), start=1)
        ]
        items.append(Item(cluster.id, cluster.title, cluster.summary, summaries, tuple(questions)))
    return items


def _by_id(entries: Entries[str]) -> dict[str, str]:
    if not entries.ids:
        raise DataError(f"{entries.path}: its summaries have no ids to join them with the gold")
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
    """Put each judge's tasks in an order of their own, checks among them, and number all by chance.

    The number of a task must say nothing about what it shows.
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
        # An item that the judge does not rate otherwise, if there is one.
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


def _checksums(paths: Mapping[str, Path]) -> dict[str, str]:
    checksums = {}
    for name, path in paths.items():
        digest = hashlib.sha256()
        for part in corpus_files(path):
            with open_binary(part) as file:
                digest.update(file.read())
        checksums[name] = digest.hexdigest()
    return checksums
