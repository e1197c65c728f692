"""The neural writer: a network and its tokenizer, from a cluster to cited sentences.

A network with a planner writes sentence by sentence (see `planned`) and cites its plans. One
without writes the whole summary in one search; sources are attributed afterwards.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hiersum.checking.answers import Answers, find_answers
from hiersum.checking.checker import Checker, open_checker
from hiersum.config import Config, SearchConfig
from hiersum.data.batches import bucket_examples
from hiersum.data.example import build_example
from hiersum.data.model_folder import copy_model
from hiersum.errors import CheckpointError
from hiersum.model.network import EncoderDecoder
from hiersum.ranking.ranker import Ranker, choose_ranker
from hiersum.text.labels import speaker_of
from hiersum.text.languages import UNKNOWN, detect_language
from hiersum.text.paragraphs import PlacedTexts
from hiersum.text.penn import from_penn, learn_casing, sentences_in_lower_case
from hiersum.text.sentences import ends_sentence, split_sentences
from hiersum.text.words import count_words
from hiersum.types import Attention, Cluster, Document, Progress, Sentence, Source, SummarySentence
from hiersum.writing.neural_model import NeuralModel, text_of
from hiersum.writing.page import DraftSentence
from hiersum.writing.planned import PlannedSearch
from hiersum.writing.sources import attribute
from hiersum.writing.writer import Draft, Readable, Reading, Request, Told, Watch, open_cluster

logger = logging.getLogger(__name__)

_TOKENS_PER_WORD = 2
"""Upper bound, to leave room however words are split."""


class NeuralWriter:
    """Writes with a network: ranks and encodes a cluster, writes, and cites sources."""

    def __init__(
        self, model: NeuralModel, ranker: Ranker, config: Config, checker: Checker | None = None
    ) -> None:
        self.neural = model
        self.ranker = ranker
        self.config = config
        self.checker = checker or open_checker(model.folder, config.decoding.checker)

    @classmethod
    def load(cls, name_or_dir: str | Path, config: Config) -> NeuralWriter:
        """Load a model with its ranker and checker.

        Raises:
            CheckpointError: one of them is damaged or does not fit the others.
        """
        model = NeuralModel.load(name_or_dir, config.decoding)
        ranker = choose_ranker(config.ranker.kind, model.folder, model.tokenizer)
        return cls(model, ranker, config)

    def ranked_by(self, ranker: Ranker) -> NeuralWriter:
        """Return the same writer with another ranker."""
        return NeuralWriter(self.neural, ranker, self.config, self.checker)

    def save(self, directory: Path | str) -> Path:
        """Copy its model folder, with ranker, checker, card and the settings it was loaded with."""
        if self.neural.folder is None:
            raise CheckpointError(
                f"{self.model}: was not loaded from a folder; save its network with "
                "hiersum.model.folder.save_pretrained"
            )
        return copy_model(self.neural.folder, directory, self.config)

    @property
    def name(self) -> str:
        """Its name on the command line: the kind of its network."""
        return self.neural.architecture

    @property
    def model(self) -> str:
        """The model's name or folder."""
        return self.neural.name

    def read(self, cluster: Cluster, request: Request) -> Reading | None:
        """Rank and encode a cluster; None if the network does not know its script or language."""
        opened = open_cluster(cluster, request, self.config.data)
        if self.neural.has_plans and not _is_english(opened):
            logger.warning("the model writes only English, so source sentences are quoted")
            return None
        form = self.neural.input_form(self.config)
        example, read = build_example(
            opened.cluster, form, self.ranker, self.config, query=opened.query
        )
        if not self.neural.knows_letters_of(example):
            logger.warning(
                "%s: the model does not know enough of its letters, so source sentences are quoted",
                cluster.id or cluster.title or "the documents",
            )
            return None
        # A title that is read precedes the paragraphs.
        return opened.reading(read, example.scores[-len(read) :], example)

    def batches(self, readings: Sequence[Reading]) -> list[list[int]]:
        """Bucket clusters by length."""
        examples = [reading.prepared for reading in readings]
        return bucket_examples(examples, self.config.decoding.batch_tokens)

    def attention(self, reading: Reading) -> Attention:
        """Return attention between the paragraphs of a reading."""
        return self.neural.paragraph_attention(reading.prepared)

    def write(
        self, readings: Sequence[Reading], request: Request, watch: Watch, told: Told
    ) -> list[Draft]:
        """Write a batch of summaries, and cite the sources of each sentence."""
        if self.neural.has_plans:
            return self._write_planned(readings, request, watch, told)
        return self._write_whole(readings, request, watch)

    def _write_planned(
        self, readings: Sequence[Reading], request: Request, watch: Watch, told: Told
    ) -> list[Draft]:
        network, search = self.neural.network, self.config.decoding
        assert isinstance(network, EncoderDecoder)
        examples = [reading.prepared for reading in readings]
        watch(Progress("encoding", 0, sum(len(ids) for e in examples for ids in e.paragraph_ids)))
        numbered = [_numbered_sentences(reading) for reading in readings]

        def cite(number: int, sentence: DraftSentence) -> SummarySentence:
            documents = readings[number].cluster.documents
            return with_sources(sentence, numbered[number], documents)

        def tell(number: int, sentence: DraftSentence) -> None:
            watch(Progress("writing", 0, None))
            told(number, cite(number, sentence))

        planned = PlannedSearch(
            network, self.neural.tokenizer, self.neural.spelling, self.checker, search
        )
        answers = [self._answers(request.focus, sentences) for sentences in numbered]
        pages = planned.write(
            examples,
            numbered,
            relevance=[np.asarray(a.relevance) for a in answers if a is not None] or None,
            max_words=request.max_words,
            min_support=_min_support(request, search),
            told=tell,
        )
        watch(Progress("checking", 0, len(readings)))
        return [
            Draft(
                [cite(number, sentence) for sentence in page.kept],
                [cite(number, sentence) for sentence in page.dropped],
                None if answer is None else answer.is_answered,
            )
            for number, (page, answer) in enumerate(zip(pages, answers))
        ]

    def _answers(self, question: str, sentences: Sequence[Sentence]) -> Answers | None:
        """Score sentences against the question; None if there is none."""
        if not question:
            return None
        return find_answers(question, sentences, self.checker)

    def _write_whole(
        self, readings: Sequence[Reading], request: Request, watch: Watch
    ) -> list[Draft]:
        search, tokenizer = self.config.decoding, self.neural.tokenizer
        max_length = min(search.max_length, _TOKENS_PER_WORD * request.max_words + 1)
        # A lower limit asks for a short summary, not a truncated one.
        min_length = min(search.min_length, request.max_words)
        examples = [reading.prepared for reading in readings]
        texts = [[paragraph.text for paragraph in reading.paragraphs] for reading in readings]
        found = self.neural.search(
            examples,
            replace(search, max_length=max_length, min_length=min_length),
            [[example.title, *of_example] for example, of_example in zip(examples, texts)],
            watch,
        )
        watch(Progress("sourcing", 0, len(readings)))
        drafts = []
        for hypothesis, reading, of_example in zip(found, readings, texts):
            text = text_of(hypothesis, tokenizer)
            if reading.cluster.piece_ids:  # scored as the authors did, in lower case
                sentences = sentences_in_lower_case(text)
                drafts.append(Draft(attribute(sentences, reading.paragraphs)))
                continue
            if tokenizer.profile.is_penn:
                text = from_penn(text, learn_casing(of_example))
            sentences = whole_sentences(tokenizer.unfold(text, of_example), request.max_words)
            is_over = tokenizer.end_id in hypothesis.token_ids
            if len(sentences) == 1 and not is_over and not ends_sentence(sentences[0]):
                sentences = [f"{sentences[0]}\u2026"]
            placed = PlacedTexts(reading.cluster.documents)
            drafts.append(Draft(attribute(sentences, reading.paragraphs, text_at=placed.at)))
        return drafts


