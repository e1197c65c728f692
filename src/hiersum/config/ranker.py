"""Which paragraphs are read at all, and how the trained ranker learns that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from hiersum.config.checks import require_at_least, require_within
from hiersum.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class RankerConfig:
    """Which paragraphs are read at all."""

    kind: str = "auto"
    """By similarity to the title; `neural`: by the model's LSTM ranker; `cited`: by its citation scorer;
    `auto`: its scorer, else its LSTM, else similarity; `none`: as they stand; `oracle`: by what of the
    target they hold, for `prepare` alone."""
    max_paragraphs: int = 500
    """The best paragraphs that an extractive system reads."""

    def __post_init__(self) -> None:
        require_at_least("ranker.max_paragraphs", self.max_paragraphs, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class RankerTrainingConfig:
    """How the trained ranker learns; widths, optimizer and dropout are the paper's.

    `configs/ranker.toml` has what learns fastest here.
    """

    width: int = 256
    """Width of the ranker's embeddings and LSTMs."""
    max_tokens: int = 256
    """Tokens of a paragraph that the ranker reads."""
    dropout: float = 0.2
    """Share of values dropped before linear layers."""
    optimizer: Literal["adagrad", "adam"] = "adagrad"
    """The paper's; or Adam, whose rate falls to 0 over the run, for fewer paragraphs."""
    learning_rate: float = 0.15
    """Adagrad's rate in the paper; 3e-4 suits Adam."""
    initial_accumulator: float = 0.01
    """What Adagrad's sums of squares start from."""
    max_clusters: int = 3_000
    """Clusters to learn from, the first of the corpus; 0: all."""
    max_paragraphs: int = 0
    """Paragraphs of a cluster to learn from, drawn at random; 0: all."""
    max_valid_clusters: int = 100
    """Clusters of which the validation loss is taken."""
    epochs: int = 1
    """How often each paragraph is learned from."""
    batch_tokens: int = 8_192
    """Padded size of a batch: paragraphs x longest one."""
    seed: int = 1
    """Decides fresh weights, the order of paragraphs and what is dropped."""
    log_every: int = 20
    """Updates between lines of metrics.jsonl."""
    validate_every: int = 200
    """Updates between validations; each leaves a checkpoint to resume from."""

    def __post_init__(self) -> None:
        for name in ("width", "max_tokens", "epochs", "batch_tokens", "max_valid_clusters"):
            require_at_least(f"ranker_training.{name}", getattr(self, name), 1)
        for name in ("log_every", "validate_every"):
            require_at_least(f"ranker_training.{name}", getattr(self, name), 1)
        for name in ("max_clusters", "max_paragraphs", "seed"):
            require_at_least(f"ranker_training.{name}", getattr(self, name), 0)
        require_within("ranker_training.dropout", self.dropout, 0, 0.999)
        require_within("ranker_training.initial_accumulator", self.initial_accumulator, 0, 1e9)
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise ConfigError(
                f"ranker_training.learning_rate must be more than 0, got {self.learning_rate}"
            )
