"""The pipeline in one class: documents in, a summary that cites its sources out.

    read     `gather_documents`, `open_cluster`, `read_paragraphs`: files, limits, paragraphs
    rank     `rank_paragraphs`: orders paragraphs by how useful they are for the summary
    relate   `graph_builder`: edges between paragraphs
    encode   `encode_paragraphs`, `EncoderDecoder.encode`: tokens, then the hierarchical encoder
    plan     `PlannedSearch._plan`: picks the source sentences for the next sentence
    write    `PlannedSearch._search`, `beam_search`: finds its words
    check    `PlannedSearch._check`, `mark_unsupported`, `compare_documents`: verifies it

`Summarizer._read` reads, ranks, relates and tokenizes (`build_example`); `_write` runs the network
and checks each sentence as it is written; `_check` checks the whole summary. LexRank and Lead only
read, rank and pick sentences (`ExtractiveWriter`).
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

from hiersum.checking.checker import Checker
from hiersum.checking.disagreements import compare_documents, mark_disputed
from hiersum.checking.lexical import LexicalChecker
from hiersum.checking.unsupported import mark_unsupported
from hiersum.config import Config, load_config
from hiersum.config.plugins import load_plugin, plugin_names
from hiersum.errors import CheckpointError, InputError
from hiersum.jobs.parallel import as_told, in_order
from hiersum.pretrained import bundled_model, chosen_model, recommended_settings
from hiersum.pretrained.hub import push
from hiersum.ranking.ranker import Ranker, choose_ranker
from hiersum.text.documents import find_passed_over, gather_documents
from hiersum.text.languages import check_language
from hiersum.types import Cluster, Progress, Summary, SummarySentence, Unread
from hiersum.writing.extractive import SYSTEMS, ExtractiveWriter
from hiersum.writing.writer import Draft, Options, Reading, Request, Writer

if TYPE_CHECKING:  # torch is loaded only with a model
    from hiersum.writing.neural import NeuralWriter
    from hiersum.writing.neural_model import NeuralModel

logger = logging.getLogger(__name__)

Watch = Callable[[int, Progress], None]
Told = Callable[[int, SummarySentence], None]
WINDOW = 64
"""Clusters to collect before bucketing them by length for a network."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A cluster that could not be summarised, and why."""

    id: str
    error: InputError


