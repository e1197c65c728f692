"""What is read of documents, and how paragraphs relate."""

from __future__ import annotations

from dataclasses import dataclass

from hiersum.config.checks import require_at_least, require_within
from hiersum.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class DataConfig:
    """How documents become paragraphs."""

    max_documents: int = 1_000
    """Documents of one cluster that are read; later ones are named as unread."""
    max_document_characters: int = 5_000_000
    """Characters of one document that are read."""
    language: str = "auto"
    """Two-letter code of the language to read, `any` for all, `auto` for the cluster's main one."""
    min_paragraph_words: int = 4
    """Paragraphs with fewer words are fragments and are dropped."""
    max_paragraph_words: int = 160
    """Longer paragraphs are split at sentence ends."""
    on_topic_only: bool = False
    """Where most documents hardly speak of the title, a network reads only those that do."""
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
    target_support: float = 0.6
    """Share of the content words of such a sentence that must stand in what is read."""
    target_facts: bool = False
    """All names and dates of such a sentence must stand there too, as all numbers always must."""
    target_opening: bool = True
    """Learn nothing of a target whose first sentence is not supported."""
    min_target_words: int = 1
    """Words that a supported target must keep."""
    near_duplicate: float = 0.8
    """Share of common word triples from which two paragraphs count as one; 1 keeps all but copies."""
    clone_recall: float = 0.8
    """Bigram recall against the target above which a source paragraph is a clone (training data)."""

    def __post_init__(self) -> None:
        require_at_least("data.max_documents", self.max_documents, 1)
        for name in ("max_document_characters", "max_input_paragraphs"):
            require_at_least(f"data.{name}", getattr(self, name), 1)
        for name in ("min_paragraph_words", "min_target_words"):
            require_at_least(f"data.{name}", getattr(self, name), 1)
        for name in ("max_paragraph_tokens", "max_source_tokens", "max_target_tokens"):
            require_at_least(f"data.{name}", getattr(self, name), 2)
        if self.max_paragraph_words < 2 * self.min_paragraph_words:
            raise ConfigError(
                f"data.max_paragraph_words ({self.max_paragraph_words}) must be at least twice "
                f"data.min_paragraph_words ({self.min_paragraph_words})"
            )
        require_within("data.near_duplicate", self.near_duplicate, 0, 1)
        require_within("data.target_support", self.target_support, 0, 1)
        require_within("data.clone_recall", self.clone_recall, 0, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphConfig:
    """How paragraphs relate, for networks with a graph head."""

    kind: str = "similarity"
    """`similarity` of words; `discourse`: shared names and discourse markers; or another package's. A
    cluster's own graph goes first."""
    min_similarity: float = 0.2
    """Edges of the similarity graph below this weight are removed (the paper's appendix A.1)."""

    def __post_init__(self) -> None:
        require_within("graph.min_similarity", self.min_similarity, 0, 1)
