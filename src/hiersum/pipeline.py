"""The story in one class: documents, paragraphs, ranking, a summary with sources."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hiersum.attribution import attribute
from hiersum.baselines import SYSTEMS, Task, keep_exact_sources
from hiersum.bundled import bundled_model, recommended_settings
from hiersum.config import Config, load_config
from hiersum.data.bucketing import bucket_examples
from hiersum.errors import CheckpointError, InputError
from hiersum.parallel import in_order
from hiersum.ranking.choice import choose_ranker
from hiersum.ranking.ranker import Ranker, best_first
from hiersum.text.documents import gather_documents
from hiersum.text.encodings import clean_text
from hiersum.text.languages import check_language
from hiersum.text.paragraphs import read_paragraphs
from hiersum.text.readable import choose_documents
from hiersum.text.words import count_words, cut_words, split_stems
from hiersum.types import (
    Cluster,
    Document,
    Example,
    Paragraph,
    Summary,
    SummarySentence,
    Unread,
)

if TYPE_CHECKING:  # torch is loaded only with a model
    from hiersum.abstractive import AbstractiveSystem

logger = logging.getLogger(__name__)

NEURAL_SYSTEMS = ("ht", "ft", "tdmca")
_MAX_TITLE_CHARACTERS = 1_000
_MAX_WORDS = 1_000_000
_WINDOW = 64  # clusters among which a network finds those of like length


@dataclass(frozen=True, slots=True)
class Failure:
    """A cluster that could not be summarised, and why."""

    id: str
    error: InputError


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked of every cluster alike."""

    focus: str
    max_words: int
    system: str


@dataclass(frozen=True, slots=True)
class _Reading:
    """A cluster that has been read and waits to be written about."""

    cluster: Cluster
    left_out: tuple[Unread, ...]
    paragraphs: tuple[Paragraph, ...]
    """Those that are read, best first."""
    task: Task | None
    """For an extractive system."""
    example: Example | None
    """For a network."""
    seconds: float


