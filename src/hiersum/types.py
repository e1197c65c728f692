"""Core types, in pipeline order: clusters, documents, paragraphs, examples, summaries.

Everything here is frozen, plain Python: no tensors, no files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from hiersum.text.sentences import split_sentences
from hiersum.text.words import Words

_MAX_NAMES = 3  # of what was not read for the same reason


@dataclass(frozen=True, slots=True)
class Document:
    """One source: an article, a page, a file."""

    text: str
    name: str = ""
    url: str = ""
    paragraphs: tuple[str, ...] | None = None
    """Paragraphs as the user gave them; never split or merged."""

    @classmethod
    def from_paragraphs(cls, paragraphs: Sequence[str], name: str = "", url: str = "") -> Document:
        """Make a document from ready-made paragraphs."""
        return cls("\n".join(paragraphs), name, url, tuple(paragraphs))

    def display_name(self, index: int) -> str:
        """Return what to call it for readers: its name, else its URL, else its number."""
        return self.name or self.url or f"document {index + 1}"


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of a given summary, with the paragraphs it cites."""

    text: str
    paragraphs: tuple[int, ...] = ()
    """Given paragraphs, numbered from 0 across all documents."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Documents about one topic, with a human-written summary if there is one."""

    title: str
    documents: tuple[Document, ...]
    summary: str | None = None
    id: str = ""
    graph: tuple[tuple[float, ...], ...] | None = None
    """The user's own edge weights between all given paragraphs, in reading order."""
    cited: tuple[CitedSentence, ...] = ()
    """The sentences of the summary with their citations, if known."""
    piece_ids: tuple[tuple[int, ...], ...] = ()
    """Ranked paragraphs as piece ids, from a corpus without text (the authors' shards)."""
    target_ids: tuple[int, ...] = ()
    """The summary as piece ids, from begin to end, if the paragraphs are."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a paragraph occurs: the document's index and the position within it."""

    document: int
    position: int


@dataclass(frozen=True)
class Paragraph(Words):
    """A piece of a document; the unit of ranking, graphs and citations."""

    text: str
    document: int
    position: int
    url: str = ""
    also_in: tuple[Place, ...] = ()
    """Other places with the same or nearly the same text."""
    label: str = ""
    """Who wrote its document and when, if known."""

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences, split once and kept from reading to printing."""
        return tuple(
            Sentence(text, self, number) for number, text in enumerate(split_sentences(self.text))
        )

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Every place with this text, its own first."""
        return (Place(self.document, self.position), *self.also_in)

    @property
    def num_documents(self) -> int:
        """The number of documents that contain it."""
        return len({place.document for place in self.places})


@dataclass(frozen=True)
class Sentence(Words):
    """A sentence of a document and its position."""

    text: str
    paragraph: Paragraph = field(repr=False)
    number: int
    """Position in the paragraph, from 0."""

    @property
    def place(self) -> Place:
        """Where its paragraph was read."""
        return Place(self.paragraph.document, self.paragraph.position)


TITLE_PLACE = -1
"""The document and position used for a title that is read as a paragraph."""


@dataclass(frozen=True, slots=True)
class Example:
    """A cluster as network input: ranked paragraphs as ids, edges between them, the target."""

    id: str
    title: str
    paragraph_ids: tuple[tuple[int, ...], ...]
    documents: tuple[int, ...]
    positions: tuple[int, ...]
    scores: tuple[float, ...]
    graph: tuple[tuple[int, int, float], ...] = ()
    target_ids: tuple[int, ...] | None = None
    """From the begin piece to the end piece; with plans, every sentence has an end piece."""
    target: str | None = None
    boundaries: tuple[tuple[int, ...], ...] = ()
    """For planning networks: token offsets of each paragraph's sentences, and their end."""
    plans: tuple[tuple[int, ...], ...] = ()
    """For each target sentence, the source sentences it is based on, main one first, numbered
    across all paragraphs."""


@dataclass(frozen=True, slots=True)
class Source:
    """A paragraph that supports a sentence."""

    document: int
    paragraph: int
    score: float
    """Probability that the sentence comes from there; 1 for a verbatim sentence."""
    quote: str = ""
    """The sentences of the paragraph it was written from, one per line, if known."""


