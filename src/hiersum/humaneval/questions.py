"""Questions about gold summaries: a file of them, and drafts that a person edits.

A line is {"id": which item, "question", "answers": [the answer, other ways to write it], "status"}.
Drafts are cloze sentences over names, numbers and dates of the gold, and "What is X?" where it defines
its topic. They carry "status": "draft" and no study uses them until someone has read them and written
"final": a blank can be unfair, trivial or answered by the title.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiersum.data.corpora import read_records
from hiersum.data.files import write_atomically
from hiersum.data.records import BadRecords, is_texts, record_id
from hiersum.errors import DataError
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
# What follows the kind of thing and only adds to it: "a bakery that was sold", "a district located in".
_ADDITION = re.compile(
    r"\s(?:that|which|who|whose|where|when|located|situated|based|born|known|held|built|founded)\b.*$"
)
_ARTICLE = re.compile(r"^(?:The|An?)\b")
_PERSON = re.compile(r"\b(?:he|she|his|her|born)\b", re.I)
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_PRONOUNS = frozenset("it he she they this that these those there we i you".split())


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A line of a file of questions."""

    item: str
    text: str
    answers: tuple[str, ...]
    is_final: bool


def read_questions(path: Path) -> list[AskedQuestion]:
    """Read a file of questions.

    Raises:
        DataError: the file or a line cannot be used; `file:line` and what is wrong.
    """
    questions = [_question(record, where) for where, record in read_records(path, BadRecords())]
    if not questions:
        raise DataError(f"{path}: there are no questions in it")
    return questions


def draft_questions(title: str, gold: str, *, number: int) -> Iterator[tuple[str, str, str]]:
    """Yield question, answer and kind of up to `number` drafts about one gold summary."""
    drafts = list(_definitions(gold)) + list(_clozes(title, gold))
    yield from drafts[:number]


def write_drafts(items: Iterable[tuple[str, str, str]], path: Path, *, number: int) -> int:
    """Write drafts for items (id, title, gold) to a file; return how many."""
    count = 0
    with write_atomically(path) as file:
        for item, title, gold in items:
            for question, answer, kind in draft_questions(title, gold, number=number):
                line = {
                    "id": item,
                    "question": question,
                    "answers": [answer],
                    "kind": kind,
                    "status": "draft",
                }
                file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
                count += 1
    return count


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
    """Yield one blank a sentence, then a second, and so on; other kinds of facts in turn."""
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
    """Is there something to know? Not if the title says it, or the rest of the sentence does."""
    words = split_words(fact.text)
    rest = split_words(sentence[: fact.start] + sentence[fact.end :])
    is_said = all(word in in_title for word in words) or all(word in rest for word in words)
    return bool(words) and not is_said and len(rest) >= 3
