"""The nouns of the story: a cluster of documents becomes paragraphs, an example, a summary.

Everything here is frozen and plain Python; no tensor and no file is known to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from hiersum.text.sentences import split_sentences
from hiersum.text.words import content_stems, count_words, split_stems, split_words


@dataclass(frozen=True, slots=True)
class Document:
    """One source: an article, a page, a file."""

    text: str
    name: str = ""
    url: str = ""
    paragraphs: tuple[str, ...] | None = None
    """Paragraphs as the user gave them; they are never split or merged again."""

    @classmethod
    def from_paragraphs(cls, paragraphs: Sequence[str], name: str = "", url: str = "") -> Document:
        """Make a document whose paragraphs are already known."""
        return cls("\n".join(paragraphs), name, url, tuple(paragraphs))


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of a given summary, and the paragraphs it rests on."""

    text: str
    paragraphs: tuple[int, ...] = ()
    """Given paragraphs, numbered from 0 through all documents."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Documents about one topic, with the summary a person wrote if there is one."""

    title: str
    documents: tuple[Document, ...]
    summary: str | None = None
    id: str = ""
    graph: tuple[tuple[float, ...], ...] | None = None
    """A user's own edge weights over all given paragraphs, in reading order."""
    cited: tuple[CitedSentence, ...] = ()
    """The sentences of the summary with what they cite, where that is known."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a paragraph stands: the document's index, and the position within that document."""

    document: int
    position: int


class Words:
    """A text whose words are looked for once, when they are first asked for."""

    text: str

    @cached_property
    def words(self) -> list[str]:
        """The lower-cased words, in order."""
        return split_words(self.text)

    @cached_property
    def num_words(self) -> int:
        """How many words a reader counts."""
        return count_words(self.text)

    @cached_property
    def stems(self) -> list[str]:
        """The words, English ones as their stems."""
        return split_stems(self.text)

    @cached_property
    def content_stems(self) -> list[str]:
        """The stems of all but function words."""
        return content_stems(self.text)


@dataclass(frozen=True)
class Paragraph(Words):
    """A piece of a document that is ranked, related and cited as a whole."""

    text: str
    document: int
    position: int
    url: str = ""
    also_in: tuple[Place, ...] = ()
    """Other places where the same text, or nearly the same, stood."""

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences, split once; they go with the paragraph from reading to printing."""
        return tuple(
            Sentence(text, self, number) for number, text in enumerate(split_sentences(self.text))
        )

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Every place this text was found, its own first."""
        return (Place(self.document, self.position), *self.also_in)

    @property
    def num_documents(self) -> int:
        """How many documents have it."""
        return len({place.document for place in self.places})


@dataclass(frozen=True)
class Sentence(Words):
    """A sentence of a document, and where it stands."""

    text: str
    paragraph: Paragraph = field(repr=False)
    number: int
    """Its place in the paragraph, from 0."""


TITLE_PLACE = -1
"""The document and position of a title that is read as a paragraph."""


@dataclass(frozen=True, slots=True)
class Example:
    """A cluster made ready for a network: ranked paragraphs as ids, edges between them, the target."""

    id: str
    title: str
    paragraph_ids: tuple[tuple[int, ...], ...]
    documents: tuple[int, ...]
    positions: tuple[int, ...]
    scores: tuple[float, ...]
    graph: tuple[tuple[int, int, float], ...] = ()
    target_ids: tuple[int, ...] | None = None
    """From the begin piece to the end piece; with plans, every sentence ends with an end piece."""
    target: str | None = None
    boundaries: tuple[tuple[int, ...], ...] = ()
    """For a network that plans: where the sentences of each paragraph begin, and where the last one
    ends, in tokens."""
    plans: tuple[tuple[int, ...], ...] = ()
    """For each sentence of the target the source sentences it rests on, the main one first, numbered
    through all paragraphs."""


@dataclass(frozen=True, slots=True)
class Source:
    """A paragraph that supports a sentence."""

    document: int
    paragraph: int
    score: float
    """How likely it is that the sentence comes from there, 0 to 1; 1 for a sentence it holds."""
    quote: str = ""
    """The sentences of the paragraph that it was written from, one on each line, where they are known."""


