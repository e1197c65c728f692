"""Which paragraphs are read at all."""

from __future__ import annotations

from dataclasses import dataclass

from hiersum.config.checks import require_at_least


@dataclass(frozen=True, kw_only=True, slots=True)
class RankerConfig:
    """Which paragraphs are read at all."""

    max_paragraphs: int = 500
    """The best paragraphs that an extractive system reads."""

    def __post_init__(self) -> None:
        require_at_least("ranker.max_paragraphs", self.max_paragraphs, 1)
