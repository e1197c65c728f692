"""The story in one class: documents, paragraphs, ranking, a summary with sources."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hiersum.attribution import attribute
from hiersum.baselines import SYSTEMS, Task
from hiersum.config import Config
from hiersum.errors import InputError
from hiersum.ranking.choice import choose_ranker
from hiersum.ranking.ranker import Ranker, best_first
from hiersum.text.documents import read_documents
from hiersum.text.encodings import clean_text
from hiersum.text.languages import check_language
from hiersum.text.paragraphs import read_paragraphs, split_document
from hiersum.text.readable import choose_documents
from hiersum.text.words import count_words, cut_words, split_stems, split_words
from hiersum.types import Cluster, Document, Paragraph, Source, Summary, SummarySentence, Unread

if TYPE_CHECKING:  # torch is loaded only with a model
    from hiersum.abstractive import AbstractiveSystem

logger = logging.getLogger(__name__)

NEURAL_SYSTEMS = ("ht", "ft", "tdmca")
_MAX_TITLE_CHARACTERS = 1_000
_MAX_WORDS = 1_000_000


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
        """Return a summarizer with a model, or the extractive one if none is named.

        Args:
            name_or_dir: a model folder, or a model's name on the Hugging Face hub.
            config: settings; the defaults if None.

        Raises:
            CheckpointError: the model, or a trained ranker in its folder, cannot be loaded.
        """
        if name_or_dir is None:
            return cls(config=config)
        from hiersum.abstractive import AbstractiveSystem

        config = config or Config()
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
        read, unread = self._read(documents)
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
        """Summarise clusters one after the other, in order."""
        for cluster in clusters:
            yield self.summarize_cluster(cluster, focus=focus, max_words=max_words, system=system)

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
        start = time.perf_counter()
        max_words = self.config.decoding.max_words if max_words is None else max_words
        system = system or self.systems[0]
        title, focus = clean_text(cluster.title or "").strip(), clean_text(focus or "").strip()
        self._check(cluster, title, focus, max_words, system)
        documents, left_out = choose_documents(cluster.documents, self.config.data)
        readable = replace(cluster, title=title, documents=tuple(documents))
        if not any(count_words(document.text) for document in documents):
            raise InputError(_nothing_to_read(left_out))
        write = self._extract if system in SYSTEMS else self._abstract
        sentences, paragraphs = write(readable, focus, max_words, system)
        if focus and not _shares_a_word(focus, paragraphs):
            logger.warning("no document has a word of the focus %r, so it changes nothing", focus)
        left_out += _passed_over(documents, paragraphs, left_out)
        return Summary(
            sentences=tuple(_within(sentences, max_words)),
            documents=tuple(documents),
            paragraphs=tuple(paragraphs),
            title=title,
            id=cluster.id,
            unread=(*unread, *left_out),
            system=system,
            model=None if self.model is None or system in SYSTEMS else self.model.name,
            seconds=time.perf_counter() - start,
        )

    def _extract(
        self, cluster: Cluster, focus: str, max_words: int, system: str
    ) -> tuple[list[SummarySentence], list[Paragraph]]:
        """Choose sentences; return them and the paragraphs that were read, best first."""
        paragraphs = read_paragraphs(
            cluster.documents, self.config.data, keep_all=cluster.graph is not None
        )
        scores = self.ranker.scores(_query(cluster.title, focus), paragraphs)
        ranking = best_first(scores)[: self.config.ranker.max_paragraphs]
        task = Task(cluster.title, focus, paragraphs, ranking, max_words)
        sentences = SYSTEMS[system](task, self.config.extractive)
        checked = self._without_other_wordings(sentences, cluster.documents)
        return checked, [paragraphs[index] for index in ranking]

    def _without_other_wordings(
        self, sentences: Sequence[SummarySentence], documents: Sequence[Document]
    ) -> list[SummarySentence]:
        """Drop sources that are near copies but do not have this very sentence."""
        limit = self.config.data.max_paragraph_words

        @cache
        def words_of(document: int) -> list[str]:
            texts = split_document(documents[document], limit)
            return [" ".join(split_words(text)) for text in texts]

        def holds(source: Source, wanted: str) -> bool:
            return wanted in words_of(source.document)[source.paragraph]

        checked = []
        for sentence in sentences:
            wanted = " ".join(split_words(sentence.text))
            first, others = sentence.sources[:1], sentence.sources[1:]
            kept = tuple(source for source in others if holds(source, wanted))
            checked.append(replace(sentence, sources=first + kept))
        return checked

    def _abstract(
        self, cluster: Cluster, focus: str, max_words: int, system: str
    ) -> tuple[list[SummarySentence], list[Paragraph]]:
        """Write sentences and find their sources; return them and what was read, best first."""
        from hiersum.data.example import build_example

        assert self.model is not None
        example, paragraphs = build_example(
            cluster,
            self.model.input_form(self.config),
            self.ranker,
            self.config,
            query=_query(cluster.title, focus),
        )
        texts = [paragraph.text for paragraph in paragraphs]
        sentences = self.model.write(example, texts, self.config.decoding, max_words)
        return attribute(sentences, paragraphs), list(paragraphs)

    def _check(self, cluster: Cluster, title: str, focus: str, max_words: int, system: str) -> None:
        if system in NEURAL_SYSTEMS and system not in self.systems:
            raise InputError(f"system {system!r} needs a model of its kind; name one with --model")
        if system not in self.systems:
            raise InputError(f"system {system!r} is unknown; known: {', '.join(self.systems)}")
        if not isinstance(max_words, int) or not 1 <= max_words <= _MAX_WORDS:
            raise InputError(
                f"max-words must be a number from 1 to {_MAX_WORDS:,}, got {max_words!r}"
            )
        for name, value in (("title", title), ("focus", focus)):
            if len(value) > _MAX_TITLE_CHARACTERS:
                raise InputError(
                    f"the {name} has {len(value):,} characters; at most {_MAX_TITLE_CHARACTERS:,} "
                    "are allowed"
                )
        if not cluster.documents:
            raise InputError("there are no documents to summarise; give at least one")

    def _read(
        self, documents: Sequence[str | Path | Document]
    ) -> tuple[list[Document], list[Unread]]:
        if isinstance(documents, (str, Path, Document)):
            documents = [documents]
        if not isinstance(documents, Iterable):
            raise InputError(f"documents must be a list of texts or paths, got {documents!r}")
        read: list[Document] = []
        unread: list[Unread] = []
        for document in documents:
            if isinstance(document, Document):
                read.append(document)
            elif isinstance(document, str):
                read.append(Document(document, name=f"document {len(read) + 1}"))
            elif isinstance(document, Path):
                found, missed = read_documents([document], self.config.data)
                unread += [_shifted(part, len(read)) for part in missed]
                read += found
            else:
                raise InputError(f"a document must be text, a Document or a Path, got {document!r}")
        return read, unread


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


def _shifted(unread: Unread, offset: int) -> Unread:
    return unread if unread.document is None else replace(unread, document=unread.document + offset)


def _query(title: str, focus: str) -> str:
    return f"{title} {focus}".strip()


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
