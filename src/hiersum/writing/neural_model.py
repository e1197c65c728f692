"""A network with its tokenizer, and its preparation for search."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock

import torch

from hiersum.config import Config, ModelConfig, SearchConfig
from hiersum.data.batches import collate
from hiersum.data.example import InputForm
from hiersum.errors import CheckpointError
from hiersum.model.folder import TOKENIZER, open_pretrained
from hiersum.model.inference import (
    can_keep_integers,
    can_pack,
    copy_modules,
    packed,
    quantized,
)
from hiersum.model.network import EncoderDecoder, Network
from hiersum.pretrained import FOLDER
from hiersum.pretrained.hub import fetch
from hiersum.text.penn import to_penn
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Attention, Example, Progress
from hiersum.writing.beam import Hypothesis, beam_search
from hiersum.writing.constraints import (
    SPACE,
    Constraint,
    Counted,
    GroundedWords,
    Spelling,
    guarded_words,
)
from hiersum.writing.writer import Watch

_FEW_HYPOTHESES = 16
_MAX_UNKNOWN = 0.2
"""Share of unknown words above which a network cannot read a text."""


@dataclass(frozen=True)
class NeuralModel:
    """A network with its tokenizer."""

    name: str
    config: ModelConfig
    tokenizer: Tokenizer
    open_network: Callable[[], Network]
    folder: Path | None = None
    """The folder it was loaded from; None for a network in training."""

    @classmethod
    def load(
        cls, name_or_dir: str | Path, search: SearchConfig | None = None, *, device: str = "cpu"
    ) -> NeuralModel:
        """Load a model folder, or `owner/name` from the hub, prepared as `search` says.

        Raises:
            CheckpointError: a file is missing, or the parts do not fit together.
        """
        folder = fetch(name_or_dir)
        search = search or SearchConfig()
        config, load = open_pretrained(folder, integers=can_keep_integers(device))
        path = folder / TOKENIZER
        if not path.exists():
            raise CheckpointError(
                f"{folder}: has no {TOKENIZER}, so it cannot read text; "
                "convert the model again with its tokenizer (--spm)"
            )
        tokenizer = Tokenizer.load(path, config.profile)
        check_fit(tokenizer, config, path)
        name = "bundled" if folder == FOLDER else str(name_or_dir)

        def open_network() -> Network:
            return prepare(load().requires_grad_(False).to(device), search)

        return cls(name, config, tokenizer, open_network, folder)

    @cached_property
    def network(self) -> Network:
        """The network, prepared for search on first use.

        What ranked thousands of documents is given back before that, and then what unpacked the weights.
        """
        release_memory()
        network = self.open_network()
        release_memory()
        return network

    @property
    def architecture(self) -> str:
        """Which network of the paper this is: ht, ft or tdmca."""
        return self.config.architecture

    @property
    def has_plans(self) -> bool:
        """Whether it writes sentence by sentence, each from a plan."""
        return self.config.planner_width > 0

    def input_form(self, config: Config) -> InputForm:
        """Return the input format of this network."""
        return InputForm.of(self.config, self.tokenizer, config)

    def knows_letters_of(self, example: Example) -> bool:
        """Whether it knows all letters of at least four words in five."""
        unknown = self.tokenizer.unknown_id
        num_words = num_unknown = 0
        for ids in example.paragraph_ids:
            words = sum(self.pieces[token].startswith(SPACE) for token in ids)
            num_words += words
            num_unknown += min(words, ids.count(unknown))
        return num_unknown <= _MAX_UNKNOWN * num_words

    @cached_property
    def pieces(self) -> list[str]:
        """The text of every id; a network may have spare rows."""
        num_spare = self.config.vocab_size - self.tokenizer.size
        return [*self.tokenizer.all_pieces, *[""] * num_spare]

    @cached_property
    def spelling(self) -> Spelling:
        """How the pieces form words."""
        return Spelling(self.pieces, self.tokenizer.end_id)

    def paragraph_attention(self, example: Example) -> Attention:
        """Return attention between paragraphs; empty for a network without global layers.

        Paragraphs without tokens get weight 0.
        """
        if not isinstance(self.network, EncoderDecoder):
            return ()
        batch = collate([replace(example, target_ids=None)]).to(self.network.device)
        size = len(example.paragraph_ids)
        read = torch.tensor(batch.ranks[0])
        layers = []
        for weights_LHPP in self.network.paragraph_attention(batch):
            for weights_HPP in weights_LHPP.cpu():
                whole_HPP = weights_HPP.new_zeros(len(weights_HPP), size, size)
                whole_HPP[:, read[:, None], read] = weights_HPP
                layers.append(tuple(tuple(map(tuple, head)) for head in whole_HPP.tolist()))
        return tuple(layers)

    def write_texts(self, examples: Sequence[Example], search: SearchConfig) -> list[str]:
        """Return a summary of each example, decoded, in one batch."""
        found = self.search(examples, search)
        return [text_of(hypothesis, self.tokenizer) for hypothesis in found]

    def search(
        self,
        examples: Sequence[Example],
        search: SearchConfig,
        sources: Sequence[Sequence[str]] | None = None,
        watch: Watch | None = None,
    ) -> list[Hypothesis]:
        """Search for a whole summary of each example.

        `sources` has the title and paragraphs of each as text, for `grounded` words; `watch` is
        called with the batch's progress.
        """
        batch = collate([replace(example, target_ids=None) for example in examples])
        constraints: list[Constraint] = []
        if watch is not None:
            watch(Progress("encoding", 0, len(batch.source_R)))
            told = watch
            constraints.append(
                Counted(lambda done: told(Progress("writing", done, search.max_length)))
            )
        if search.grounded and sources is not None:
            form = to_penn if self.tokenizer.profile.is_penn else self.tokenizer.fold
            words = [guarded_words(map(form, texts)) for texts in sources]
            constraints.append(GroundedWords(self.spelling, words))
        source = self.network.encode(batch.to(self.network.device))
        with threads_for(len(examples) * search.beam_size):
            hypotheses = beam_search(
                self.network,
                source,
                search,
                num_clusters=len(examples),
                begin_id=self.tokenizer.begin_id,
                end_id=self.tokenizer.end_id,
                forbidden=self.tokenizer.forbidden_ids(self.config.vocab_size),
                constraints=constraints,
            )
        return [of_cluster[0] for of_cluster in hypotheses]


def check_fit(tokenizer: Tokenizer, config: ModelConfig, path: Path) -> None:
    """Refuse a tokenizer whose size or special pieces are not the network's."""
    # T5 has spare rows beyond its pieces.
    is_spare = config.profile == "t5" and tokenizer.size < config.vocab_size
    if tokenizer.size != config.vocab_size and not is_spare:
        raise CheckpointError(
            f"{path}: has {tokenizer.size} pieces, but the network knows {config.vocab_size}"
        )
    for name in ("pad_id", "begin_id", "end_id"):
        found, wanted = getattr(tokenizer, name), getattr(config, name)
        if found != wanted:
            raise CheckpointError(f"{path}: its {name} is {found}, but the network says {wanted}")


