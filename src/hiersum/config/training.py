"""How a network learns, and how its ranker does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from hiersum.config.checks import require_at_least, require_within
from hiersum.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingConfig:
    """How a network learns; the defaults are the paper's."""

    data: str = ""
    """Folder of prepared examples to learn from (`hiersum prepare`)."""
    valid_data: str = ""
    """Folder of prepared examples for validation, which chooses checkpoints; none: no validation."""
    start: str = ""
    """A model folder to start from, instead of fresh weights."""
    seed: int = 1
    """Seed of fresh weights, of the order of examples and of dropout."""
    steps: int = 500_000
    """Updates of the weights."""
    batch_tokens: int = 16_000
    """Padded size of a batch: clusters x (most paragraphs x longest one + longest target)."""
    accumulate: int = 1
    """Batches per update in each process."""
    learning_rate: float = 2.0
    """The highest rate; for `noam` a factor before width^-0.5."""
    schedule: Literal["noam", "linear", "constant"] = "noam"
    """Rise, then fall as step^-0.5; rise, then fall to 0 at the last step; rise, then stay."""
    warmup_steps: int = 8_000
    """Updates over which the rate rises to its highest value."""
    beta2: float = 0.998
    """Adam's decay rate for squared gradients."""
    epsilon: float = 1e-9
    """Adam's epsilon."""
    weight_decay: float = 0.0
    """Decoupled pull of matrices towards zero; embeddings, norms and biases are free of it."""
    label_smoothing: float = 0.1
    """Share of each label that is spread evenly over all pieces."""
    plan_weight: float = 3.0
    """Weight of one decision of the planner, in tokens."""
    max_gradient_norm: float = 0.0
    """Clip gradients to this norm; 0: no clipping."""
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    """Precision of matrix products; weights stay in fp32."""
    frozen: tuple[str, ...] = ()
    """Prefixes of the names of parameters that do not learn, such as `source_words`."""
    log_every: int = 50
    """Updates between lines of metrics.jsonl."""
    save_every: int = 1_000
    """Updates between checkpoints to resume from."""
    validate_every: int = 5_000
    """Updates between validations; each leaves a checkpoint."""
    max_valid_examples: int = 1_000
    """Examples in the validation loss."""
    max_rouge_examples: int = 64
    """Examples that are written and scored at each validation; 0: none."""
    keep_best: int = 5
    """How many of the best checkpoints to keep, by validation loss."""

    def __post_init__(self) -> None:
        for name in ("steps", "accumulate", "log_every", "save_every", "validate_every"):
            require_at_least(f"training.{name}", getattr(self, name), 1)
        for name in ("batch_tokens", "max_valid_examples", "keep_best"):
            require_at_least(f"training.{name}", getattr(self, name), 1)
        for name in ("seed", "warmup_steps", "max_rouge_examples"):
            require_at_least(f"training.{name}", getattr(self, name), 0)
        require_within("training.beta2", self.beta2, 0, 0.999999)
        require_within("training.label_smoothing", self.label_smoothing, 0, 0.999)
        require_within("training.weight_decay", self.weight_decay, 0, 1)
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise ConfigError(
                f"training.learning_rate must be more than 0, got {self.learning_rate}"
            )
        for name in ("epsilon", "max_gradient_norm", "plan_weight"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ConfigError(f"training.{name} must be 0 or more, got {value}")


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
    max_clusters: int = 3_000
    """Clusters to learn from, the first of the corpus; 0: all."""
    max_paragraphs: int = 0
    """Paragraphs of a cluster to learn from, drawn at random; 0: all."""
    max_valid_clusters: int = 100
    """Clusters in the validation loss."""
    epochs: int = 1
    """How often each paragraph is learned from."""
    batch_tokens: int = 8_192
    """Padded size of a batch: paragraphs x longest one."""
    seed: int = 1
    """Seed of fresh weights, of the order of paragraphs and of dropout."""
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
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise ConfigError(
                f"ranker_training.learning_rate must be more than 0, got {self.learning_rate}"
            )
