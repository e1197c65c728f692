"""The story in one class: documents, paragraphs, ranking, a summary with sources."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from hiersum.attribution.checking import check_facts
from hiersum.attribution.sources import attribute, own_source_first
from hiersum.baselines import SYSTEMS, keep_exact_sources
from hiersum.bundled import bundled_model, chosen_model, recommended_settings
from hiersum.config import Config, load_config
from hiersum.data.bucketing import bucket_examples
from hiersum.errors import CheckpointError, InputError
from hiersum.parallel import in_order
from hiersum.ranking.choice import choose_ranker
from hiersum.ranking.ranker import Ranker
from hiersum.reading import Reading, read_cluster
from hiersum.request import Options, Request
from hiersum.text.documents import gather_documents
from hiersum.text.languages import check_language
from hiersum.text.paragraphs import PlacedTexts
from hiersum.text.readable import find_passed_over
from hiersum.types import (
    Attention,
    Cluster,
    Document,
    Progress,
    Summary,
    SummarySentence,
    Unread,
)

if TYPE_CHECKING:  # torch is loaded only with a model
    from hiersum.abstractive import AbstractiveSystem
    from hiersum.drafts import Draft

logger = logging.getLogger(__name__)

Watch = Callable[[int, Progress], None]
WINDOW = 64
"""Clusters among which a network finds those of like length."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A cluster that could not be summarised, and why."""

    id: str
    error: InputError


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
        cls,
        name_or_dir: str | Path | None = None,
        *,
        config: Config | None = None,
        system: str | None = None,
    ) -> Summarizer:
        """Return a summarizer with a model: the bundled one if none is named.

        If the bundled model cannot be loaded, a sentence in the log says why, and the summarizer is
        an extractive one.

        Args:
            name_or_dir: a model folder, or a name on the Hugging Face hub; else HIERSUM_MODEL's.
            config: settings; those that the model recommends if None.
            system: if it is known already; `lexrank` and `lead` do not need the bundled model, and
                then it is not loaded.

        Raises:
            CheckpointError: the named model, or a trained ranker in its folder, cannot be loaded.
        """
        if name_or_dir := name_or_dir or chosen_model():
            return cls._with_model(name_or_dir, config)
        folder = bundled_model()
        if folder is None or system in SYSTEMS:
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
        strict: bool = False,
        with_attention: bool = False,
    ) -> Summary:
        """Summarise documents: texts, `Document`s, or paths of files and folders.

        Args:
            documents: a plain string is a text, a `Path` is read.
            title: the topic; without one the documents' common words stand in for it.
            focus: a question or aspect that the summary should turn to.
            max_words: a cap on the length; `decoding.max_words` if None.
            system: `lexrank`, `lead`, or the kind of the model (ht, ft, tdmca); by default the model
                if there is one, else `lexrank`.
            strict: leave out sentences that no source supports; `Summary.dropped` keeps them.
            with_attention: also keep how paragraphs attend to each other, where a network writes.

        Raises:
            InputError: there is nothing to read, or an argument cannot be used.
        """
        read, unread = gather_documents(documents, self.config.data)
        cluster = Cluster(title, tuple(read))
        return self.summarize_cluster(
            cluster,
            unread,
            focus=focus,
            max_words=max_words,
            system=system,
            strict=strict,
            with_attention=with_attention,
        )

    def summarize_many(
        self, clusters: Iterable[Cluster], **options: Unpack[Options]
    ) -> Iterator[Summary]:
        """Summarise clusters, in order; a network writes those of like length together.

        Raises:
            InputError: an argument cannot be used, or a cluster cannot be read.
        """
        for outcome in in_order(self.summarize_each(clusters, **options)):
            if isinstance(outcome, Failure):
                raise outcome.error
            yield outcome

    def summarize_each(
        self,
        clusters: Iterable[Cluster],
        watch: Watch | None = None,
        **options: Unpack[Options],
    ) -> Iterator[tuple[int, Summary | Failure]]:
        """Summarise clusters, and go on where one cannot be read.

        Args:
            clusters: what to read.
            watch: is told the number of a cluster and how far it is, as often as that changes.
            options: see `summarize`.

        Yields:
            The number of each cluster, from 0, and what came of it, as soon as it is there; `in_order`
            puts them in order.

        Raises:
            InputError: an argument cannot be used.
        """
        request = self.request(**options)
        numbered = enumerate(clusters)
        window_size = 1 if request.system in SYSTEMS else WINDOW
        while window := list(islice(numbered, window_size)):
            yield from self._summarize_window(window, request, watch or (lambda *_: None))

    def summarize_cluster(
        self, cluster: Cluster, unread: Sequence[Unread] = (), **options: Unpack[Options]
    ) -> Summary:
        """Summarise one cluster; see `summarize`.

        Args:
            cluster: what to read.
            unread: what was already left out when the documents were read.
            options: see `summarize`.
        """
        request = self.request(**options)
        ((_, outcome),) = self._summarize_window([(0, cluster)], request, lambda *_: None)
        if isinstance(outcome, Failure):
            raise outcome.error
        return replace(outcome, unread=(*unread, *outcome.unread))

    def _summarize_window(
        self, window: Sequence[tuple[int, Cluster]], request: Request, watch: Watch
    ) -> Iterator[tuple[int, Summary | Failure]]:
        readings = []
        for number, cluster in window:
            watch(number, Progress("reading", 0, len(cluster.documents)))
            try:
                reading = read_cluster(cluster, request, self.config, self.ranker, self.model)
                readings.append((number, reading))
            except InputError as error:
                yield number, Failure(cluster.id, error)
        for chosen in self._batches([reading for _, reading in readings]):
            start = time.perf_counter()
            batch = [readings[index] for index in chosen]
            watch_batch = partial(_tell_all, watch, [number for number, _ in batch])
            written = self._write([reading for _, reading in batch], request, watch_batch)
            seconds = (time.perf_counter() - start) / len(batch)
            for (number, reading), sentences in zip(batch, written):
                yield number, self._finish(reading, request, sentences, seconds)

    def _batches(self, readings: Sequence[Reading]) -> list[list[int]]:
        """Say which clusters are written together: of a network's, those of like length."""
        network = [n for n, reading in enumerate(readings) if reading.example is not None]
        examples = [reading.example for reading in readings if reading.example is not None]
        buckets = bucket_examples(examples, self.config.decoding.batch_tokens)
        alone = [[n] for n in range(len(readings)) if n not in network]
        return [*alone, *([network[index] for index in bucket] for bucket in buckets)]

    def _write(
        self,
        readings: Sequence[Reading],
        request: Request,
        watch: Callable[[Progress], None],
    ) -> list[list[SummarySentence]]:
        """Write about clusters, and say where each sentence comes from."""
        if self.model is None or readings[0].example is None:
            watch(Progress("writing", 0, None))
            sentences = [self._extract(reading) for reading in readings]
            watch(Progress("sourcing", 0, len(readings)))
            return sentences
        drafts = self.model.write(
            [reading.example for reading in readings if reading.example is not None],
            [[paragraph.text for paragraph in reading.paragraphs] for reading in readings],
            self.config.decoding,
            request.max_words,
            watch,
            focus=request.focus,
            num_documents=[[p.num_documents for p in reading.paragraphs] for reading in readings],
        )
        watch(Progress("sourcing", 0, len(readings)))
        return [self._attribute(draft, reading) for draft, reading in zip(drafts, readings)]

    def _attribute(self, draft: Draft, reading: Reading) -> list[SummarySentence]:
        """Name the sources of a network's sentences: by their words and by what it looked at."""
        texts = PlacedTexts(reading.cluster.documents, self.config.data.max_paragraph_words)
        sentences = attribute(
            draft.sentences, reading.paragraphs, text_at=texts.at, attention=draft.attention
        )
        return own_source_first(sentences, draft.places) if draft.places else sentences

    def _finish(
        self,
        reading: Reading,
        request: Request,
        sentences: Sequence[SummarySentence],
        seconds: float,
    ) -> Summary:
        documents = reading.cluster.documents
        on_topic = reading.example is not None and self.config.data.on_topic_only
        passed_over = find_passed_over(
            documents, reading.paragraphs, reading.left_out, on_topic_only=on_topic
        )
        start = time.perf_counter()
        checked = check_facts(request.cut(sentences), reading.cluster, reading.paragraphs)
        kept = [s for s in checked if s.is_supported or not request.strict]
        attention: Attention = ()
        if request.with_attention and self.model is not None and reading.example is not None:
            attention = self.model.paragraph_attention(reading.example)
        return Summary(
            sentences=tuple(kept),
            dropped=tuple(s for s in checked if s not in kept),
            documents=documents,
            paragraphs=reading.paragraphs,
            title=reading.cluster.title,
            id=reading.cluster.id,
            unread=(*reading.left_out, *passed_over),
            system=reading.system,
            model=None if self.model is None or reading.example is None else self.model.name,
            seconds=reading.seconds + seconds + time.perf_counter() - start,
            scores=reading.scores,
            attention=attention,
        )

    def _extract(self, reading: Reading) -> list[SummarySentence]:
        """Choose sentences, and name those sources that have them."""
        assert reading.task is not None
        sentences = SYSTEMS[reading.system](reading.task, self.config.extractive)
        documents, max_words = reading.cluster.documents, self.config.data.max_paragraph_words
        return keep_exact_sources(sentences, documents, max_words)

    def request(self, **options: Unpack[Options]) -> Request:
        """Check what is asked of every cluster alike; see `summarize`."""
        max_words = options.get("max_words")
        return Request.checked(
            options.get("focus", ""),
            self.config.decoding.max_words if max_words is None else max_words,
            options.get("system") or self.systems[0],
            strict=options.get("strict", False),
            with_attention=options.get("with_attention", False),
            systems=self.systems,
        )


def _tell_all(watch: Watch, numbers: Sequence[int], progress: Progress) -> None:
    for number in numbers:
        watch(number, progress)
