"""The settings: one frozen dataclass per section, and `Config`, which holds them all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from hiersum.config.model import ModelConfig, require_at_least, require_within
from hiersum.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class DataConfig:
    """How documents are read and turned into input for a network."""

    max_documents: int = 5_000
    """Maximum documents of one cluster; the rest are listed as unread."""
    language: str = "auto"
    """Language of the documents: a two-letter code, `any`, or `auto` for the most common one."""
    on_topic_only: bool = False
    """If most documents hardly mention the title, let a network read only those that do."""
    max_input_paragraphs: int = 24
    """Maximum paragraphs that a network reads, the best-ranked first."""
    max_paragraph_tokens: int = 100
    """Maximum tokens of one paragraph that a network reads."""
    max_source_tokens: int = 1_200
    """Maximum tokens of the whole source, for a flat network or one with a planner."""
    augmented: bool = False
    """Randomly change cited clusters: drop or add paragraphs, add page noise, drop the title."""
    max_target_tokens: int = 400
    """Maximum tokens of a target, including the end piece."""
    min_supported_words: int = 0
    """Train only on target sentences that the source supports, if they have this many words; 0:
    train on whole targets."""

    def __post_init__(self) -> None:
        require_at_least(1, "data", self, "max_documents", "max_input_paragraphs")
        require_at_least(0, "data", self, "min_supported_words")
        limits = ("max_paragraph_tokens", "max_source_tokens", "max_target_tokens")
        require_at_least(2, "data", self, *limits)


@dataclass(frozen=True, kw_only=True, slots=True)
class RankerConfig:
    """How paragraphs are ranked; the best are read."""

    kind: str = "auto"
    """`similarity` to the title; `neural`: the model's LSTM ranker; `cited`: its citation scorer;
    `auto`: the model's scorer if it has one, else its LSTM ranker, else similarity; `none`: keep
    the given order; `oracle`: by overlap with the target, for `prepare` only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphConfig:
    """The graph of paragraphs, for networks with a graph head."""

    kind: str = "similarity"
    """`similarity` of words; `discourse`: shared names and discourse markers; or the name of a
    plugin. A cluster's own graph takes precedence."""


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """All sections together."""

    data: DataConfig = field(default_factory=DataConfig)
    ranker: RankerConfig = field(default_factory=RankerConfig)
    graph: GraphConfig = field(default_factory=GraphConfig)
    extractive: ExtractiveConfig = field(default_factory=ExtractiveConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    ranker_training: RankerTrainingConfig = field(default_factory=RankerTrainingConfig)
    decoding: SearchConfig = field(default_factory=SearchConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    serving: ServingConfig = field(default_factory=ServingConfig)
