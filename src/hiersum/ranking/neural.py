"""The paper's learned ranker (section 3.1): how much of a summary comes from this paragraph?

    u_t = lstm_t(title)    u_p = lstm_p(paragraph)    t = maxpool(u_t)
    p = maxpool(tanh(W1 [u_p; t]))                    score = sigmoid(W2 p)

Both LSTMs share the embeddings. As tanh is monotonic and t is the same for all tokens of a
paragraph, the maximum is taken first, for the same result with less work: p = tanh(maxpool(W1p u_p)
+ W1t t + b). Unlike in the paper, dropout on t is drawn once per paragraph, not once per token.

The LSTM multiplies its input weights once by each *distinct* piece of a batch, where torch's
multiplies them by every token; `benchmarks/ranker.py` measures the gain.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence, pack_sequence, pad_packed_sequence

from hiersum.errors import CheckpointError
from hiersum.model.layers import drop
from hiersum.ranking.ranker import CONFIG, RANKER_FORMAT, WEIGHTS, read_record, replace_file
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Paragraph


class Lstm(nn.Module):
    """Reads sequences of pieces in one direction and returns a state per token."""

    def __init__(self, input_width: int, width: int) -> None:
        super().__init__()
        self.input = nn.Linear(input_width, 4 * width)
        self.recurrent = nn.Parameter(torch.empty(width, 4 * width))
        bound = 1 / math.sqrt(width)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def forward(self, embedding: nn.Embedding, packed: PackedSequence) -> Tensor:
        """Return the states, one row per token, in the order of `packed.data`."""
        sizes = packed.batch_sizes.tolist()
        pieces, piece_of = packed.data.unique(return_inverse=True)
        inputs = self.input(embedding(pieces)).index_select(0, piece_of)
        width = len(self.recurrent)
        state = cell = inputs.new_zeros(sizes[0], width)
        states = []
        for size, input_gates in zip(sizes, inputs.split(sizes)):
            gates = torch.addmm(input_gates, state[:size], self.recurrent)
            i, f, o = gates[:, : 3 * width].sigmoid().split(width, dim=1)
            cell = f * cell[:size] + i * gates[:, 3 * width :].tanh()
            state = o * cell.tanh()
            states.append(state)
        return torch.cat(states)


def max_pool(rows: Tensor, packed: PackedSequence) -> Tensor:
    """Return the maximum over each sequence's rows, in the original order."""
    sequences = PackedSequence(rows, packed.batch_sizes)
    padded, _ = pad_packed_sequence(sequences, padding_value=-math.inf)
    return padded.max(0).values[packed.unsorted_indices]


_BATCH_TOKENS = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class RankerShape:
    """The sizes of a ranker's weights."""

    vocab_size: int
    width: int = 256
    """Width of embeddings and of both LSTMs."""
    max_tokens: int = 128
    """Most tokens of a paragraph, and of a title."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if type(value) is not int or not 1 <= value <= 10**9:
                raise CheckpointError(f"{name} must be a number from 1, got {value!r}")


class RankerNetwork(nn.Module):
    """The network: ids of titles and paragraphs in, a logit per paragraph out."""

    def __init__(self, shape: RankerShape, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocab_size, shape.width)
        self.title_lstm = Lstm(shape.width, shape.width)
        self.paragraph_lstm = Lstm(shape.width, shape.width)
        self.match = nn.Linear(2 * shape.width, shape.width)
        self.score = nn.Linear(shape.width, 1)
        self.dropout = dropout

    def forward(
        self, titles: PackedSequence, paragraphs: PackedSequence, title_of: Tensor
    ) -> Tensor:
        """Return a logit per paragraph; `title_of` has the index of each paragraph's title."""
        for_paragraph, for_title = self.match.weight.split(self.shape.width, dim=1)
        states = self.paragraph_lstm(self.embedding, paragraphs)
        features = max_pool(functional.linear(self._drop(states), for_paragraph), paragraphs)
        title = max_pool(self.title_lstm(self.embedding, titles), titles)[title_of]
        features = features + functional.linear(self._drop(title), for_title, self.match.bias)
        logits: Tensor = self.score(self._drop(features.tanh()))
        return logits[:, 0]

    def _drop(self, states: Tensor) -> Tensor:
        return drop(states, self.dropout, self.training)


