"""Build attention, norms and feed-forward networks from a config.

Profiles hold the few switches in which the paper, the released code and T5 differ: `paper` follows
the equations of Liu & Lapata (2019), `paper-unscaled` to the letter; `hiersumm` reproduces the
authors' code; `t5` runs a pretrained T5 below global layers of the `hiersumm` kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch import nn

from hiersum.config.model import RELATIVE_BUCKETS, RELATIVE_DISTANCE, ModelConfig
from hiersum.model.attention import MultiHeadAttention
from hiersum.model.layers import (
    NORM_EPSILON,
    Dropout,
    FeedForward,
    HeadLinear,
    Output,
    RelativeBias,
    Residual,
    RmsNorm,
    WordEmbedding,
)
from hiersum.model.linear import Linear


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """The differences between profiles, besides sizes."""

    pre_norm: bool
    """x + f(norm(x)) and a norm after the last layer, rather than norm(x + f(x))."""
    scaled_embeddings: bool
    """Word embeddings are multiplied by sqrt(width)."""
    rank_first: bool
    """A position is [rank ; token], rather than [token ; rank]."""
    pooled_projection: bool
    """Pooled heads pass through W_c before their norm."""
    shared_projections: bool
    """One query, key and value projection serves all heads of inter-paragraph attention."""
    scaled_relations: bool
    """Inter-paragraph scores are divided by sqrt(head width)."""
    dropout_before_linear: bool
    """Dropout on the input of linear layers, rather than on weights and sub-layer outputs."""
    relative: bool
    """T5: relative positions, RMS norms, no biases, attention scores not scaled."""


PAPER = Profile(
    pre_norm=False,
    # Not in the paper's equations (`paper-unscaled`). Unscaled, words are so small at first that
    # positions drown them out, and for a long time the network learns only word frequencies.
    scaled_embeddings=True,
    rank_first=True,
    pooled_projection=True,
    shared_projections=False,
    scaled_relations=False,
    dropout_before_linear=True,
    relative=False,
)
HIERSUMM = Profile(
    pre_norm=True,
    scaled_embeddings=True,
    rank_first=False,
    pooled_projection=False,
    shared_projections=True,
    scaled_relations=True,
    dropout_before_linear=False,
    relative=False,
)
PROFILES: Mapping[str, Profile] = {
    "paper": PAPER,
    "paper-unscaled": replace(PAPER, scaled_embeddings=False),
    "hiersumm": HIERSUMM,
    "t5": replace(HIERSUMM, scaled_embeddings=False, relative=True),
}


class Parts:
    """Builds the parts of one network."""

    def __init__(self, config: ModelConfig) -> None:
        self.config = config
        self.profile = PROFILES[config.profile]
        self.has_bias = not self.profile.relative
        p = config.dropout
        if self.profile.dropout_before_linear:
            self.dropout = Dropout(inputs=p, hidden=p)
        else:
            self.dropout = Dropout(weights=p, hidden=p, outputs=p)

    def words(self) -> WordEmbedding:
        """Return an embedding of the vocabulary."""
        config = self.config
        scale = config.width**0.5 if self.profile.scaled_embeddings else 1.0
        return WordEmbedding(vocab_size=config.vocab_size, width=config.width, scale=scale)

    def output(self) -> Output:
        """Return the map from states to scores of all pieces."""
        config = self.config
        return Output(
            vocab_size=config.vocab_size,
            width=config.width,
            is_tied=config.tied_output,
            has_bias=self.has_bias,
            # The first T5 models, whose output is tied, divide its scores by sqrt(width).
            scale=config.width**-0.5 if self.profile.relative and config.tied_output else 1.0,
            dropout=self.dropout,
        )

    def attention(self) -> MultiHeadAttention:
        """Return multi-head attention between tokens."""
        return MultiHeadAttention(
            width=self.config.width,
            num_heads=self.config.num_heads,
            head_width=self.config.attention_head_width,
            scaled=not self.profile.relative,
            bias=self.has_bias,
            dropout=self.dropout,
        )

    def feed_forward(self) -> FeedForward:
        """Return a feed-forward network."""
        return FeedForward(
            width=self.config.width,
            hidden_width=self.config.ff_width,
            activation=self.config.feed_forward,
            bias=self.has_bias,
            dropout=self.dropout,
        )

    def head_linear(self) -> nn.Module:
        """Return a map of a global layer's heads: one matrix per head, or one for all."""
        num_heads = self.config.num_pooling_heads
        head_width = self.config.width // num_heads
        if self.profile.shared_projections:
            return Linear(head_width, head_width, bias=self.has_bias)
        return HeadLinear(num_heads=num_heads, width=head_width)

    def relative_bias(self, *, bidirectional: bool) -> RelativeBias | None:
        """Return T5's scores of relative positions; None for other profiles."""
        if not self.profile.relative:
            return None
        return RelativeBias(
            num_buckets=RELATIVE_BUCKETS,
            max_distance=RELATIVE_DISTANCE,
            num_heads=self.config.num_heads,
            bidirectional=bidirectional,
        )

    def residual(self) -> Residual:
        """Return a residual connection with its norm."""
        return Residual(norm=self.norm(), pre_norm=self.profile.pre_norm, dropout=self.dropout)

    def norm(self, width: int | None = None) -> nn.Module:
        """Return a norm, by default as wide as the model."""
        kind = RmsNorm if self.profile.relative else nn.LayerNorm
        return kind(width or self.config.width, eps=NORM_EPSILON)

    def pre_norm(self) -> nn.Module | None:
        """Return a norm for pre-norm profiles only."""
        return self.norm() if self.profile.pre_norm else None
