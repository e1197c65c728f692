"""Folders of documents with marked conflicts, look-alikes and a question, as sentences and labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hiersum.checking.comparison import Statement
from hiersum.checking.disagreements import Disagreement
from hiersum.text.sentences import split_sentences

Span = tuple[int, int]


class Marked(NamedTuple):
    """Quotes about one thing, as sentence numbers and the quote's place in them.

    Of a look-alike, `one` and `other` are its two sides. Of a conflict, both are all its quotes: if
    three documents give three numbers and two pairs are marked, the third pair is right too.
    """

    about: str
    kind: str
    one: dict[int, Span]
    other: dict[int, Span]

    def is_told(self, sides: Sequence[tuple[int, int, Span]]) -> bool:
        """Do two of a report's sides, as document, sentence and place, overlap the quotes?"""
        return any(
            left[0] != right[0] and _overlaps(left, self.one) and _overlaps(right, self.other)
            for left in sides
            for right in sides
        )


def _overlaps(side: tuple[int, int, Span], spans: dict[int, Span]) -> bool:
    _, number, (start, end) = side
    return number in spans and spans[number][0] < end and start < spans[number][1]


@dataclass(frozen=True)
class Folder:
    """One folder."""

    id: str
    names: list[str]
    statements: list[Statement]
    conflicts: list[Marked]
    look_alikes: list[Marked]
    question: str
    answer: str
    answer_in: set[tuple[int, int]]


def read_folders(directory: Path | None) -> list[Folder]:
    """Read all folders of a directory, in the order of their names."""
    return [read_folder(path) for path in sorted(directory.glob("*.json"))] if directory else []


def read_folder(path: Path) -> Folder:
    """Read one folder; a paragraph is a line of a document."""
    row = json.loads(path.read_text(encoding="utf-8"))
    names = [document["name"] for document in row["documents"]]
    paragraphs = [document["text"].split("\n") for document in row["documents"]]
    statements: list[Statement] = []
    spans: list[Span] = []
    for number, lines in enumerate(paragraphs):
        for position, line in enumerate(lines):
            end = 0
            for sentence in split_sentences(line):
                start = line.index(sentence, end)
                end = start + len(sentence)
                statements.append(Statement(number, position, sentence))
                spans.append((start, end))

    def place(side: dict[str, Any]) -> dict[int, Span]:
        if side["document"] not in names:
            return {}
        document, position, quote = names.index(side["document"]), side["paragraph"], side["quote"]
        lines = paragraphs[document]
        at = lines[position].find(quote) if position < len(lines) else -1
        return {
            n: (at - spans[n][0], at - spans[n][0] + len(quote))
            for n, statement in enumerate(statements)
            if (statement.document, statement.paragraph) == (document, position)
            and at >= 0 and spans[n][0] < at + len(quote) and spans[n][1] > at
        }  # fmt: skip

    def marked(rows: Sequence[dict[str, Any]]) -> list[Marked]:
        return [
            Marked(r.get("about", ""), r.get("type", ""), place(r["a"]), place(r["b"]))
            for r in rows
        ]

    def conflicts() -> list[Marked]:
        pairs = marked(row["conflicts"])
        kinds = {mark.about: mark.kind for mark in reversed(pairs)}
        quotes: dict[str, dict[int, Span]] = {about: {} for about in kinds}
        for mark in pairs:
            quotes[mark.about].update({**mark.one, **mark.other})
        return [Marked(about, kinds[about], found, found) for about, found in quotes.items()]

    focus = row.get("focus") or {"question": "", "answer": "", "answer_in": []}
    return Folder(
        row["id"], names, statements, conflicts(), marked(row["not_conflicts"]),
        focus["question"], focus["answer"],
        {(names.index(name), place) for name, place in focus["answer_in"] if name in names},
    )  # fmt: skip


class Counts(NamedTuple):
    """What reports on one folder tell."""

    found: set[str]
    """What the conflicts told are about."""
    alarms: int
    alike: int
    """Look-alikes told."""


def count(folder: Folder, reports: Sequence[Disagreement]) -> Counts:
    """Compare reports with the marks.

    A report tells a conflict if it shows words of both quotes: the right paragraphs for another
    reason do not count.
    """
    found: set[str] = set()
    alike: set[int] = set()
    alarms = 0
    for disagreement in reports:
        sides = [
            (s.document, folder.statements.index(Statement(s.document, s.paragraph, s.text)),
             (s.start, s.end))
            for s in disagreement.sides
        ]  # fmt: skip
        hits = {mark.about for mark in folder.conflicts if mark.is_told(sides)}
        found |= hits
        alarms += not hits
        if not hits:
            alike |= {n for n, mark in enumerate(folder.look_alikes) if mark.is_told(sides)}
    return Counts(found, alarms, len(alike))
