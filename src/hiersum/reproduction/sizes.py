"""`[sizes]`: how large the networks of an experiment are; the defaults are the paper's."""

from __future__ import annotations

from dataclasses import dataclass, fields

from hiersum.config.checks import require_at_least
from hiersum.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """How large the networks are, and how much they read."""

    pieces: int = 32_000
    """Pieces of the vocabulary that all networks share."""
    width: int = 256
    """Width of a token's state (HT, FT)."""
    ff_width: int = 1_024
    """Hidden width of the feed-forward networks (HT, FT)."""
    num_heads: int = 8
    """Heads of attention and of pooling."""
    local_layers: int = 5
    """Layers of HT within paragraphs."""
    global_layers: int = 2
    """Layers of HT across paragraphs."""
    flat_layers: int = 6
    """Layers of FT that read."""
    decoder_layers: int = 6
    """Layers that write (HT, FT)."""
    tdmca_width: int = 512
    """Width of a token's state (T-DMCA)."""
    tdmca_ff_width: int = 2_048
    """Hidden width of the feed-forward networks (T-DMCA)."""
    tdmca_layers: int = 5
    """Layers of T-DMCA's one stack, local and compressed in turn."""
    tdmca_tokens: int = 3_000
    """Tokens that T-DMCA reads."""
    paragraphs: int = 24
    """Paragraphs that HT reads."""
    paragraph_tokens: int = 68
    """Tokens of each of them."""
    longer_paragraphs: int = 40
    """Paragraphs of HT's longer input at test time; flat networks get longer by the same factor."""

    def __post_init__(self) -> None:
        for field in fields(self):
            lowest = 2 if field.name in ("paragraph_tokens", "tdmca_tokens") else 1
            require_at_least(f"sizes.{field.name}", getattr(self, field.name), lowest)
        if self.longer_paragraphs <= self.paragraphs:
            raise ConfigError(
                f"sizes.longer_paragraphs ({self.longer_paragraphs}) must be more than "
                f"sizes.paragraphs ({self.paragraphs})"
            )

    @property
    def longer(self) -> float:
        """How much longer the longer input is."""
        return self.longer_paragraphs / self.paragraphs
