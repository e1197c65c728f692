"""Settings for training a network and its ranker."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from hiersum.config.checks import require_at_least, require_within
from hiersum.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingConfig:
    """How a network is trained; the defaults are the papers'."""

    data: str = ""
    """Folder of prepared training examples (`hiersum prepare`)."""
    valid_data: str = ""
    """Folder of prepared validation examples, which select checkpoints; empty: no validation."""
    start: str = ""
    """A model folder to start from; empty: random weights."""
    seed: int = 1
    """Seed of the initial weights, the order of examples and dropout."""
    steps: int = 500_000
    """Updates of the weights."""
    batch_tokens: int = 16_000
    """Maximum padded size of a batch: clusters x (most paragraphs x longest + longest target)."""
    accumulate: int = 1
    """Batches per update, in each process."""
    learning_rate: float = 2.0
    """The peak rate; for `noam`, a factor of width^-0.5."""
    schedule: Literal["noam", "linear", "constant"] = "noam"
    """After the warm-up, `noam` falls as step^-0.5 and `linear` falls to 0 at the last step."""
    warmup_steps: int = 8_000
    """Updates over which the rate rises to its peak."""
    label_smoothing: float = 0.1
    """Share of each label that is spread evenly over all pieces."""
    source_loss: bool = True
    """T-DMCA learns to predict its source too, as its authors trained it; other networks cannot."""
    max_gradient_norm: float = 0.0
    """Clip gradients to this norm; 0: no clipping."""
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    """Precision of matrix products; weights stay in fp32."""
    frozen: tuple[str, ...] = ()
    """Name prefixes of parameters that stay fixed, such as `source_words`."""
    log_every: int = 50
    """Updates between lines of metrics.jsonl."""
    save_every: int = 1_000
    """Updates between checkpoints to resume from."""
    validate_every: int = 5_000
    """Updates between validations; each saves a checkpoint."""
    max_valid_examples: int = 1_000
    """Maximum examples in the validation loss."""
    max_rouge_examples: int = 64
    """Examples that are summarized and scored at each validation."""
    keep_best: int = 5
    """How many of the best checkpoints to keep, by validation loss."""

    def __post_init__(self) -> None:
        positive = ("steps", "accumulate", "log_every", "save_every", "validate_every")
        require_at_least(1, "training", self, *positive)
        require_at_least(1, "training", self, "batch_tokens", "max_valid_examples", "keep_best")
        require_at_least(0, "training", self, "seed", "warmup_steps", "max_rouge_examples")
        require_within("training.label_smoothing", self.label_smoothing, 0, 0.999)
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise ConfigError(
                f"training.learning_rate must be more than 0, got {self.learning_rate}"
            )
        if not (math.isfinite(self.max_gradient_norm) and self.max_gradient_norm >= 0):
            raise ConfigError(
                f"training.max_gradient_norm must be 0 or more, got {self.max_gradient_norm}"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class RankerTrainingConfig:
    """How the ranker is trained; widths and optimizer are the paper's.

    `configs/ranker.toml` learns faster.
    """

    width: int = 256
    """Width of the ranker's embeddings and LSTMs."""
    optimizer: Literal["adagrad", "adagrad-random", "adam"] = "adagrad"
    """The paper's Adagrad, from weights that can tell shared words or from `random` ones as usual;
    or Adam, which needs less data and whose rate falls to 0."""
    max_clusters: int = 3_000
    """Train on the first clusters of the corpus; 0: on all."""
    max_paragraphs: int = 0
    """Paragraphs drawn at random from each cluster; 0: all."""
    epochs: int = 1
    """Passes over the paragraphs."""
    validate_every: int = 200
    """Updates between validations; each saves a checkpoint."""

    def __post_init__(self) -> None:
        positive = ("width", "epochs", "validate_every")
        require_at_least(1, "ranker_training", self, *positive)
        require_at_least(0, "ranker_training", self, "max_clusters", "max_paragraphs")