@dataclass(frozen=True, slots=True)
class UnsupportedSpan:
    """A stretch of a summary sentence that no source contains."""

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
    """`text[start:end]` is what differs: a value, or the whole sentence."""
    end: int

    @property
    def value(self) -> str:
        """What differs, as it stands in the text."""
        return self.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class SourceDisagreement:
    """Something that documents say differently, whether or not the summary mentions it."""

    about: str
    kind: str
    sides: tuple[Side, ...]
    line: str
    """It in one line, as people read it."""
    score: float
    """How likely they really disagree, 0 to 1."""
    later: int | None = None
    """The document that supersedes the others, where dates say so."""


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """A sentence of a summary and where it comes from."""

    text: str
    sources: tuple[Source, ...] = ()
    unsupported: tuple[UnsupportedSpan, ...] = ()
    support: float | None = None
    """The probability that it is true to its sources; None where no checker judged it."""
    is_quoted: bool = False
    """Is it a sentence of a source, word for word, where the writer writes its own?"""
    reason: str = ""
    """Why it was left out of the summary."""

    @property
    def is_supported(self) -> bool:
        """Does it have a source, and no fact that stands in none?"""
        return bool(self.sources) and not self.unsupported

    def to_record(self) -> dict[str, Any]:
        """Return the sentence as a result line holds it."""
        return {
            "text": self.text,
            "sources": [asdict(source) for source in self.sources],
            "unsupported": [asdict(span) for span in self.unsupported],
            "support": None if self.support is None else round(self.support, 3),
            "quoted": self.is_quoted,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Unread:
    """A document, or a part of one, that did not take part, and why."""

    name: str
    reason: str
    document: int | None = None
    """The document's index, or None where the file could not be read at all."""


class Progress(NamedTuple):
    """How far a summary is."""

    stage: Literal["queued", "reading", "encoding", "writing", "sourcing", "checking"]
    done: int = 0
    total: int | None = None


Attention = tuple[tuple[tuple[tuple[float, ...], ...], ...], ...]
"""Weights by layer, head, paragraph and the paragraph that it attends to."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One short text about many documents; each sentence knows its sources."""

    sentences: tuple[SummarySentence, ...]
    documents: tuple[Document, ...]
    paragraphs: tuple[Paragraph, ...] = field(repr=False)
    """The paragraphs that were read, best first."""
    title: str = ""
    id: str = ""
    unread: tuple[Unread, ...] = ()
    dropped: tuple[SummarySentence, ...] = ()
    """Sentences that were left out because no source supports them."""
    disagreements: tuple[SourceDisagreement, ...] = ()
    """Where the documents disagree, the surest first."""
    is_answered: bool | None = None
    """Does a document answer the question that was asked? None if none was, or nobody can tell."""
    system: str = ""
    model: str | None = None
    seconds: float = 0.0
    scores: tuple[float, ...] = field(default=(), repr=False)
    """What the ranker gave each of `paragraphs`, times how much its document is about the title."""
    attention: Attention = field(default=(), repr=False)
    """How `paragraphs` attend to each other, where a network with global layers wrote and it was
    asked for; where such a network reads the title as a paragraph, it is the first."""

    @property
    def text(self) -> str:
        """The summary as one line of running text."""
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def uncited(self) -> list[int]:
        """The documents that no sentence comes from, read or not."""
        cited = {source.document for sentence in self.sentences for source in sentence.sources}
        return [number for number in range(len(self.documents)) if number not in cited]

    def to_record(self) -> dict[str, Any]:
        """Return the result line that files and HTTP answers hold (see docs/formats.md)."""
        return {
            "id": self.id,
            "title": self.title,
            "summary": self.text,
            "sentences": [sentence.to_record() for sentence in self.sentences],
            "dropped": [sentence.to_record() for sentence in self.dropped],
            "documents": [{"name": d.name, "url": d.url} for d in self.documents],
            "disagreements": [asdict(one) for one in self.disagreements],
            "answered": self.is_answered,
            "uncited": self.uncited,
            "unread": [asdict(unread) for unread in self.unread],
            "system": self.system,
            "model": self.model,
            "seconds": round(self.seconds, 3),
        }
