"""Folders of documents with marked conflicts, look-alikes and a question, as sentences and labels."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiersum.checking.comparison import Candidate
from hiersum.checking.disagreements import Disagreement
from hiersum.types import Paragraph, Place, Sentence

Array = NDArray[np.float64]
Span = tuple[int, int]

DISAGREE, AGREE = ("conflict", "update"), ("alike", "same")
"""Kinds of pairs that readers marked (`disagreements.jsonl`)."""


def is_held_out(name: str, one_in: int) -> bool:
    """Whether a folder or cluster is kept for validation."""
    return zlib.crc32(f"marked {name}".encode()) % one_in == 0


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Marked(NamedTuple):
    """Quotes about one thing, as sentence numbers and the quote's place in them.

    Of a look-alike, `one` and `other` are its two sides. Of a conflict, both are all its quotes: if
    three documents give three numbers and two pairs are marked, the third pair is right too.
    """

    about: str
    kind: str
    one: dict[int, Span]
    other: dict[int, Span]

    def holds(self, candidate: Candidate) -> bool:
        """Are the candidate's sentences among the marked ones?"""
        i, j = candidate.one, candidate.other
        return (i in self.one and j in self.other) or (j in self.one and i in self.other)

    def holds_values(self, candidate: Candidate) -> bool:
        """Do the candidate's values stand in the quotes?"""
        if candidate.values is None:
            return self.holds(candidate)
        ends = list(zip((candidate.one, candidate.other), candidate.values))
        return any(
            _within(left, self.one) and _within(right, self.other)
            for left, right in (ends, ends[::-1])
        )

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


def _within(end: Any, spans: dict[int, Span]) -> bool:
    number, value = end
    return number in spans and spans[number][0] <= value.start < spans[number][1]


@dataclass(frozen=True)
class Folder:
    """One folder."""

    id: str
    names: list[str]
    statements: list[Sentence]
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
    statements: list[Sentence] = []
    spans: list[Span] = []
    for number, lines in enumerate(paragraphs):
        for position, line in enumerate(lines):
            end = 0
            for sentence in Paragraph(line, number, position).sentences:
                start = line.index(sentence.text, end)
                end = start + len(sentence.text)
                statements.append(sentence)
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
            if statement.place == Place(document, position)
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
    said = [(statement.place, statement.text) for statement in folder.statements]
    for disagreement in reports:
        sides = [
            (s.document, said.index((Place(s.document, s.paragraph), s.text)), (s.start, s.end))
            for s in disagreement.sides
        ]  # fmt: skip
        hits = {mark.about for mark in folder.conflicts if mark.is_told(sides)}
        found |= hits
        alarms += not hits
        if not hits:
            alike |= {n for n, mark in enumerate(folder.look_alikes) if mark.is_told(sides)}
    return Counts(found, alarms, len(alike))


def value_labels(folder: Folder, candidates: Sequence[Candidate]) -> Array:
    """1: marked values; not a number: other values of marked sentences; 0: the rest."""
    return np.array([_value_label(folder, candidate) for candidate in candidates])


def _value_label(folder: Folder, candidate: Candidate) -> float:
    hits = [mark for mark in folder.conflicts if mark.holds(candidate)]
    if any(mark.holds_values(candidate) for mark in hits):
        return 1.0
    return np.nan if hits else 0.0


def claim_labels(folder: Folder, candidates: Sequence[Candidate]) -> Array:
    """1 where the two sentences are marked as a conflict."""
    return np.array([float(any(m.holds(c) for m in folder.conflicts)) for c in candidates])
