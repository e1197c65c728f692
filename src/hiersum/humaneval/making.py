"""Make a study: questions about gold summaries, items drawn, systems hidden, tasks dealt out.

A line of a question file is {"id": which item, "question", "answers": [the answer, other ways to write
it], "status"}. Drafts are cloze sentences over names, numbers and dates of the gold summary, and "What
is X?" where it defines its topic. They have "status": "draft", and no study uses them until someone has
read them and written "final": a blank can be unfair, trivial or answered by the title.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from hiersum.data.corpora import corpus_files, read_corpus, read_records
from hiersum.data.files import open_binary, write_atomically
from hiersum.data.records import BadRecords, is_texts, record_id
from hiersum.errors import DataError, InputError
from hiersum.evaluation.summary_files import read_texts
from hiersum.humaneval.design import Showing, balance_counts, qa_design, rating_design
from hiersum.humaneval.study import GOLD, OTHER, Item, Kind, Links, Question, Study, Task
from hiersum.text.encodings import clean_text
from hiersum.text.facts import Fact, find_facts
from hiersum.text.sentences import split_sentences
from hiersum.text.words import split_words

BLANK = "_____"
_STATUSES = ("draft", "final")
_DEFINITION = re.compile(
    r"^(?P<topic>.{2,80}?)(?:\s\([^)]*\))?,?\s(?P<verb>is|was|are|were)\s"
    r"(?P<what>(?:an?|the|one of)\s[^,;:.]{3,120})"
)
# What follows the kind of thing: "a bakery that was sold", "a district located in".
_ADDITION = re.compile(
    r"\s(?:that|which|who|whose|where|when|located|situated|based|born|known|held|built|founded)\b.*$"
)
_ARTICLE = re.compile(r"^(?:The|An?)\b")
_PERSON = re.compile(r"\b(?:he|she|his|her|born)\b", re.I)
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_PRONOUNS = frozenset("it he she they this that these those there we i you".split())
_MAX_SYSTEMS = 26


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A line of a question file."""

    item: str
    text: str
    answers: tuple[str, ...]
    is_final: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyPlan:
    """The size of a study, and what it asks."""

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
    allow_drafts: bool = False


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
    """Draw items that all files have, and deal them out to judges.

    Args:
        gold: clusters with gold summaries.
        systems: a file of summaries for each system.
        plan: the size of the study.
        questions: questions about the gold summaries; items without any are not drawn.
        kind: the format of the clusters.

    Raises:
        InputError: names or numbers are invalid.
        DataError: a file is unusable, or the files have too few items in common.
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
    """Write drafts of questions to a file; return how many, and for how many clusters.

    Raises:
        InputError: the file exists, perhaps with someone's edits.
        DataError: there are too few gold summaries.
    """
    if out.exists():
        raise InputError(f"{out}: is there already, perhaps edited; give another --out")
    found = [(c.id, c.title, c.summary) for c in read_corpus(gold, kind) if c.summary]
    if not found or len(found) < (items or 0):
        raise DataError(f"{gold}: only {len(found)} of its clusters have a gold summary")
    order = np.random.default_rng(seed).permutation(len(found))[: items or len(found)]
    drawn = [found[number] for number in sorted(order.tolist())]
    lines = [
        {"id": item, "question": question, "answers": [answer], "kind": fact, "status": "draft"}
        for item, title, summary in drawn
        for question, answer, fact in draft_questions(title, summary, number=per_item)
    ]
    with write_atomically(out) as file:
        file.writelines(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
    return len(lines), len(drawn)


def balance_record(made: MadeStudy) -> dict[str, Any]:
    """Return how often each system is shown, where, and with which other, as JSON."""
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
        questions = [
            Question(f"q{number}", question.text, question.answers)
            for number, question in enumerate((asked or {}).get(cluster.id, []), start=1)
        ]
        items.append(Item(cluster.id, cluster.title, cluster.summary, summaries, tuple(questions)))
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
        # Prefer an item that the judge does not rate anyway.
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


def read_questions(path: Path) -> list[AskedQuestion]:
    """Read a question file.

    Raises:
        DataError: the file or a line is unusable; the message says where and why.
    """
    questions = [_question(record, where) for where, record in read_records(path, BadRecords())]
    if not questions:
        raise DataError(f"{path}: there are no questions in it")
    return questions


def draft_questions(title: str, gold: str, *, number: int) -> list[tuple[str, str, str]]:
    """Return question, answer and kind of up to `number` drafts about a gold summary."""
    return [*_definitions(gold), *_clozes(title, gold)][:number]


def _question(record: Any, where: str) -> AskedQuestion:
    if not isinstance(record, Mapping) or not record_id(record):
        raise DataError(f'{where}: expected an object with "id", "question" and "answers"')
    text, status = record.get("question"), record.get("status")
    answers: Any = record.get("answers")
    if not isinstance(text, str) or not text.strip():
        raise DataError(f'{where}: "question" must be text')
    if not is_texts(answers) or not all(answer.strip() for answer in answers) or not answers:
        raise DataError(f'{where}: "answers" must be a list of texts, the right answer first')
    if status not in (None, *_STATUSES):
        raise DataError(f'{where}: "status" must be "draft" or "final", got {status!r}')
    return AskedQuestion(
        record_id(record),
        clean_text(text),
        tuple(clean_text(answer) for answer in answers),
        status != "draft",
    )


def _definitions(gold: str) -> Iterator[tuple[str, str, str]]:
    for sentence in split_sentences(gold)[:1]:
        match = _DEFINITION.match(sentence)
        if match is None or match["topic"].split()[0].lower() in _PRONOUNS:
            continue
        what = _ADDITION.sub("", match["what"]).strip()
        if len(what.split()) > 1:
            word = "Who" if _PERSON.search(gold) else "What"
            topic = _ARTICLE.sub(lambda article: article[0].lower(), match["topic"])
            yield f"{word} {match['verb']} {topic}?", what, "definition"


def _clozes(title: str, gold: str) -> Iterator[tuple[str, str, str]]:
    """Yield one blank per sentence, then a second one, and so on; alternate the kinds of facts."""
    in_title = set(split_words(title))
    by_sentence = [
        [(sentence, fact) for fact in find_facts(sentence) if _is_askable(sentence, fact, in_title)]
        for sentence in split_sentences(gold)
    ]
    asked: set[str] = set()
    last_kind = ""
    while any(by_sentence):
        for facts in by_sentence:
            if not facts:
                continue
            place = next((n for n, (_, f) in enumerate(facts) if f.kind != last_kind), 0)
            sentence, fact = facts.pop(place)
            if fact.value in asked:
                continue
            asked.add(fact.value)
            last_kind = fact.kind
            answer = _POSSESSIVE.sub("", fact.text)
            cloze = f"{sentence[: fact.start]}{BLANK}{sentence[fact.start + len(answer) :]}"
            yield f"Fill in the blank: {cloze}", answer, fact.kind


def _is_askable(sentence: str, fact: Fact, in_title: set[str]) -> bool:
    """Is the fact not given away by the title or by the rest of the sentence?"""
    words = split_words(fact.text)
    rest = split_words(sentence[: fact.start] + sentence[fact.end :])
    is_said = all(word in in_title for word in words) or all(word in rest for word in words)
    return bool(words) and not is_said and len(rest) >= 3