class Summarizer:
    """Summarises documents about one topic and cites its sources.

    >>> summary = Summarizer.from_pretrained().summarize([text, Path("b.html")], title="Bridges")
    >>> for sentence in summary.sentences:
    ...     print(sentence.text, [summary.documents[s.document].name for s in sentence.sources])
    """

    def __init__(
        self,
        *,
        config: Config | None = None,
        ranker: Ranker | None = None,
        writer: NeuralWriter | None = None,
    ) -> None:
        """Assemble a summarizer.

        Without a writer, summaries quote source sentences. The default ranker is the writer's, else
        the one named by `ranker.kind`; a ranker that is given serves all systems.
        """
        self.config = config or Config()
        if ranker is None:
            ranker = writer.ranker if writer else choose_ranker(self.config.ranker.kind)
        elif writer is not None:
            writer = writer.ranked_by(ranker)
        self.writer = writer
        self.ranker = ranker
        self.checker: Checker = writer.checker if writer else LexicalChecker()
        quoting = [ExtractiveWriter(name, self.ranker, self.config) for name in SYSTEMS]
        added = [
            load_plugin("writers", name, tuple(SYSTEMS))(self.ranker, self.config)
            for name in plugin_names("writers")
        ]
        writers: list[Writer] = [*([writer] if writer else []), *quoting, *added]
        self.writers = {each.name: each for each in writers}
        if self.config.data.language not in ("auto", "any"):
            check_language(self.config.data.language, "data.language must be auto, any")

    @classmethod
    def from_pretrained(
        cls,
        name_or_dir: str | Path | None = None,
        *,
        revision: str | None = None,
        config: Config | None = None,
        system: str | None = None,
    ) -> Summarizer:
        """Return a summarizer with a model, by default the bundled one.

        If the bundled model cannot be loaded, log why and fall back to extractive summaries.

        Args:
            name_or_dir: a model folder, or `owner/name` on the Hugging Face hub; default:
                HIERSUM_MODEL.
            revision: a branch, tag or commit on the hub; `owner/name@revision` is the same.
            config: settings; default: those the model recommends.
            system: the system you will use, if known; `lexrank` and `lead` skip loading the bundled
                model.

        Raises:
            CheckpointError: the named model, or the trained ranker in its folder, cannot be loaded.
        """
        if name_or_dir := name_or_dir or chosen_model():
            name = name_or_dir if revision is None else f"{name_or_dir}@{revision}"
            return cls._with_model(name, config)
        folder = bundled_model()
        if folder is None or system in SYSTEMS:
            return cls(config=config)
        try:
            return cls._with_model(folder, config)
        except CheckpointError as error:
            logger.warning(
                "the bundled model cannot be loaded, so summaries quote source sentences: %s",
                error,
            )
            return cls(config=config)

    @classmethod
    def _with_model(cls, name_or_dir: str | Path, config: Config | None) -> Summarizer:
        # Read when torch is loaded. Threads that wait by spinning triple the time on a busy machine.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        from hiersum.writing.neural import NeuralWriter

        config = config or load_config(recommended=recommended_settings(name_or_dir))
        return cls(config=config, writer=NeuralWriter.load(name_or_dir, config))

    def prepare(self) -> Summarizer:
        """Prepare the network now rather than with the first summary."""
        if self.model is not None:
            _ = self.model.network
        return self

    def save_pretrained(self, directory: str | Path) -> Path:
        """Write the model folder with its ranker, checker, card and settings; return its path."""
        if self.writer is None:
            raise CheckpointError("there is no model to save: this summarizer only quotes")
        return self.writer.save(directory)

    def push_to_hub(self, name: str, **options: Any) -> str:
        """Upload the model to `owner/name` on the Hugging Face hub; return its address.

        The options `revision`, `private` and `metadata` are those of `hiersum.pretrained.hub.push`.
        """
        with TemporaryDirectory() as folder:
            return push(self.save_pretrained(folder), name, **options)

    @property
    def model(self) -> NeuralModel | None:
        """The neural model, if there is one."""
        return None if self.writer is None else self.writer.neural

    @property
    def systems(self) -> list[str]:
        """The names of the writers, default first."""
        return list(self.writers)

    def summarize(
        self,
        documents: Iterable[Any],
        title: str = "",
        **options: Unpack[Options],
    ) -> Summary:
        """Summarise documents: texts, `Document`s, or paths of files and folders.

        Args:
            documents: strings are texts; `Path`s are read; also rows with a text, documents of
                LangChain and LlamaIndex, and data frames.
            title: the topic; default: the words most documents share.
            **options: any of these.

        - `focus`: a question or aspect to focus on.
        - `max_words`: maximum length; default: `decoding.max_words`.
        - `system`: `lexrank`, `lead`, or the model's kind (ht, ft, tdmca); default: the model if
          there is one, else `lexrank`.
        - `strict`: require more support than usual; `Summary.dropped` holds what was left out.
        - `draft`: include sentences that the checker would drop.
        - `with_attention`: also return attention between paragraphs, if a network writes.

        Raises:
            InputError: there is nothing to read, or an argument is invalid.
        """
        read, unread = gather_documents(documents, self.config.data)
        return self.summarize_cluster(Cluster(title, tuple(read)), unread, **options)

    def stream(
        self,
        documents: Iterable[Any],
        title: str = "",
        **options: Unpack[Options],
    ) -> Iterator[SummarySentence]:
        """Summarise documents, yielding each sentence as soon as it is final; see `summarize`.

        Whoever stops early stops the work: closing the iterator waits for the sentence at hand.
        """
        read, _ = gather_documents(documents, self.config.data)
        cluster = Cluster(title, tuple(read))
        return as_told(lambda tell: self.summarize_cluster(cluster, told=tell, **options))

    def summarize_many(
        self, clusters: Iterable[Cluster], **options: Unpack[Options]
    ) -> Iterator[Summary]:
        """Summarise clusters, in order; a network batches clusters of similar length.

        Raises:
            InputError: an argument is invalid, or a cluster cannot be read.
        """
        for outcome in in_order(self.summarize_each(clusters, **options)):
            if isinstance(outcome, Failure):
                raise outcome.error
            yield outcome

    def summarize_each(
        self,
        clusters: Iterable[Cluster],
        watch: Watch | None = None,
        told: Told | None = None,
        **options: Unpack[Options],
    ) -> Iterator[tuple[int, Summary | Failure]]:
        """Summarise clusters, continuing past those that cannot be read.

        Args:
            clusters: the clusters to summarise.
            watch: called with a cluster's number and its progress, whenever that changes.
            told: called with a cluster's number and each sentence as soon as it is final.
            options: see `summarize`.

        Yields:
            The number of each cluster, from 0, with its summary or failure, as soon as it is ready;
            `in_order` restores the order.

        Raises:
            InputError: an argument is invalid.
        """
        request = self.request(**options)
        numbered = enumerate(clusters)
        window_size = WINDOW if request.system not in SYSTEMS else 1
        while window := list(islice(numbered, window_size)):
            yield from self._summarize_window(
                window, request, watch or (lambda *_: None), told or (lambda *_: None)
            )

    def summarize_cluster(
        self,
        cluster: Cluster,
        unread: Sequence[Unread] = (),
        told: Callable[[SummarySentence], None] | None = None,
        **options: Unpack[Options],
    ) -> Summary:
        """Summarise one cluster; options as in `summarize`.

        `unread` lists what was skipped when the documents were read; `told` is called with each
        sentence as soon as it is final.
        """
        request = self.request(**options)
        tell = told or (lambda _: None)
        ((_, outcome),) = self._summarize_window(
            [(0, cluster)], request, lambda *_: None, lambda _, sentence: tell(sentence)
        )
        if isinstance(outcome, Failure):
            raise outcome.error
        return replace(outcome, unread=(*unread, *outcome.unread))

    def _summarize_window(
        self,
        window: Sequence[tuple[int, Cluster]],
        request: Request,
        watch: Watch,
        told: Told,
    ) -> Iterator[tuple[int, Summary | Failure]]:
        """Read some clusters, then write their summaries in batches."""
        by_writer: dict[str, list[tuple[int, Reading]]] = {}
        for number, cluster in window:
            watch(number, Progress("reading", 0, len(cluster.documents)))
            try:
                writer, reading = self._read(cluster, request)
            except InputError as error:
                yield number, Failure(cluster.id, error)
                continue
            by_writer.setdefault(writer.name, []).append((number, reading))
        for name, readings in by_writer.items():
            writer = self.writers[name]
            for chosen in writer.batches([reading for _, reading in readings]):
                batch = [readings[index] for index in chosen]
                yield from self._write(writer, batch, request, watch, told)

    def _read(self, cluster: Cluster, request: Request) -> tuple[Writer, Reading]:
        """Read a cluster with the requested writer, or the first that can."""
        wanted = self.writers[request.system]
        for writer in dict.fromkeys([wanted, *self.writers.values()]):
            reading = writer.read(cluster, request)
            if reading is not None:
                break
        assert reading is not None, "sentences can be quoted from any text"
        if request.focus and not request.finds_focus_in(p.text for p in reading.paragraphs):
            logger.warning("no document contains a word of the focus %r", request.focus)
        return writer, reading

    def _write(
        self,
        writer: Writer,
        batch: Sequence[tuple[int, Reading]],
        request: Request,
        watch: Watch,
        told: Told,
    ) -> Iterator[tuple[int, Summary]]:
        start = time.perf_counter()
        numbers = [number for number, _ in batch]

        def watch_all(progress: Progress) -> None:
            for number in numbers:
                watch(number, progress)

        drafts = writer.write(
            [reading for _, reading in batch],
            request,
            watch_all,
            lambda place, sentence: told(numbers[place], sentence),
        )
        seconds = (time.perf_counter() - start) / len(batch)
        for (number, reading), draft in zip(batch, drafts, strict=True):
            yield number, self._check(writer, reading, request, draft, seconds)

    def _check(
        self, writer: Writer, reading: Reading, request: Request, draft: Draft, seconds: float
    ) -> Summary:
        """Mark unsupported facts, find disagreements, and assemble the summary."""
        start = time.perf_counter()
        documents, paragraphs = reading.cluster.documents, reading.paragraphs
        on_topic_only = self.config.data.on_topic_only
        passed_over = find_passed_over(
            documents, paragraphs, reading.left_out, on_topic_only=on_topic_only
        )
        checked = mark_unsupported(request.cut(draft.sentences), reading.cluster, paragraphs)
        disagreements = compare_documents(documents, paragraphs, self.checker)
        checked = mark_disputed(checked, disagreements)
        kept = [s for s in checked if s.is_supported or not request.strict]
        return Summary(
            sentences=tuple(kept),
            dropped=(*draft.dropped, *(s for s in checked if s not in kept)),
            documents=documents,
            paragraphs=paragraphs,
            disagreements=disagreements,
            is_answered=draft.is_answered,
            title=reading.cluster.title,
            id=reading.cluster.id,
            unread=(*reading.left_out, *passed_over),
            system=writer.name,
            model=writer.model,
            seconds=reading.seconds + seconds + time.perf_counter() - start,
            scores=reading.scores,
            attention=writer.attention(reading) if request.with_attention else (),
        )

    def request(self, **options: Unpack[Options]) -> Request:
        """Validate the options of a request; see `summarize`."""
        return Request.of(options, self.config.decoding.max_words, self.systems)