class Summarizer:
    """Turns documents about one topic into one short summary that names its sources.

    >>> summary = Summarizer.from_pretrained().summarize([text, Path("b.html")], title="Bridges")
    >>> for sentence in summary.sentences:
    ...     print(sentence.text, [summary.documents[s.document].name for s in sentence.sources])
    """

    def __init__(
        self,
        *,
        config: Config | None = None,
        ranker: Ranker | None = None,
        model: AbstractiveSystem | None = None,
    ) -> None:
        self.config = config or Config()
        self.ranker = ranker or choose_ranker(self.config.ranker.kind)
        self.model = model
        if self.config.data.language not in ("auto", "any"):
            check_language(self.config.data.language)

    @classmethod
    def from_pretrained(
        cls, name_or_dir: str | Path | None = None, *, config: Config | None = None
    ) -> Summarizer:
        """Return a summarizer with a model: the bundled one if none is named.

        If the bundled model cannot be loaded, a sentence in the log says why, and the summarizer is
        an extractive one.

        Args:
            name_or_dir: a model folder, or a model's name on the Hugging Face hub.
            config: settings; those that the model recommends if None.

        Raises:
            CheckpointError: the named model, or a trained ranker in its folder, cannot be loaded.
        """
        if name_or_dir is not None:
            return cls._with_model(name_or_dir, config)
        folder = bundled_model()
        if folder is None:
            return cls(config=config)
        try:
            return cls._with_model(folder, config)
        except CheckpointError as error:
            logger.warning(
                "the bundled model cannot be loaded, so that sentences are only extracted: %s",
                error,
            )
            return cls(config=config)

    @classmethod
    def _with_model(cls, name_or_dir: str | Path, config: Config | None) -> Summarizer:
        from hiersum.abstractive import AbstractiveSystem

        config = config or load_config(recommended=recommended_settings(name_or_dir))
        model = AbstractiveSystem.load(name_or_dir, config.decoding)
        ranker = choose_ranker(config.ranker.kind, model.folder, model.tokenizer)
        return cls(config=config, ranker=ranker, model=model)

    @property
    def systems(self) -> list[str]:
        """The systems this summarizer has, its default first."""
        return [*([self.model.architecture] if self.model else []), *SYSTEMS]

    def summarize(
        self,
        documents: Sequence[str | Path | Document],
        title: str = "",
        *,
        focus: str = "",
        max_words: int | None = None,
        system: str | None = None,
    ) -> Summary:
        """Summarise documents: texts, `Document`s, or paths of files and folders.

        Args:
            documents: a plain string is a text, a `Path` is read.
            title: the topic; without one the documents' common words stand in for it.
            focus: a question or aspect that the summary should turn to.
            max_words: a cap on the length; `decoding.max_words` if None.
            system: `lexrank`, `lead`, or the kind of the model (ht, ft, tdmca); by default the model
                if there is one, else `lexrank`.

        Raises:
            InputError: there is nothing to read, or an argument cannot be used.
        """
        read, unread = gather_documents(documents, self.config.data)
        cluster = Cluster(title, tuple(read))
        return self.summarize_cluster(
            cluster, focus=focus, max_words=max_words, system=system, unread=unread
        )

    def summarize_many(
        self,
        clusters: Iterable[Cluster],
        *,
        focus: str = "",
        max_words: int | None = None,
        system: str | None = None,
    ) -> Iterator[Summary]:
        """Summarise clusters, in order; a network writes those of like length together.

        Raises:
            InputError: an argument cannot be used, or a cluster cannot be read.
        """
        outcomes = self.summarize_each(clusters, focus=focus, max_words=max_words, system=system)
        for outcome in in_order(outcomes):
            if isinstance(outcome, Failure):
                raise outcome.error
            yield outcome

    def summarize_each(
        self,
        clusters: Iterable[Cluster],
        *,
        focus: str = "",
        max_words: int | None = None,
        system: str | None = None,
    ) -> Iterator[tuple[int, Summary | Failure]]:
        """Summarise clusters, and go on where one cannot be read.

        Yields:
            The number of each cluster, from 0, and what came of it, as soon as it is there; `in_order`
            puts them in order.

        Raises:
            InputError: an argument cannot be used.
        """
        request = self._request(focus, max_words, system)
        numbered = enumerate(clusters)
        window_size = 1 if request.system in SYSTEMS else _WINDOW
        while window := list(islice(numbered, window_size)):
            yield from self._summarize_window(window, request)

    def summarize_cluster(
        self,
        cluster: Cluster,
        *,
        focus: str = "",
        max_words: int | None = None,
        system: str | None = None,
        unread: Sequence[Unread] = (),
    ) -> Summary:
        """Summarise one cluster; see `summarize`.

        Args:
            unread: what was already left out when the documents were read.
        """
        request = self._request(focus, max_words, system)
        ((_, outcome),) = self._summarize_window([(0, cluster)], request)
        if isinstance(outcome, Failure):
            raise outcome.error
        return replace(outcome, unread=(*unread, *outcome.unread))

    def _summarize_window(
        self, window: Sequence[tuple[int, Cluster]], request: _Request
    ) -> Iterator[tuple[int, Summary | Failure]]:
        readings = []
        for number, cluster in window:
            try:
                readings.append((number, self._begin(cluster, request)))
            except InputError as error:
                yield number, Failure(cluster.id, error)
        for chosen in self._batches([reading for _, reading in readings]):
            start = time.perf_counter()
            batch = [readings[index] for index in chosen]
            written = self._write([reading for _, reading in batch], request)
            seconds = (time.perf_counter() - start) / len(batch)
            for (number, reading), sentences in zip(batch, written):
                yield number, self._finish(reading, request, sentences, seconds)

    def _begin(self, cluster: Cluster, request: _Request) -> _Reading:
        """Read a cluster as far as its system needs it, up to the writing."""
        start = time.perf_counter()
        title = clean_text(cluster.title or "").strip()
        _check_length("title", title)
        if not cluster.documents:
            raise InputError("there are no documents to summarise; give at least one")
        documents, left_out = choose_documents(cluster.documents, self.config.data)
        readable = replace(cluster, title=title, documents=tuple(documents))
        if not any(count_words(document.text) for document in documents):
            raise InputError(_nothing_to_read(left_out))
        query = f"{title} {request.focus}".strip()
        task, example = None, None
        if request.system in SYSTEMS:
            task = self._task(readable, query, request)
            read = tuple(task.paragraphs[index] for index in task.ranking)
        else:
            example, read = self._example(readable, query)
        if request.focus and not _shares_a_word(request.focus, read):
            logger.warning(
                "no document has a word of the focus %r, so it changes nothing", request.focus
            )
        seconds = time.perf_counter() - start
        return _Reading(readable, tuple(left_out), read, task, example, seconds)

    def _batches(self, readings: Sequence[_Reading]) -> list[list[int]]:
        """Say which clusters are written together: of a network's, those of like length."""
        examples = [reading.example for reading in readings if reading.example is not None]
        if len(examples) < 2:
            return [[index] for index in range(len(readings))]
        return bucket_examples(examples, self.config.decoding.batch_tokens)

    def _write(
        self, readings: Sequence[_Reading], request: _Request
    ) -> list[list[SummarySentence]]:
        if request.system in SYSTEMS:
            return [self._extract(reading, request.system) for reading in readings]
        assert self.model is not None
        written = self.model.write(
            [reading.example for reading in readings if reading.example is not None],
            [[paragraph.text for paragraph in reading.paragraphs] for reading in readings],
            self.config.decoding,
            request.max_words,
        )
        return [attribute(texts, reading.paragraphs) for texts, reading in zip(written, readings)]

    def _finish(
        self,
        reading: _Reading,
        request: _Request,
        sentences: Sequence[SummarySentence],
        seconds: float,
    ) -> Summary:
        documents = reading.cluster.documents
        passed_over = _passed_over(documents, reading.paragraphs, reading.left_out)
        return Summary(
            sentences=tuple(_within(sentences, request.max_words)),
            documents=documents,
            paragraphs=reading.paragraphs,
            title=reading.cluster.title,
            id=reading.cluster.id,
            unread=(*reading.left_out, *passed_over),
            system=request.system,
            model=None if self.model is None or request.system in SYSTEMS else self.model.name,
            seconds=reading.seconds + seconds,
        )

    def _task(self, cluster: Cluster, query: str, request: _Request) -> Task:
        """Rank the paragraphs that an extractive system chooses from."""
        paragraphs = read_paragraphs(
            cluster.documents, self.config.data, keep_all=cluster.graph is not None
        )
        ranking = best_first(self.ranker.scores(query, paragraphs))
        ranking = ranking[: self.config.ranker.max_paragraphs]
        return Task(cluster.title, request.focus, paragraphs, ranking, request.max_words)

    def _example(self, cluster: Cluster, query: str) -> tuple[Example, tuple[Paragraph, ...]]:
        """Prepare a cluster for the network."""
        from hiersum.data.example import build_example

        assert self.model is not None
        form = self.model.input_form(self.config)
        return build_example(cluster, form, self.ranker, self.config, query=query)

    def _extract(self, reading: _Reading, system: str) -> list[SummarySentence]:
        """Choose sentences, and name those sources that have them."""
        assert reading.task is not None
        sentences = SYSTEMS[system](reading.task, self.config.extractive)
        return keep_exact_sources(
            sentences, reading.cluster.documents, self.config.data.max_paragraph_words
        )

    def _request(self, focus: str, max_words: int | None, system: str | None) -> _Request:
        """Check what is asked of every cluster alike."""
        max_words = self.config.decoding.max_words if max_words is None else max_words
        system = system or self.systems[0]
        focus = clean_text(focus or "").strip()
        if system in NEURAL_SYSTEMS and system not in self.systems:
            raise InputError(f"system {system!r} needs a model of its kind; name one with --model")
        if system not in self.systems:
            raise InputError(f"system {system!r} is unknown; known: {', '.join(self.systems)}")
        if not isinstance(max_words, int) or not 1 <= max_words <= _MAX_WORDS:
            raise InputError(
                f"max-words must be a number from 1 to {_MAX_WORDS:,}, got {max_words!r}"
            )
        _check_length("focus", focus)
        return _Request(focus, max_words, system)