def release_memory() -> None:
    """Give freed memory back to the system, which the C library of Linux keeps otherwise."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def text_of(hypothesis: Hypothesis, tokenizer: Tokenizer) -> str:
    """Return the decoded text of a hypothesis."""
    return tokenizer.decode(until_end(hypothesis.token_ids, tokenizer.end_id))


def until_end(token_ids: Sequence[int], end_id: int) -> Sequence[int]:
    """Cut at the first end token; the released search may run on past it."""
    return token_ids[: token_ids.index(end_id)] if end_id in token_ids else token_ids


def prepare(network: Network, config: SearchConfig) -> Network:
    """Return a copy of the network prepared for search as `config` says.

    Do this once per model: packing weights takes up to a second.
    """
    if config.half_source:  # first, since packed weights cannot be copied
        network = with_half_source(network)
    if config.int8:
        return quantized(network)
    return packed(network) if can_pack(network) else network


def with_half_source(network: Network) -> Network:
    """Return a network with the same weights that stores the encoded source in bfloat16.

    T-DMCA is returned unchanged: it reads its source as part of the summary.
    """
    if not isinstance(network, EncoderDecoder):
        return network
    halved = copy_modules(network)
    halved.decoder.half_source = True
    return halved


def threads_for(num_hypotheses: int) -> AbstractContextManager[None]:
    """Use one thread for small batches.

    Their steps are so small that a second thread gains a sixth, but costs fifty times that when
    another program keeps its core busy, since every operation waits for it. The setting is global:
    of concurrent searches, the first changes it and the last restores it.
    """
    return nullcontext() if num_hypotheses > _FEW_HYPOTHESES else _one_thread


class _OneThread:
    """Limits torch to one thread while anyone asks for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._num_inside = 0
        self._before = 1

    def __enter__(self) -> None:
        with self._lock:
            if self._num_inside == 0:
                self._before = torch.get_num_threads()
                torch.set_num_threads(1)
            self._num_inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._num_inside -= 1
            if self._num_inside == 0:
                torch.set_num_threads(self._before)


_one_thread = _OneThread()
