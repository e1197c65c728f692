"""A cluster read as far as its system needs it, up to the writing."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hiersum.baselines import SYSTEMS, Task
from hiersum.config import Config
from hiersum.errors import InputError
from hiersum.ranking.ranker import Ranker, best_first
from hiersum.request import Request, check_length
from hiersum.text.encodings import clean_text
from hiersum.text.paragraphs import read_paragraphs
from hiersum.text.readable import choose_documents, nothing_to_read
from hiersum.text.words import count_words
from hiersum.types import Cluster, Example, Paragraph, Unread

if TYPE_CHECKING:  # torch is loaded only with a model
    from hiersum.abstractive import AbstractiveSystem

logger = logging.getLogger(__name__)

_NO_FOCUS = "no document has a word of the focus %r, so it changes nothing"
_UNREADABLE = "%s: the model knows too few of its letters, or no sentence to its end; %s is used"


@dataclass(frozen=True, slots=True)
class Reading:
    """A cluster that has been read and waits to be written about."""

    cluster: Cluster
    system: str
    left_out: tuple[Unread, ...]
    paragraphs: tuple[Paragraph, ...]
    """Those that are read, best first."""
    scores: tuple[float, ...]
    """What the ranker gave each of them, times how much its document is about the title."""
    task: Task | None  # for an extractive system
    example: Example | None  # for a network
    seconds: float


def read_cluster(
    cluster: Cluster,
    request: Request,
    config: Config,
    ranker: Ranker,
    model: AbstractiveSystem | None,
) -> Reading:
    """Choose and rank what is read of a cluster.

    Args:
        cluster: documents and title.
        request: what is asked of it.
        config: limits.
        ranker: which paragraphs are worth reading.
        model: the network; needed if its system is asked for.

    Raises:
        InputError: there is nothing to read.
    """
    start = time.perf_counter()
    title = clean_text(cluster.title or "").strip()
    check_length("title", title)
    if not cluster.documents:
        raise InputError("there are no documents to summarise; give at least one")
    documents, left_out = choose_documents(cluster.documents, config.data)
    readable = replace(cluster, title=title, documents=tuple(documents))
    if not any(count_words(document.text) for document in documents):
        raise InputError(nothing_to_read(left_out))
    query = f"{title} {request.focus}".strip()
    task, example, system = None, None, request.system
    if system not in SYSTEMS:
        from hiersum.data.example import build_example

        assert model is not None
        form = model.input_form(config)
        example, read = build_example(readable, form, ranker, config, query=query)
        scores = example.scores[-len(read) :]  # a title that is read comes before them
        texts = [paragraph.text for paragraph in read]
        if not model.can_read(example, texts, config.decoding):
            example, system = None, next(iter(SYSTEMS))
            logger.warning(_UNREADABLE, cluster.id or title or "the documents", system)
    if system in SYSTEMS:
        task, scores = _task(readable, query, request, config, ranker)
        read = tuple(task.paragraphs[index] for index in task.ranking)
    if request.focus and not request.finds_focus_in(paragraph.text for paragraph in read):
        logger.warning(_NO_FOCUS, request.focus)
    seconds = time.perf_counter() - start
    return Reading(readable, system, tuple(left_out), read, scores, task, example, seconds)


def _task(
    cluster: Cluster, query: str, request: Request, config: Config, ranker: Ranker
) -> tuple[Task, tuple[float, ...]]:
    """Rank the paragraphs that an extractive system chooses from; also return their scores."""
    keep_all = cluster.graph is not None
    paragraphs = read_paragraphs(cluster.documents, config.data, keep_all=keep_all)
    scores = ranker.scores(query, paragraphs)
    ranking = best_first(scores)[: config.ranker.max_paragraphs]
    task = Task(cluster.title, request.focus, paragraphs, ranking, request.max_words)
    return task, tuple(scores[index] for index in ranking)
