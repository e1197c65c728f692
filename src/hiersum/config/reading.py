"""Settings for reading documents, ranking paragraphs and building graphs."""

from __future__ import annotations

from dataclasses import dataclass

from hiersum.config.checks import require_at_least


@dataclass(frozen=True, kw_only=True, slots=True)
class DataConfig:
    """How documents are read and turned into input for a network."""

    max_documents: int = 1_000
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
