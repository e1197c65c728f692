"""What every writer does: read a cluster as far as it needs, then write about many of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from hiersum.config import DataConfig
from hiersum.errors import InputError
from hiersum.request import Request, check_length
from hiersum.text.documents import choose_documents, nothing_to_read
from hiersum.text.encodings import clean_text
from hiersum.text.words import count_words
from hiersum.types import (
    Attention,
    Cluster,
    Paragraph,
    Progress,
    SummarySentence,
    Unread,
)

Watch = Callable[[Progress], None]
"""Is told how far a batch is."""
Told = Callable[[int, SummarySentence], None]
"""Is handed the number of a cluster and each of its sentences as soon as it stands."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A cluster that has been read and waits to be written about."""

    cluster: Cluster
    left_out: tuple[Unread, ...]
    paragraphs: tuple[Paragraph, ...]
    """Those that are read, best first."""
    scores: tuple[float, ...]
    """What the ranker gave each of them."""
    prepared: Any
    """What its writer made of them."""
    seconds: float


@dataclass(slots=True)
class Draft:
    """A summary as it was written, with its sources."""

    sentences: list[SummarySentence]
    dropped: list[SummarySentence] = field(default_factory=list)
    """What was written and left out, and why."""
    is_answered: bool | None = None
    """Does a document answer the question?"""


class Writer(Protocol):
    """Writes summaries; chosen by name, once."""

    @property
    def name(self) -> str:
        """What it is called on the command line."""

    @property
    def model(self) -> str | None:
        """The model it writes with, if any."""

    def read(self, cluster: Cluster, request: Request) -> Reading | None:
        """Read a cluster; None if this writer cannot write about it.

        Raises:
            InputError: there is nothing to read.
        """

    def batches(self, readings: Sequence[Reading]) -> list[list[int]]:
        """Say which of the readings are best written together, by their numbers."""

    def write(
        self, readings: Sequence[Reading], request: Request, watch: Watch, told: Told
    ) -> list[Draft]:
        """Write about readings of one batch."""

    def attention(self, reading: Reading) -> Attention:
        """Return how paragraphs attend to each other; nothing for most writers."""


@dataclass(frozen=True, slots=True)
class Readable:
    """The documents of a cluster as far as limits and language let them be read."""

    cluster: Cluster
    left_out: tuple[Unread, ...]
    query: str
    """What paragraphs are ranked by: the title and the question."""
    start: float

    def reading(
        self, paragraphs: Sequence[Paragraph], scores: Sequence[float], prepared: Any
    ) -> Reading:
        """Return what was read."""
        seconds = time.perf_counter() - self.start
        return Reading(
            self.cluster, self.left_out, tuple(paragraphs), tuple(scores), prepared, seconds
        )


def open_cluster(cluster: Cluster, request: Request, config: DataConfig) -> Readable:
    """Choose what is read of a cluster's documents.

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
