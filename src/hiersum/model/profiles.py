"""Profiles: the few switches in which the paper, the released code and T5 differ.

`paper` follows the equations of Liu & Lapata (2019); `hiersumm` gives the numbers of the code its
authors released; `t5` runs a pretrained T5 below global layers in `hiersumm` form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """What the builder asks besides sizes."""

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
    """Dropout on what enters linear layers, rather than on weights and sub-layer outputs."""
    relative: bool = False
    """T5: relative positions, RMS norms, no biases, attention scores not scaled."""


PROFILES: Mapping[str, Profile] = {
    "paper": Profile(
        pre_norm=False,
        # The paper's equations have no factor, but words are the output's too: as small as these begin,
        # they would vanish beside positions, and for long only their frequencies would be learned.
        scaled_embeddings=True,
        rank_first=True,
        pooled_projection=True,
        shared_projections=False,
        scaled_relations=False,
        dropout_before_linear=True,
    ),
    "hiersumm": Profile(
        pre_norm=True,
        scaled_embeddings=True,
        rank_first=False,
        pooled_projection=False,
        shared_projections=True,
        scaled_relations=True,
        dropout_before_linear=False,
    ),
    "t5": Profile(
        pre_norm=True,
        scaled_embeddings=False,
        rank_first=False,
        pooled_projection=False,
        shared_projections=True,
        scaled_relations=True,
        dropout_before_linear=False,
        relative=True,
    ),
}
