"""How summaries are written, scored and served."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractiveConfig:
    """Lead and LexRank."""

    style: Literal["reader", "paper"] = "reader"
    """`reader`: whole sentences, no repetition. `paper`: ranked paragraphs cut at the last word."""
    damping: float = 0.85
    """How much of a node's rank comes from its neighbours."""
    redundancy: float = 0.5
    """Cosine to a chosen sentence from which another one is left out (`reader` only)."""

    def __post_init__(self) -> None:
        require_within("extractive.damping", self.damping, 0, 0.999)
        require_within("extractive.redundancy", self.redundancy, 0, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluationConfig:
    """How summaries are scored."""

    preset: Literal["full", "paper", "rouge-score"] = "full"
    """Which ROUGE: `full` (with Lsum), `paper` (as the paper), `rouge-score` (that package's own)."""
    bootstrap_samples: int = 1_000
    """Samples behind intervals and the paired bootstrap."""
    seed: int = 1
    """Draws samples and swaps."""

    def __post_init__(self) -> None:
        require_at_least("evaluation.bootstrap_samples", self.bootstrap_samples, 1)
        require_at_least("evaluation.seed", self.seed, 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class ServingConfig:
    """What a server takes on."""

    max_queue: int = 64
    """Requests that may wait; further ones are told to come again."""
    max_batch: int = 32
    """Requests that are taken on together; `decoding.batch_tokens` bounds what is written at once."""
    batch_wait: float = 0.02
    """Seconds that a request waits for others to be written with, if the network is idle."""
    max_body_megabytes: int = 20
    """Size of a request."""
    max_documents: int = 200
    """Documents of a request."""
    body_seconds: float = 60.0
    """Time for a request to arrive."""
    cors_origins: tuple[str, ...] = ()
    """Web pages of other origins that may use the server, such as `https://example.org`; none."""

    def __post_init__(self) -> None:
        for name in ("max_queue", "max_batch", "max_body_megabytes", "max_documents"):
            require_at_least(f"serving.{name}", getattr(self, name), 1)
        require_within("serving.batch_wait", self.batch_wait, 0, 10)
        require_within("serving.body_seconds", self.body_seconds, 1, 3_600)
