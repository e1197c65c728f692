"""Marks for answers: 1 for a right one, 0.5 for half of it, 0 otherwise; proposed here, given by people.

Who marks sees the question, the right answer and each different answer once, however many judges gave
it, and not which system's summary or which judge it came from. An answer that is the right one but for
case, articles, punctuation, accents or the way a number is written is proposed as right; one that holds
the right one or is held by it as half right. Nothing counts until a person has confirmed it, or says
that proposals may count. An empty answer needs nobody: it is wrong.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hiersum.errors import InputError
from hiersum.humaneval.answers import AnswerStore, Mark, Submission
from hiersum.humaneval.study import CHECK_QUESTION, Item, Question, Study
from hiersum.text.numbers import find_numbers_and_dates
from hiersum.text.words import split_words

MARKS = (1.0, 0.5, 0.0)
_ARTICLES = frozenset({"a", "an", "the"})
_UNIT = re.compile(r"\d((?!st|nd|rd|th)[a-z]{1,3})$", re.I)  # 5m is not 5km


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mark and why it is proposed."""

    mark: float
    reason: str
    is_match: bool
    """The answer is the right one, written alike or otherwise."""


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """One answer to one question, given once or often."""

    item: Item
    question: Question
    key: str
    texts: tuple[str, ...]
    """How it was written, most frequent first."""
    count: int
    proposal: Proposal
    mark: float | None
    """What a person said."""


def answer_key(answer: str) -> str:
    """Return the form in which answers are the same: no case, articles, accents, punctuation."""
    return " ".join(_words(answer)) or " ".join(answer.lower().split())


def propose(answer: str, right: Sequence[str]) -> Proposal:
    """Compare an answer with the right ones."""
    if not answer.strip():
        return Proposal(0.0, "no answer", is_match=True)
    if answer.strip() in [text.strip() for text in right]:
        return Proposal(1.0, "the same", is_match=True)
    given = _words(answer)
    wanted = [_words(text) for text in right]
    if given in wanted or _values(answer) in [_values(text) for text in right]:
        return Proposal(1.0, "the same, written otherwise", is_match=True)
    if any(_holds(given, words) for words in wanted):
        return Proposal(0.5, "holds the right answer", is_match=False)
    if any(_holds(words, given) for words in wanted):
        return Proposal(0.5, "a part of the right answer", is_match=False)
    return Proposal(0.0, "something else", is_match=False)


def group_answers(
    study: Study, submissions: Iterable[Submission], marks: dict[tuple[str, str, str], float]
) -> list[AnswerGroup]:
    """Return every different answer to every question, in the order of items and questions."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for submission in submissions:
        task = study.task[submission.task]
        if task.kind != "qa":
            continue
        for asked, text in submission.answers.items():
            if asked != CHECK_QUESTION and text:
                found.setdefault((task.item, asked, answer_key(text)), []).append(text)
    groups = []
    for item in study.items:
        for question in item.questions:
            keys = [k for k in found if k[:2] == (item.id, question.id)]
            for key in sorted(keys, key=lambda k: (-len(found[k]), k)):
                texts = found[key]
                written = sorted(set(texts), key=lambda text: (-texts.count(text), text))
                # The same key may be written so that one spelling is exact; the best proposal counts.
                proposal = max(
                    (propose(text, question.answers) for text in written), key=lambda p: p.mark
                )
                groups.append(
                    AnswerGroup(
                        item, question, key[2], tuple(written), len(texts), proposal, marks.get(key)
                    )
                )
    return groups


def save_marks(study: Study, store: AnswerStore, marks: Sequence[Mark]) -> None:
    """Keep a person's marks, all or none.

    Raises:
        InputError: there is no such question or answer, or no such mark.
    """
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
    """Return the words of a text with numbers and dates in one form; months need no capital here."""
    text = text.title()
    numbers, dates = find_numbers_and_dates(text)
    taken = {place for date in dates for place in range(date.start, date.end)}
    spans = [*dates, *(n for n in numbers if n.start not in taken and not n.is_weak)]
    for span in sorted(spans, key=lambda span: -span.start):
        unit = _UNIT.search(text[span.start : span.end])
        value = f"{span.value} {unit[1] if unit else ''}"
        text = f"{text[: span.start]} {value} {text[span.end :]}"
    return _words(text)


def _holds(words: Sequence[str], part: Sequence[str]) -> bool:
    width = len(part)
    return bool(part) and any(
        tuple(words[start : start + width]) == tuple(part)
        for start in range(len(words) - width + 1)
    )
