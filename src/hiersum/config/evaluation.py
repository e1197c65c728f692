"""How summaries are scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hiersum.config.checks import require_at_least, require_within


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluationConfig:
    """How summaries are scored."""

    preset: Literal["full", "paper", "rouge-score"] = "full"
    """Which ROUGE: `full` (with Lsum), `paper` (as the paper), `rouge-score` (that package's own)."""
    bootstrap_samples: int = 1_000
    """Samples behind intervals and the paired bootstrap."""
    randomisation_trials: int = 10_000
    """Random swaps of two systems' scores behind a p-value."""
    confidence: float = 0.95
    """How much of the bootstrap's means an interval holds."""
    seed: int = 1
    """Draws samples and swaps."""

    def __post_init__(self) -> None:
        require_at_least("evaluation.bootstrap_samples", self.bootstrap_samples, 1)
        require_at_least("evaluation.randomisation_trials", self.randomisation_trials, 1)
        require_at_least("evaluation.seed", self.seed, 0)
        require_within("evaluation.confidence", self.confidence, 0.5, 0.9999)
