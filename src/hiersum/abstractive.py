"""The abstractive systems: a network and its tokenizer, from an example to sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hiersum.bundled import FOLDER
from hiersum.choosing.chooser import Chooser
from hiersum.choosing.sentences import read_sentences
from hiersum.config import Config, ModelConfig, SearchConfig
from hiersum.data.batches import collate
from hiersum.data.example import InputForm
from hiersum.data.read_part import read_part
from hiersum.decoding.beam import Hypothesis, beam_search
from hiersum.decoding.constraints import Counted
from hiersum.decoding.grounding import SPACE
from hiersum.decoding.preparation import prepare, threads_for
from hiersum.drafts import Draft, draft_from, text_of
from hiersum.errors import CheckpointError, ConfigError
from hiersum.model.checkpoint import TOKENIZER, fetch, from_pretrained, read_checksum
from hiersum.model.network import EncoderDecoder, Network
from hiersum.rules import Rules
from hiersum.text.penn import to_penn
from hiersum.text.support import Evidence
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.voices import measure_voices
from hiersum.types import Attention, Example, Progress

_TOKENS_PER_WORD = 2  # room for a summary of the wanted words, however its words are split


@dataclass(frozen=True)
class AbstractiveSystem:
    """A network that writes, and the words it writes with."""

    name: str
    network: Network
    tokenizer: Tokenizer
    folder: Path | None = None
    """Where it was loaded from; None for a network that is being trained."""
    chooser: Chooser | None = None
    """What chooses sentences of the sources, if it was trained to."""

    @classmethod
    def load(
        cls, name_or_dir: str | Path, search: SearchConfig | None = None, *, device: str = "cpu"
    ) -> AbstractiveSystem:
        """Load a model folder, or a model from the hub.

        Args:
            name_or_dir: the folder, or `owner/name`.
            search: whether to write with eight-bit weights or compiled layers, and whether
                sentences are chosen: only then the folder's chooser is loaded, if it has one.
            device: where it computes.

        Raises:
            CheckpointError: the folder lacks something, or its parts do not fit together.
        """
        folder = fetch(name_or_dir)
        network = (
            from_pretrained(folder).requires_grad_(False).to(device)
        )  # it only reads and writes
        path = folder / TOKENIZER
        if not path.exists():
            raise CheckpointError(
                f"{folder}: has no {TOKENIZER}, so it cannot read text; "
                "convert the model again with its tokenizer (--spm)"
            )
        tokenizer = Tokenizer.load(path, network.config.profile)
        check_fit(tokenizer, network.config, path)
        prepared = prepare(network, search or SearchConfig())
        name = "bundled" if folder == FOLDER else str(name_or_dir)
        chooser = None
        if search is not None and search.one_source:
            width, checksum = network.config.width, read_checksum(folder)
            chooser = Chooser.load(folder, width=width, weights_crc32=checksum)
        return cls(name, prepared, tokenizer, folder, chooser)

    @property
    def architecture(self) -> str:
        """Which system this is: ht, ft or tdmca."""
        return self.network.config.architecture

    def input_form(self, config: Config) -> InputForm:
        """Return how this network wants its source written."""
        return InputForm.of(self.network.config, self.tokenizer, config)

    def can_read(self, example: Example, texts: Sequence[str], search: SearchConfig) -> bool:
        """Does it know all letters of at least four words in five, and of a sentence to write?"""
        if search.one_source:
            (sources,) = self._source_texts([example], [texts])
            if not self._rules.can_begin(sources):
                return False
        unknown, pieces = self.tokenizer.unknown_id, self._rules.pieces
        num_words = num_unknown = 0
        for ids in example.paragraph_ids:
            words = sum(pieces[token].startswith(SPACE) for token in ids)
            num_words += words
            num_unknown += min(words, ids.count(unknown))
        return 5 * num_unknown <= num_words

    def write(
        self,
        examples: Sequence[Example],
        sources: Sequence[Sequence[str]],
        search: SearchConfig,
        max_words: int,
        watch: Callable[[Progress], None] | None = None,
        *,
        focus: str = "",
        num_documents: Sequence[Sequence[int]] | None = None,
    ) -> list[Draft]:
        """Return a summary of each example, of at most `max_words` words.

        Where each sentence is to be one of the sources' and there is a chooser, it chooses them;
        else the search does.

        Args:
            examples: the sources, ready to read; all are written in one batch.
            sources: the paragraphs of each as text; names take their capitals from there.
            search: beam size and the like.
            max_words: a cap; a last sentence that would go beyond is left out.
            watch: is told how far the batch is.
            focus: a question or aspect that a chooser turns to.
            num_documents: how many have each paragraph, which counts where sentences are chosen.
        """
        if self.chooser is not None and search.one_source:
            if watch is not None:
                watch(Progress("encoding", 0, None))
            copies = num_documents or [()] * len(examples)
            return self._choose(self.chooser, examples, sources, copies, max_words, focus)
        max_length = min(search.max_length, _TOKENS_PER_WORD * max_words + 1)
        # A cap below the usual length asks for a short summary, not for one that is cut off.
        min_length = min(search.min_length, max_words)
        bounded = replace(search, max_length=max_length, min_length=min_length)
        written = self._search(examples, bounded, sources, watch, with_attention=True)
        return [
            draft_from(hypothesis, example, of, self.tokenizer, max_words)
            for hypothesis, of, example in zip(written, sources, examples)
        ]

    def _choose(
        self,
        chooser: Chooser,
        examples: Sequence[Example],
        sources: Sequence[Sequence[str]],
        copies: Sequence[Sequence[int]],
        max_words: int,
        focus: str,
    ) -> list[Draft]:
        drafts = []
        all_states = self.encode(examples)
        for example, states, texts, counts in zip(examples, all_states, sources, copies):
            sentences = read_sentences(
                example, texts, self.tokenizer, num_documents=counts, room=max_words
            )
            chosen = chooser.choose(
                sentences,
                states,
                title=example.title,
                focus=focus,
                max_words=max_words,
                voices=measure_voices(texts),
            )
            places = [sentence.place for sentence in chosen]
            drafts.append(Draft([sentence.text for sentence in chosen], places=places))
        return drafts

    def encode(self, examples: Sequence[Example]) -> list[NDArray[np.float32]]:
        """Return the encoder's state at each source token of each example, read in one batch.

        Raises:
            ConfigError: the network has no encoder.
        """
        if not isinstance(self.network, EncoderDecoder):
            raise ConfigError(f"{self.name}: a network of kind {self.architecture} has no encoder")
        batch = collate([replace(example, target_ids=None) for example in examples])
        states = self.network.encode(batch.to(self.network.device)).states_RD
        lengths = [sum(map(len, example.paragraph_ids)) for example in examples]
        return [part.numpy() for part in states.detach().float().cpu().split(lengths)]

    def paragraph_attention(self, example: Example) -> Attention:
        """Return how paragraphs attend to each other; nothing for a network without global layers.

        A paragraph that has no token takes no part: its weights are 0.
        """
        if not isinstance(self.network, EncoderDecoder):
            return ()
        batch = collate([replace(example, target_ids=None)])
        attention = self.network.paragraph_attention(batch.to(self.network.device))
        size = len(example.paragraph_ids)
        return tuple(
            tuple(_spread(weights, batch.ranks[0], size) for weights in heads)
            for layers in attention
            for heads in layers.tolist()
        )

    def write_texts(
        self,
        examples: Sequence[Example],
        search: SearchConfig,
        sources: Sequence[Sequence[str]] | None = None,
    ) -> list[str]:
        """Return the best summary of each example as the tokenizer spells it, all in one batch.

        Args:
            examples: what is read.
            search: how to search.
            sources: the paragraphs of each as text, as far as summaries may draw names and numbers
                from them and are chosen by their support; what the examples hold if None.
        """
        found = self._search(examples, search, sources)
        return [text_of(hypothesis, self.tokenizer) for hypothesis in found]

    def _search(
        self,
        examples: Sequence[Example],
        search: SearchConfig,
        sources: Sequence[Sequence[str]] | None,
        watch: Callable[[Progress], None] | None = None,
        *,
        with_attention: bool = False,
    ) -> list[Hypothesis]:
        watch = watch or (lambda _: None)
        batch = collate([replace(example, target_ids=None) for example in examples])
        tokenizer = self.tokenizer
        watch(Progress("encoding", 0, len(batch.source_R)))
        texts = []
        if search.support_weight or self._rules.need_sources(search):
            texts = self._source_texts(examples, sources)
        source = self.network.encode(batch.to(next(self.network.parameters()).device))
        with threads_for(len(examples) * search.beam_size):
            hypotheses = beam_search(
                self.network,
                source,
                search,
                num_clusters=len(examples),
                begin_id=tokenizer.begin_id,
                end_id=tokenizer.end_id,
                forbidden=[
                    *tokenizer.unwritable_ids,
                    *range(tokenizer.size, self.network.config.vocab_size),
                ],
                constraints=[
                    Counted(lambda done: watch(Progress("writing", done, search.max_length))),
                    *self._rules.of(texts, search),
                ],
                paragraph_lengths=batch.paragraph_lengths if with_attention else None,
                rerank=self._support(texts, search) if search.support_weight else None,
            )
        return [of_cluster[0] for of_cluster in hypotheses]

    @cached_property
    def _rules(self) -> Rules:
        return Rules(self.tokenizer, self.network.config.vocab_size)

    def _support(
        self, sources: Sequence[Sequence[str]], search: SearchConfig
    ) -> Callable[[int, Hypothesis], float]:
        """Return the score of a hypothesis with what its support by the sources adds to it."""
        evidence = [Evidence.of(texts) for texts in sources]

        def rerank(cluster: int, hypothesis: Hypothesis) -> float:
            share = evidence[cluster].share(text_of(hypothesis, self.tokenizer))
            return hypothesis.score + search.support_weight * share

        return rerank

    def _source_texts(
        self, examples: Sequence[Example], sources: Sequence[Sequence[str]] | None
    ) -> list[list[str]]:
        """Return the title and paragraphs of each example, as far as they were read, written as the
        network writes.
        """
        form = to_penn if self.tokenizer.profile.is_penn else self.tokenizer.fold
        texts = []
        for number, example in enumerate(examples):
            read = read_part(example, self.tokenizer, sources[number] if sources else None)
            texts.append([*map(form, (example.title, *read))])
        return texts


def check_fit(tokenizer: Tokenizer, config: ModelConfig, path: Path) -> None:
    """Refuse a tokenizer whose pieces are not the network's.

    Raises:
        CheckpointError: its size or its special pieces differ.
    """
    # A T5 has spare rows beyond its pieces.
    is_spare = config.profile == "t5" and tokenizer.size < config.vocab_size
    if tokenizer.size != config.vocab_size and not is_spare:
        raise CheckpointError(
            f"{path}: has {tokenizer.size} pieces, but the network knows {config.vocab_size}"
        )
    for name in ("pad_id", "begin_id", "end_id"):
        found, wanted = getattr(tokenizer, name), getattr(config, name)
        if found != wanted:
            raise CheckpointError(f"{path}: its {name} is {found}, but the network says {wanted}")


def _spread(
    weights: Sequence[Sequence[float]], ranks: Sequence[int], size: int
) -> tuple[tuple[float, ...], ...]:
    """Return a matrix over all paragraphs from one over those of these ranks."""
    whole = [[0.0] * size for _ in range(size)]
    for rank, row in zip(ranks, weights):
        for other, weight in zip(ranks, row):
            whole[rank][other] = weight
    return tuple(map(tuple, whole))
