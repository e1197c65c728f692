"""What is read of documents, which paragraphs first, and how they relate."""

from __future__ import annotations

from dataclasses import dataclass

from hiersum.config.checks import require_at_least, require_within


@dataclass(frozen=True, kw_only=True, slots=True)
class DataConfig:
    """How documents become paragraphs."""

    max_documents: int = 1_000
    """Documents of one cluster that are read; later ones are listed as unread."""
    max_document_characters: int = 5_000_000
    """Characters of one document that are read."""
    language: str = "auto"
    """Two-letter code of the language to read, `any` for all, `auto` for the cluster's main one."""
    max_paragraph_words: int = 160
    """Longer paragraphs are split at sentence ends."""
    on_topic_only: bool = False
    """If most documents hardly mention the title, let a network read only those that do."""
    max_input_paragraphs: int = 24
    """The best paragraphs that a network reads."""
    max_paragraph_tokens: int = 100
    """Tokens of one paragraph that a network reads."""
    max_source_tokens: int = 1_200
    """Tokens of the whole source that a flat network, or one that plans, reads."""
    augmented: bool = False
    """Prepare cited clusters with random changes: paragraphs missing or added, page noise, no title."""
    max_target_tokens: int = 400
    """Tokens of a target that a network learns to write, the end piece counted."""
    supported_targets: bool = False
    """Learn only sentences of a target that what is read supports."""
    min_target_words: int = 1
    """Words that a supported target must keep."""
    near_duplicate: float = 0.8
    """Share of common word triples from which two paragraphs count as one; 1 keeps all but copies."""

    def __post_init__(self) -> None:
        require_at_least("data.max_documents", self.max_documents, 1)
        for name in ("max_document_characters", "max_input_paragraphs"):
            require_at_least(f"data.{name}", getattr(self, name), 1)
        require_at_least("data.min_target_words", self.min_target_words, 1)
        require_at_least("data.max_paragraph_words", self.max_paragraph_words, 8)
        for name in ("max_paragraph_tokens", "max_source_tokens", "max_target_tokens"):
            require_at_least(f"data.{name}", getattr(self, name), 2)
        require_within("data.near_duplicate", self.near_duplicate, 0, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class RankerConfig:
    """Which paragraphs are read at all."""

    kind: str = "auto"
    """By similarity to the title; `neural`: by the model's LSTM ranker; `cited`: by its citation scorer;
    `auto`: its scorer, else its LSTM, else similarity; `none`: in their order; `oracle`: by
    their overlap with the target, for `prepare` only."""
    max_paragraphs: int = 500
    """The best paragraphs that an extractive system reads."""

    def __post_init__(self) -> None:
        require_at_least("ranker.max_paragraphs", self.max_paragraphs, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphConfig:
    """How paragraphs relate, for networks with a graph head."""

    kind: str = "similarity"
    """`similarity` of words; `discourse`: shared names and discourse markers; or the name of a
    plugin. A cluster's own graph takes precedence."""
    min_similarity: float = 0.2
    """Edges of the similarity graph below this weight are removed (the paper's appendix A.1)."""

    def __post_init__(self) -> None:
        require_within("graph.min_similarity", self.min_similarity, 0, 1)
