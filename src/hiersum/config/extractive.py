"""Lead and LexRank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hiersum.config.checks import require_within


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