class NeuralRanker:
    """Scores paragraphs with a trained network."""

    def __init__(self, network: RankerNetwork, tokenizer: Tokenizer) -> None:
        self.network = network.eval()
        self.tokenizer = tokenizer

    @property
    def fingerprint(self) -> str:
        """A checksum of the weights."""
        return hashlib.sha256(_to_bytes(self.network)).hexdigest()

    @torch.inference_mode()
    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return scores in [0, 1]: the expected recall of the summary's bigrams."""
        titles = pack(encode([title], self.tokenizer, self.network.shape.max_tokens))
        texts = [paragraph.text for paragraph in paragraphs]
        ids = encode(texts, self.tokenizer, self.network.shape.max_tokens)
        scores = torch.empty(len(texts))
        for batch in _batches_by_length(ids):
            logits = self.network(
                titles, pack([ids[i] for i in batch]), torch.zeros(len(batch), dtype=torch.int64)
            )
            scores[batch] = logits.sigmoid()
        return scores.tolist()

    def save(self, folder: Path, *, notes: Mapping[str, Any] | None = None) -> None:
        """Save the ranker into the model folder of its tokenizer, in half precision.

        `notes` go to ranker.json, such as how it was trained.
        """
        weights = _to_bytes(self.network)
        record = {
            "format": RANKER_FORMAT,
            "library": "hiersum",
            **asdict(self.network.shape),
            "tokenizer": self.tokenizer.fingerprint,
            "weights": self.fingerprint,
            "notes": dict(notes or {}),
        }
        # A crash between the two files leaves weights without a description, which are refused.
        (folder / CONFIG).unlink(missing_ok=True)
        replace_file(folder / WEIGHTS, weights)
        replace_file(folder / CONFIG, json.dumps(record, indent=2).encode() + b"\n")

    @classmethod
    def load(cls, folder: Path, tokenizer: Tokenizer) -> NeuralRanker:
        """Load the ranker of a model folder."""
        record = read_record(folder / CONFIG)
        try:
            names = RankerShape.__dataclass_fields__
            shape = RankerShape(**{name: record[name] for name in names})
        except (KeyError, CheckpointError) as error:
            raise CheckpointError(f"{folder / CONFIG}: damaged ({error}); copy it again") from error
        if record.get("tokenizer") != tokenizer.fingerprint:
            raise CheckpointError(
                f"{folder / CONFIG}: this ranker was trained with another tokenizer than the one "
                "beside it; train it again with: hiersum train-ranker"
            )
        tensors = _read_weights(folder / WEIGHTS, record.get("weights"))
        with torch.device("meta"):  # weights are replaced, so none are initialized
            network = RankerNetwork(shape)
        expected = {name: tensor.shape for name, tensor in network.state_dict().items()}
        if expected != {name: tensor.shape for name, tensor in tensors.items()}:
            raise CheckpointError(f"{folder / WEIGHTS}: does not fit {CONFIG}; copy both again")
        network.load_state_dict(tensors, assign=True)
        return cls(network.requires_grad_(False), tokenizer)


def encode(texts: Sequence[str], tokenizer: Tokenizer, max_tokens: int) -> list[list[int]]:
    """Return the piece ids of texts; a text without any gets the unknown piece."""
    return [ids[:max_tokens] or [tokenizer.unknown_id] for ids in tokenizer.encode_many(texts)]


def pack(sequences: Iterable[Sequence[int] | NDArray[np.int32]]) -> PackedSequence:
    """Pack sequences of pieces; none may be empty."""
    tensors = [torch.as_tensor(ids, dtype=torch.int64) for ids in sequences]
    return pack_sequence(tensors, enforce_sorted=False)


def _batches_by_length(sequences: Sequence[Sequence[int]]) -> Iterable[list[int]]:
    """Yield batches of indices of sequences of similar length, within a limit of tokens."""
    batch: list[int] = []
    for index in sorted(range(len(sequences)), key=lambda i: -len(sequences[i])):
        if batch and len(sequences[batch[0]]) * (len(batch) + 1) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _to_bytes(network: RankerNetwork) -> bytes:
    tensors = {name: tensor.half().contiguous() for name, tensor in network.state_dict().items()}
    return save(tensors, metadata={"format": "pt"})


def _read_weights(path: Path, checksum: object) -> dict[str, Tensor]:
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{path.parent}: has a {CONFIG} but no {path.name}; copy it again"
        ) from error
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from error
    if hashlib.sha256(content).hexdigest() != checksum:
        raise CheckpointError(
            f"{path}: damaged, its checksum is not the one in {CONFIG}; copy it again"
        )
    try:
        return {name: tensor.float() for name, tensor in load(content).items()}
    except SafetensorError as error:
        raise CheckpointError(f"{path}: not a safetensors file ({error})") from error
