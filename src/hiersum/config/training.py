"""How a network learns."""

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
    """Folder of prepared examples to choose checkpoints by; none: no validation."""
    test_data: str = ""
    """Folder of prepared examples on which the best checkpoints are scored at the end."""
    start: str = ""
    """A model folder to start from, instead of fresh weights."""
    seed: int = 1
    """Decides fresh weights, the order of examples and what is dropped."""
    steps: int = 500_000
    """Updates of the weights."""
    batch_tokens: int = 16_000
    """Padded size of a batch: clusters x (most paragraphs x longest one + longest target)."""
    accumulate: int = 1
    """Batches of one process that make one update."""
    window: int = 4_096
    """Examples that are shuffled and sorted into batches at a time."""
    optimizer: Literal["adam", "adamw"] = "adam"
    """Adam, or Adam with decoupled weight decay."""
    learning_rate: float = 2.0
    """The highest rate; for `noam` a factor before width^-0.5."""
    schedule: Literal["noam", "linear", "constant"] = "noam"
    """Rise, then fall as step^-0.5; rise, then fall to 0 at the last step; rise, then stay."""
    warmup_steps: int = 8_000
    """Updates over which the rate rises."""
    beta1: float = 0.9
    """Adam's memory of gradients."""
    beta2: float = 0.998
    """Adam's memory of squared gradients."""
    epsilon: float = 1e-9
    """Adam's guard against division by zero."""
    weight_decay: float = 0.0
    """Pull of matrices towards zero (AdamW); embeddings, norms and biases are free of it."""
    label_smoothing: float = 0.1
    """Share of the label that is spread over all pieces."""
    plan_weight: float = 3.0
    """How many tokens one decision of a planner weighs."""
    max_gradient_norm: float = 0.0
    """Longer gradients are scaled down to this; 0 leaves them."""
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    """What products are computed in; weights stay in fp32."""
    frozen: tuple[str, ...] = ()
    """Parts that do not learn: beginnings of parameter names, such as `source_words`."""
    log_every: int = 50
    """Updates between lines of metrics.jsonl."""
    save_every: int = 1_000
    """Updates between checkpoints to resume from."""
    validate_every: int = 5_000
    """Updates between validations; each leaves a checkpoint."""
    max_valid_examples: int = 1_000
    """Examples of which the validation loss is taken."""
    max_rouge_examples: int = 64
    """Examples that are written and scored at each validation; 0: none."""
    keep_best: int = 5
    """Checkpoints that are kept for their validation."""
    choose_by: Literal["loss", "rouge"] = "loss"
    """What makes a checkpoint the best: validation loss, or validation ROUGE-2."""
    average_best: bool = False
    """The final model is the mean of the kept checkpoints' weights, not the best one."""

    def __post_init__(self) -> None:
        for name in ("steps", "accumulate", "window", "log_every", "save_every", "validate_every"):
            require_at_least(f"training.{name}", getattr(self, name), 1)
        for name in ("batch_tokens", "max_valid_examples", "keep_best"):
            require_at_least(f"training.{name}", getattr(self, name), 1)
        for name in ("seed", "warmup_steps", "max_rouge_examples"):
            require_at_least(f"training.{name}", getattr(self, name), 0)
        for name in ("beta1", "beta2"):
            require_within(f"training.{name}", getattr(self, name), 0, 0.999999)
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
        if self.choose_by == "rouge" and not self.max_rouge_examples:
            raise ConfigError(
                "training.choose_by is rouge, so training.max_rouge_examples must be at least 1"
            )