def _min_support(request: Request, search: SearchConfig) -> float:
    if request.draft:
        return 0.0
    return search.strict_support if request.strict else search.min_support


def _is_english(opened: Readable) -> bool:
    text = "\n".join(document.text[:2_000] for document in opened.cluster.documents)
    return detect_language(text) in ("en", UNKNOWN)


def _numbered_sentences(reading: Reading) -> list[Sentence]:
    """Return the sentences that were read, by number."""
    pairs = zip(reading.paragraphs, reading.prepared.boundaries, strict=True)
    return [s for paragraph, places in pairs for s in paragraph.sentences[: len(places) - 1]]


def with_sources(
    draft: DraftSentence, sentences: Sequence[Sentence], documents: Sequence[Document]
) -> SummarySentence:
    """Cite the paragraphs of its plan that a sentence takes words from, with their sentences."""
    wanted = set(draft.content_stems)
    sources: dict[tuple[int, int], Source] = {}
    for number in draft.plan:
        sentence = sentences[number]
        stems = set(sentence.content_stems)
        if sources and not wanted & stems:
            continue
        wanted -= stems
        one_line = " ".join(sentence.text.split())
        for place in sentence.paragraph.places:
            known = sources.get((place.document, place.position))
            quote = f"{known.quote}\n{one_line}" if known else one_line
            source = Source(place.document, place.position, round(draft.support, 3), quote)
            sources[place.document, place.position] = source
    return SummarySentence(
        draft.text,
        tuple(sources.values()),
        support=draft.support,
        is_quoted=draft.is_quoted,
        speaker=_speaker(documents[sentences[draft.plan[0]].paragraph.document], draft),
        reason=draft.reason,
    )


def _speaker(document: Document, draft: DraftSentence) -> str:
    speaker = speaker_of(document.name) if draft.is_quoted else ""
    return speaker[:1].upper() + speaker[1:]


def whole_sentences(text: str, max_words: int) -> list[str]:
    """Return the complete sentences that fit; the first is always kept."""
    kept: list[str] = []
    room = max_words
    for sentence in split_sentences(text):
        room -= count_words(sentence)
        if kept and (room < 0 or not ends_sentence(sentence)):
            break
        kept.append(sentence)
    return kept
