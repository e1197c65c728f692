"""The interface of writers: take a request, read a cluster, then write summaries in batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypedDict

from hiersum.config import DataConfig
from hiersum.errors import InputError
from hiersum.text.documents import choose_documents, nothing_to_read
from hiersum.text.encodings import clean_text
from hiersum.text.words import count_words, cut_words, query_stems, split_stems
from hiersum.types import Attention, Cluster, Paragraph, Progress, SummarySentence, Unread

NEURAL_SYSTEMS = ("ht", "ft", "tdmca")
_MAX_TITLE_CHARACTERS = 1_000
_MAX_WORDS = 1_000_000


class Options(TypedDict, total=False):
    """Options of a summary; documented in `Summarizer.summarize`."""

    focus: str
    max_words: int | None
    system: str | None
    strict: bool
    draft: bool
    with_attention: bool


@dataclass(frozen=True, slots=True)
class Request:
    """The options of a summary, shared by all clusters."""

    focus: str
    max_words: int
    system: str
    strict: bool = False
    draft: bool = False
    with_attention: bool = False

    @classmethod
    def of(cls, options: Options, max_words: int, systems: Sequence[str]) -> Request:
        """Validate options; `max_words` and the first of `systems` are the defaults."""
        given = {name: value for name, value in options.items() if value not in (None, "")}
        asked: dict[str, Any] = {"focus": "", "max_words": max_words, "system": systems[0]}
        return cls(**asked | given).checked(systems)

    def checked(self, systems: Sequence[str]) -> Request:
        """Return the request with a clean focus if it is valid for the available writers."""
        focus, max_words, system = clean_text(self.focus).strip(), self.max_words, self.system
        if system in NEURAL_SYSTEMS and system not in systems:
            raise InputError(f"system {system!r} needs a model of its kind; name one with --model")
        if system not in systems:
            raise InputError(f"system {system!r} is unknown; known: {', '.join(systems)}")
        if not isinstance(max_words, int) or not 1 <= max_words <= _MAX_WORDS:
            raise InputError(
                f"max-words must be a number from 1 to {_MAX_WORDS:,}, got {max_words!r}"
            )
        check_length("focus", focus)
        if self.strict and self.draft:
            raise InputError("strict leaves sentences out and draft keeps them all; choose one")
        return replace(self, focus=focus)

    def finds_focus_in(self, texts: Iterable[str]) -> bool:
        """Whether any text contains a word of the focus."""
        stems = query_stems(self.focus)
        return any(not stems.isdisjoint(split_stems(text)) for text in texts)

    def cut(self, sentences: Iterable[SummarySentence]) -> list[SummarySentence]:
        """Truncate sentences that alone exceed the limit, and mark the cut."""
        return [
            replace(sentence, text=f"{cut_words(sentence.text, self.max_words)} \u2026")
            if count_words(sentence.text) > self.max_words
            else sentence
            for sentence in sentences
        ]


def check_length(name: str, value: str) -> None:
    """Refuse a title or focus as long as a text."""
    if len(value) > _MAX_TITLE_CHARACTERS:
        raise InputError(
            f"the {name} has {len(value):,} characters; at most {_MAX_TITLE_CHARACTERS:,} "
            "are allowed"
        )


Watch = Callable[[Progress], None]
"""Called with a batch's progress."""
Told = Callable[[int, SummarySentence], None]
"""Called with a cluster's number and each sentence as soon as it is final."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A cluster that has been read and is ready for writing."""

    cluster: Cluster
    left_out: tuple[Unread, ...]
    paragraphs: tuple[Paragraph, ...]
    """The paragraphs that were read, best first."""
    scores: tuple[float, ...]
    """The ranker's score of each paragraph."""
    prepared: Any
    """The writer's own input."""
    seconds: float


@dataclass(slots=True)
class Draft:
    """A written summary with its sources."""

    sentences: list[SummarySentence]
    dropped: list[SummarySentence] = field(default_factory=list)
    """Sentences that were dropped, and why."""
    is_answered: bool | None = None
    """Whether a document answers the question."""


class Writer(Protocol):
    """Writes summaries; chosen by name at construction."""

    @property
    def name(self) -> str:
        """Its name on the command line."""

    @property
    def model(self) -> str | None:
        """The model's name, if it uses one."""

    def read(self, cluster: Cluster, request: Request) -> Reading | None:
        """Read a cluster; None if this writer cannot handle it."""

    def batches(self, readings: Sequence[Reading]) -> list[list[int]]:
        """Group readings into batches, by index."""

    def write(
        self, readings: Sequence[Reading], request: Request, watch: Watch, told: Told
    ) -> list[Draft]:
        """Write the summaries of one batch."""

    def attention(self, reading: Reading) -> Attention:
        """Return attention between paragraphs; empty for most writers."""


@dataclass(frozen=True, slots=True)
class Readable:
    """The readable documents of a cluster, within the limits."""

    cluster: Cluster
    left_out: tuple[Unread, ...]
    query: str
    """The query for ranking: title and question."""
    start: float

    def reading(
        self, paragraphs: Sequence[Paragraph], scores: Sequence[float], prepared: Any
    ) -> Reading:
        """Return the reading."""
        seconds = time.perf_counter() - self.start
        return Reading(
            self.cluster, self.left_out, tuple(paragraphs), tuple(scores), prepared, seconds
        )


def open_cluster(cluster: Cluster, request: Request, config: DataConfig) -> Readable:
    """Select the documents of a cluster to read.

    Raises:
        InputError: there is nothing to read.
    """
    start = time.perf_counter()
    title = clean_text(cluster.title or "").strip()
    check_length("title", title)
    if not cluster.documents:
        raise InputError("there are no documents to summarise; give at least one")
    documents, left_out = choose_documents(cluster.documents, config)
    if not any(count_words(document.text) for document in documents):
        raise InputError(nothing_to_read(left_out))
    readable = replace(cluster, title=title, documents=tuple(documents))
    return Readable(readable, tuple(left_out), f"{title} {request.focus}".strip(), start)
