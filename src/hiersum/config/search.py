"""How a network's summary is searched for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from hiersum.config.checks import require_at_least, require_within
from hiersum.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchConfig:
    """How a network's summary is searched for."""

    max_words: int = 120
    """A cap on the words of the summary."""
    beam_size: int = 5
    """Hypotheses that are followed side by side; 1 is greedy."""
    length_penalty: float = 0.4
    """Alpha of Wu et al.: 0 prefers short summaries, more prefers longer ones."""
    min_length: int = 0
    """Tokens before a summary may end."""
    max_length: int = 256
    """Tokens after which it must, the end token counted."""
    no_repeat_ngram: int = 0
    """No sequence of this many tokens twice; 0 allows all."""
    grounded: bool = False
    """Names and numbers are written only as the sources have them."""
    checker: str = "auto"
    """What judges sentences: `auto`: the model's checker if it has one, else `lexical`, which compares
    words; or another package's."""
    min_support: float = 0.5
    """Support below which a sentence is not shown, where each sentence is checked."""
    strict_support: float = 0.8
    """The same where strictness is asked for."""
    batch_tokens: int = 16_000
    """Source tokens, padded, of clusters that are written together."""
    stopping: Literal["exact", "released"] = "exact"
    """When a search is over: when nothing can win any more, or as in the authors' code."""
    int8: bool = False
    """Write with eight-bit weights: faster on processors, nearly the same summaries."""
    half_source: bool = False
    """Keep the source's keys and values in bfloat16: faster where the processor computes in it."""
    compile: bool = False
    """Compile the decoder's layers: minutes at the start, less time per step after it."""

    def __post_init__(self) -> None:
        for name in ("max_words", "beam_size", "max_length", "batch_tokens"):
            require_at_least(f"decoding.{name}", getattr(self, name), 1)
        for name in ("min_length", "no_repeat_ngram"):
            require_at_least(f"decoding.{name}", getattr(self, name), 0)
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