def _check_length(name: str, value: str) -> None:
    if len(value) > _MAX_TITLE_CHARACTERS:
        raise InputError(
            f"the {name} has {len(value):,} characters; at most {_MAX_TITLE_CHARACTERS:,} "
            "are allowed"
        )


def _passed_over(
    documents: Sequence[Document], paragraphs: Iterable[Paragraph], unread: Sequence[Unread]
) -> list[Unread]:
    """Name documents of which no paragraph was read."""
    known = {part.document for part in unread}
    known |= {place.document for paragraph in paragraphs for place in paragraph.places}
    return [
        Unread(
            document.name or f"document {number + 1}", "none of its paragraphs was needed", number
        )
        for number, document in enumerate(documents)
        if number not in known
    ]


def _shares_a_word(focus: str, paragraphs: Iterable[Paragraph]) -> bool:
    stems = set(split_stems(focus))
    return any(not stems.isdisjoint(split_stems(paragraph.text)) for paragraph in paragraphs)


def _nothing_to_read(unread: Sequence[Unread]) -> str:
    if unread:
        return f"no document could be read; the first, {unread[0].name}: {unread[0].reason}"
    return "there is no text in the documents"


def _within(sentences: Iterable[SummarySentence], max_words: int) -> Iterator[SummarySentence]:
    """Cut a summary whose one sentence is already too long, and mark the cut."""
    for sentence in sentences:
        if count_words(sentence.text) > max_words:
            sentence = replace(sentence, text=cut_words(sentence.text, max_words) + " \u2026")
        yield sentence
