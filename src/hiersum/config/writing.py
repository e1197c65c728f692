"""Settings for writing, scoring and serving summaries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from hiersum.config.checks import require_at_least, require_within
from hiersum.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchConfig:
    """How a network writes a summary."""

    max_words: int = 120
    """Maximum words of the summary."""
    beam_size: int = 5
    """Width of the beam; 1: greedy search."""
    length_penalty: float = 0.4
    """Alpha of Wu et al. (2016); higher values prefer longer summaries."""
    min_length: int = 0
    """Minimum tokens of a text that the network writes."""
    max_length: int = 256
    """Maximum tokens, including the end token."""
    no_repeat_ngram: int = 0
    """Never repeat a sequence of this many tokens; 0: no limit."""
    grounded: bool = False
    """Write only names and numbers that the sources contain."""
    checker: str = "auto"
    """Checks whether sources support a sentence. `lexical` compares words; `auto`: the model's
    checker if it has one, else `lexical`; or the name of a plugin."""
    min_support: float = 0.5
    """Minimum support of a sentence, for models that check each sentence."""
    strict_support: float = 0.8
    """The same with `--strict`."""
    batch_tokens: int = 16_000
    """Maximum source tokens, with padding, of clusters written in one batch."""
    stopping: Literal["exact", "released"] = "exact"
    """`exact`: search until no hypothesis can win; `released`: as the authors' code does."""
    int8: bool = False
    """Use eight-bit weights: faster on CPUs, nearly the same summaries."""
    half_source: bool = False
    """Keep the source's keys and values in bfloat16: faster on CPUs that support it."""

    def __post_init__(self) -> None:
        positive = ("max_words", "beam_size", "max_length", "batch_tokens")
        require_at_least(1, "decoding", self, *positive)
        require_at_least(0, "decoding", self, "min_length", "no_repeat_ngram")
        if self.min_length >= self.max_length:
            raise ConfigError(
                f"decoding.min_length ({self.min_length}) must be less than "
                f"decoding.max_length ({self.max_length})"
            )
        if not math.isfinite(self.length_penalty):
            raise ConfigError(
                f"decoding.length_penalty must be a finite number, got {self.length_penalty}"
            )
        for name in ("min_support", "strict_support"):
            require_within(f"decoding.{name}", getattr(self, name), 0, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractiveConfig:
    """Lead and LexRank."""

    style: Literal["reader", "paper"] = "reader"
    """`reader`: whole sentences, no repetition. `paper`: ranked paragraphs cut at the last word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluationConfig:
    """How summaries are scored."""

    preset: Literal["full", "paper", "rouge-score"] = "full"
    """Which ROUGE: `full` (with Lsum), `paper` (as the paper), `rouge-score` (its defaults)."""
    bootstrap_samples: int = 1_000
    """Samples for confidence intervals and the paired bootstrap."""

    def __post_init__(self) -> None:
        require_at_least(1, "evaluation", self, "bootstrap_samples")


@dataclass(frozen=True, kw_only=True, slots=True)
class ServingConfig:
    """Limits of the server."""

    max_queue: int = 64
    """Maximum requests that wait; further ones are rejected with a request to retry."""
    max_batch: int = 32
    """Maximum requests in one batch; `decoding.batch_tokens` limits their size."""
    max_body_megabytes: int = 20
    """Maximum size of a request."""
    max_documents: int = 200
    """Maximum documents of a request."""
    cors_origins: tuple[str, ...] = ()
    """Other origins whose web pages may use the server, such as `https://example.org`."""

    def __post_init__(self) -> None:
        positive = ("max_queue", "max_batch", "max_body_megabytes", "max_documents")
        require_at_least(1, "serving", self, *positive)
