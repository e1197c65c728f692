"""The learned checker: a small network that reads a sentence together with its sources.

A model folder stores it as `checker.safetensors` (int8 with a scale per row), `checker.model` (the
tokenizer) and `checker.json` (sizes, calibration). `recipes/checker/` makes them.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load, save_file
from sentencepiece import SentencePieceProcessor
from torch import Tensor

from hiersum.checking.checker import (
    NEUTRAL,
    SETTINGS_FILE,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    is_checkable,
)
from hiersum.checking.network import (
    ANSWERED,
    END,
    LABELS,
    MAX_HYPOTHESIS,
    MAX_PREMISE,
    VECTOR_WIDTH,
    CheckerNetwork,
    EncodedPair,
    collate,
    encode_pair,
)
from hiersum.config import ModelConfig
from hiersum.config.loader import build_section
from hiersum.errors import CheckpointError, ConfigError
from hiersum.jobs.atomic import replacing
from hiersum.model.inference import int8_for_many_rows, speed_up
from hiersum.model.spans import Spans
from hiersum.model.storage import pack, unfilled, unpack

_FORMAT = 2
_BATCH = 32
_MAX_TEXT = 254  # pieces of a text to embed
_OVERLAP = 40  # pieces shared by neighboring windows of a long source
_MAX_WINDOWS = 4  # per source or sentence too long to read at once
_MAX_CHARACTERS = 100_000  # per text; the rest is not read
_DAMAGED = (KeyError, TypeError, ValueError, OSError, RuntimeError, AttributeError, AssertionError,
            ConfigError)  # fmt: skip
_Section = TypeVar("_Section")


@dataclass(frozen=True, slots=True)
class Calibration:
    """Maps log odds to a probability: 1 / (1 + exp(-(slope * odds + offset)))."""

    slope: float = 1.0
    offset: float = 0.0

    def probability(self, log_odds: float) -> float:
        """Return the calibrated probability."""
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.slope * log_odds + self.offset))))


class LearnedChecker:
    """Judges sentences by their meaning. Thread-safe."""

    def __init__(
        self,
        network: CheckerNetwork,
        words: SentencePieceProcessor,
        support: Calibration | None = None,
        contradiction: Calibration | None = None,
    ) -> None:
        self._network = network.eval()
        self._words = words
        self._support = support or Calibration()
        self._contradiction = contradiction or Calibration()

    @classmethod
    def load(cls, folder: Path, int8: bool = True) -> LearnedChecker:
        """Read a checker from a model folder; compute in eight bits if torch can, unless told not to.

        A file that is missing, damaged or of another version raises a `CheckpointError`.
        """
        settings = _read_settings(folder / SETTINGS_FILE)
        packed = _read_weights(folder / WEIGHTS_FILE)
        int8 = int8 and torch.backends.quantized.engine != "none"
        try:
            config = _section(ModelConfig, settings["shape"])
            with unfilled():
                network = CheckerNetwork(config)
            names = _names_of_integers(network) if int8 else ()
            network.requires_grad_(not int8).load_state_dict(unpack(packed, names), assign=True)
            words = SentencePieceProcessor(model_file=str(folder / TOKENIZER_FILE))
            if len(words) != config.vocab_size:
                raise ValueError(f"{len(words)} pieces for {config.vocab_size} vectors")
            both = ("support", "contradiction")
            calibrations = [_section(Calibration, settings[name]) for name in both]
        except _DAMAGED as error:
            raise CheckpointError(f"{folder}: the checker's files do not fit ({error})") from error
        if int8:
            for layer in network.layers:
                speed_up(layer, int8_for_many_rows)
        return cls(network, words, *calibrations)

    def support(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        """Return the probability that each sentence is true to its sources."""
        odds = self.support_odds(pairs)
        return [NEUTRAL if o is None else self._support.probability(o) for o in odds]

    def support_odds(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[float | None]:
        """Return the log odds of "entailed" against the rest; None if there is nothing to judge."""
        readings = [self._readings(sentence, sources) for sentence, sources in pairs]
        logits = self._logits(pair for reading in readings for part in reading for pair in part)
        odds = iter((logits[:, 0] - torch.logsumexp(logits[:, 1:ANSWERED], -1)).tolist())
        # A long sentence scores as its worst part; a part scores as its best source.
        return [
            min((max(next(odds) for _ in part) for part in reading), default=None)
            for reading in readings
        ]

    def shares(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the probabilities of `LABELS` for each (premise, hypothesis)."""
        logits = self._logits(self._encode(premise, hypothesis) for premise, hypothesis in pairs)
        shares: NDArray[np.float32] = logits[:, :ANSWERED].softmax(-1).numpy()
        return shares

    def answered(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the probability that each text answers a question; long ones by their best part."""
        asked = self._ids(question)
        parts = [_best_windows(self._ids(text), set(asked)) for text in texts]
        logits = self._logits(
            encode_pair(part, asked, is_question=True) for of_text in parts for part in of_text
        )
        chances = iter(logits[:, ANSWERED].sigmoid().tolist())
        return [max(next(chances) for _ in of_text) for of_text in parts]

    def contradiction(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability that two statements contradict each other; read in both orders."""
        odds = self.contradiction_odds(pairs)
        return [NEUTRAL if o is None else self._contradiction.probability(o) for o in odds]

    def contradiction_odds(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """Return the log odds of "contradicted", averaged over both orders."""
        judged = [is_checkable(one) and is_checkable(other) for one, other in pairs]
        encoded = [
            self._encode(premise, hypothesis)
            for (one, other), is_judged in zip(pairs, judged)
            if is_judged
            for premise, hypothesis in ((one, other), (other, one))
        ]
        logits = self._logits(encoded)
        odds = (logits[:, 2] - torch.logsumexp(logits[:, :2], -1)).view(-1, 2).mean(-1)
        values = iter(odds.tolist())
        return [next(values) if is_judged else None for is_judged in judged]

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a unit vector per text; zeros for a text without letters or digits."""
        rows = np.zeros((len(texts), VECTOR_WIDTH), np.float32)
        ids = {
            n: [*self._ids(text)[:_MAX_TEXT], END]
            for n, text in enumerate(texts)
            if is_checkable(text)
        }
        order = sorted(ids, key=lambda n: len(ids[n]))
        with torch.inference_mode():
            for start in range(0, len(order), _BATCH):
                part = order[start : start + _BATCH]
                flat = torch.tensor([piece for n in part for piece in ids[n]])
                tokens = Spans(tuple(len(ids[n]) for n in part))
                rows[part] = self._network.vectors(flat, tokens).numpy()
        return rows

    def _readings(self, sentence: str, sources: Sequence[str]) -> list[list[EncodedPair]]:
        """For each part of the sentence: its pairs with each source and with all joined."""
        texts = [self._ids(source) for source in sources if is_checkable(source)]
        if not texts or not is_checkable(sentence):
            return []
        if len(texts) > 1:
            texts.append([piece for text in texts for piece in text])
        hypothesis = self._ids(sentence)
        parts = list(_windows(hypothesis, MAX_HYPOTHESIS, MAX_HYPOTHESIS))[:_MAX_WINDOWS]
        return [
            [
                encode_pair(window, part)
                for text in texts
                for window in _best_windows(text, set(part))
            ]
            for part in parts
        ]

    def _encode(self, premise: str, hypothesis: str) -> EncodedPair:
        return encode_pair(self._ids(premise), self._ids(hypothesis))

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._words.encode(text[:_MAX_CHARACTERS])
        return ids

    @torch.inference_mode()
    def _logits(self, encoded: Iterable[EncodedPair]) -> Tensor:
        pairs = list(encoded)
        logits = torch.zeros(len(pairs), len(LABELS) + 1)
        order = sorted(range(len(pairs)), key=lambda n: len(pairs[n].ids))
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            logits[part] = self._network(collate([pairs[n] for n in part]))
        return logits


def save_checker(
    folder: Path,
    network: CheckerNetwork,
    tokenizer: Path,
    support: Calibration,
    contradiction: Calibration,
    origin: str,
) -> None:
    """Write a checker into a model folder; `tokenizer` is a SentencePiece model to copy."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "format": _FORMAT,
        "origin": origin,
        "shape": asdict(network.config),
        "support": asdict(support),
        "contradiction": asdict(contradiction),
    }
    weights = folder / WEIGHTS_FILE
    with replacing(weights) as temporary:
        save_file(pack(network.state_dict(), "int8"), temporary)
        temporary.chmod(folder.stat().st_mode & 0o666)  # safetensors: the owner's only
    with replacing(folder / TOKENIZER_FILE) as temporary:
        shutil.copyfile(tokenizer, temporary)
    with replacing(folder / SETTINGS_FILE) as temporary:  # last: it says that the others are there
        temporary.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def _windows(ids: Sequence[int], width: int, stride: int) -> Iterable[Sequence[int]]:
    yield ids[:width]
    for start in range(stride, len(ids) - (width - stride), stride):
        yield ids[start : start + width]


def _best_windows(ids: Sequence[int], wanted: set[int]) -> list[Sequence[int]]:
    """Return the windows of a source that share the most with the sentence."""
    windows = list(_windows(ids, MAX_PREMISE, MAX_PREMISE - _OVERLAP))
    windows.sort(key=lambda window: -len(wanted.intersection(window)))
    return windows[:_MAX_WINDOWS]


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: cannot be read ({error})") from error
    version = settings.get("format") if isinstance(settings, dict) else None
    if version != _FORMAT:
        raise CheckpointError(f"{path}: format {version!r}, but this version reads {_FORMAT}")
    return dict(settings)


def _section(kind: type[_Section], values: Mapping[str, Any]) -> _Section:
    return cast(_Section, build_section(kind, values, ""))


def _read_weights(path: Path) -> dict[str, Tensor]:
    try:
        return load(path.read_bytes())
    except (OSError, ValueError, SafetensorError) as error:
        raise CheckpointError(f"{path}: cannot be read ({error})") from error


def _names_of_integers(network: CheckerNetwork) -> set[str]:
    """Return the names of matrices that are used in eight bits."""
    layers = {name for name in network.state_dict() if name.startswith("layers.")}
    return {"words.weight"} | {name for name in layers if not name.endswith("norm.weight")}