@dataclass(frozen=True, slots=True)
class UnsupportedSpan:
    """A span of a summary sentence that no source contains."""

    text: str
    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Side:
    """What one document says in a disagreement."""

    document: int
    paragraph: int
    text: str
    start: int
    """`text[start:end]` is the part that differs: a value or the whole sentence."""
    end: int

    @property
    def value(self) -> str:
        """The differing part of the text."""
        return self.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class SourceDisagreement:
    """A point on which documents disagree, whether or not the summary mentions it."""

    about: str
    kind: str
    sides: tuple[Side, ...]
    line: str
    """A one-line description for readers."""
    score: float
    """Probability that they really disagree."""
    later: int | None = None
    """The document that supersedes the others, if dates show one."""


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """A sentence of a summary with its sources."""

    text: str
    sources: tuple[Source, ...] = ()
    unsupported: tuple[UnsupportedSpan, ...] = ()
    support: float | None = None
    """Probability that it is true to its sources; None if not checked."""
    is_quoted: bool = False
    """Whether a neural writer copied it verbatim from a source."""
    speaker: str = ""
    """Who is quoted, if the document's name tells."""
    is_disputed: bool = False
    """Whether another document says otherwise (`Summary.disagreements`)."""
    reason: str = ""
    """Why it was left out of the summary."""

    @property
    def is_supported(self) -> bool:
        """Whether it has a source and no unsupported facts."""
        return bool(self.sources) and not self.unsupported

    @property
    def shown(self) -> str:
        """The sentence as readers see it: a quotation in quotation marks, after its speaker."""
        if not self.is_quoted:
            return self.text
        return f"{self.speaker}: " * bool(self.speaker) + f"\u201c{self.text}\u201d"

    def to_record(self) -> dict[str, Any]:
        """Return the sentence as it appears in a result line."""
        return {
            "text": self.text,
            "shown": self.shown,
            "sources": [asdict(source) for source in self.sources],
            "unsupported": [asdict(span) for span in self.unsupported],
            "support": None if self.support is None else round(self.support, 3),
            "quoted": self.is_quoted,
            "speaker": self.speaker,
            "disputed": self.is_disputed,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Unread:
    """A document, or part of one, that was not used, and why."""

    name: str
    reason: str
    document: int | None = None
    """The document's index; None if the file could not be read."""


def unread_lines(unread: Sequence[Unread]) -> list[str]:
    """Return a line for each reason, with the first names and the number of the others."""
    names: dict[str, list[str]] = {}
    for part in unread:
        names.setdefault(part.reason, []).append(part.name)
    lines = []
    for reason, found in names.items():
        shown, num_more = ", ".join(found[:_MAX_NAMES]), len(found) - _MAX_NAMES
        lines.append(f"{shown}{f' and {num_more:,} more' if num_more > 0 else ''}: {reason}")
    return lines


class Progress(NamedTuple):
    """The progress of a summary."""

    stage: Literal["queued", "reading", "encoding", "writing", "sourcing", "checking"]
    done: int = 0
    total: int | None = None


Attention = tuple[tuple[tuple[tuple[float, ...], ...], ...], ...]
"""Weights by layer, head, paragraph and attended paragraph."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A short summary of many documents; each sentence cites its sources."""

    sentences: tuple[SummarySentence, ...]
    documents: tuple[Document, ...]
    paragraphs: tuple[Paragraph, ...] = field(repr=False)
    """The paragraphs that were used, best first."""
    title: str = ""
    id: str = ""
    unread: tuple[Unread, ...] = ()
    dropped: tuple[SummarySentence, ...] = ()
    """Sentences dropped because no source supports them."""
    disagreements: tuple[SourceDisagreement, ...] = ()
    """Where the documents disagree, most certain first."""
    is_answered: bool | None = None
    """Whether a document answers the question; None if there was none, or it is unclear."""
    system: str = ""
    model: str | None = None
    seconds: float = 0.0
    scores: tuple[float, ...] = field(default=(), repr=False)
    """The ranker's score of each paragraph, times its document's relevance to the title."""
    attention: Attention = field(default=(), repr=False)
    """Attention between `paragraphs`, if requested and written by a network with global layers; if
    the title is read as a paragraph, it comes first."""

    @property
    def text(self) -> str:
        """The summary as one line of text."""
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def uncited(self) -> list[int]:
        """Documents that no sentence cites, read or not."""
        cited = {source.document for sentence in self.sentences for source in sentence.sources}
        return [number for number in range(len(self.documents)) if number not in cited]

    def to_record(self) -> dict[str, Any]:
        """Return the result line used in files and HTTP responses (see docs/formats.md)."""
        return {
            "id": self.id,
            "title": self.title,
            "summary": self.text,
            "sentences": [sentence.to_record() for sentence in self.sentences],
            "dropped": [sentence.to_record() for sentence in self.dropped],
            "documents": [{"name": d.name, "url": d.url} for d in self.documents],
            "disagreements": [
                asdict(one) | {"sides": [asdict(side) for side in one.sides]}
                for one in self.disagreements
            ],
            "answered": self.is_answered,
            "uncited": self.uncited,
            "unread": [asdict(unread) for unread in self.unread],
            "system": self.system,
            "model": self.model,
            "seconds": round(self.seconds, 3),
        }
