"""The interface of writers: read a cluster, then write summaries in batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from hiersum.config import DataConfig
from hiersum.errors import InputError
from hiersum.text.documents import choose_documents, nothing_to_read
from hiersum.text.encodings import clean_text
from hiersum.text.words import count_words
from hiersum.types import Attention, Cluster, Paragraph, Progress, SummarySentence, Unread
from hiersum.writing.request import Request, check_length

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
