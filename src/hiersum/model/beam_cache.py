"""What T-DMCA remembers while it writes: the source once per cluster, the rest per hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from hiersum.model.spans import Spans


@dataclass
class BeamCache:
    """Keys and values of one layer and cluster: the source's, and each hypothesis's own."""

    shared_key_CHK: Tensor
    shared_value_CHK: Tensor
    own_key_NCHK: Tensor | None = None
    own_value_NCHK: Tensor | None = None
    pending: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    """key_NHK and value_NHK of tokens that no slot covers yet; one row for source tokens."""
    position: int = 0
    """Tokens read so far, source included."""

    @classmethod
    def of(cls, key_CHK: Tensor, value_CHK: Tensor, *, position: int) -> BeamCache:
        """Make the cache of a source."""
        return cls(key_CHK, value_CHK, position=position)

    def copy(self) -> BeamCache:
        """Return a cache that can be written to without changing this one; tensors are shared."""
        return replace(self, pending=list(self.pending))

    def append(self, key_NHK: Tensor, value_NHK: Tensor, num_tokens: int = 1) -> None:
        """Add one entry to each hypothesis."""
        self.position += num_tokens
        key_NCHK, value_NCHK = key_NHK[:, None], value_NHK[:, None]
        if self.own_key_NCHK is not None and self.own_value_NCHK is not None:
            key_NCHK = torch.cat([self.own_key_NCHK, key_NCHK], dim=1)
            value_NCHK = torch.cat([self.own_value_NCHK, value_NCHK], dim=1)
        self.own_key_NCHK, self.own_value_NCHK = key_NCHK, value_NCHK

    def forget(self) -> None:
        """Drop all entries."""
        self.shared_key_CHK, self.shared_value_CHK = (
            self.shared_key_CHK[:0],
            self.shared_value_CHK[:0],
        )
        self.own_key_NCHK = self.own_value_NCHK = None

    def select(self, parents_N: Tensor) -> None:
        """Let hypothesis n continue what was hypothesis parents_N[n]."""
        if self.own_key_NCHK is not None and self.own_value_NCHK is not None:
            self.own_key_NCHK = self.own_key_NCHK[parents_N]
            self.own_value_NCHK = self.own_value_NCHK[parents_N]
        self.pending = [
            (key, value) if len(key) == 1 else (key[parents_N], value[parents_N])
            for key, value in self.pending
        ]


def attend_cache(query_NHK: Tensor, cache: BeamCache, scale: float) -> tuple[Tensor, Tensor]:
    """Let each hypothesis attend to the shared entries and to its own.

    Returns:
        mixed_NHK, and weights_HNC over shared and own entries, in this order.
    """
    scores = [torch.einsum("nhk,chk->hnc", query_NHK, cache.shared_key_CHK)]
    if cache.own_key_NCHK is not None:
        scores.append(torch.einsum("nhk,nchk->hnc", query_NHK, cache.own_key_NCHK))
    weights_HNC = (torch.cat(scores, dim=-1) * scale).softmax(-1)
    num_shared = len(cache.shared_key_CHK)
    shared_HNC, own_HNC = weights_HNC[..., :num_shared], weights_HNC[..., num_shared:]
    mixed_NHK = torch.einsum("hnc,chk->nhk", shared_HNC, cache.shared_value_CHK)
    if cache.own_value_NCHK is not None:
        mixed_NHK = mixed_NHK + torch.einsum("hnc,nchk->nhk", own_HNC, cache.own_value_NCHK)
    return mixed_NHK, weights_HNC


@dataclass(frozen=True)
class CompressedMemory:
    """A source that was read: per layer and cluster, what a continuation needs of it."""

    layers: list[list[BeamCache]]
    sources: Spans


class CompressedState:
    """Hypotheses half written: B clusters with N hypotheses each. `step` writes into it."""

    def __init__(self, memory: CompressedMemory, num_beams: int, with_attention: bool) -> None:
        self.layers = [[cache.copy() for cache in layer] for layer in memory.layers]
        self.source_lengths = list(memory.sources.lengths)
        self.num_beams = num_beams
        self.with_attention = with_attention
        self.attention: list[Tensor] = []
        """After a step, if asked for: weights_NM of source tokens per cluster; rows sum to 1."""

    @property
    def num_clusters(self) -> int:
        """Clusters that are still being written."""
        return len(self.source_lengths)

    def select(self, parents_BN: Tensor) -> None:
        """Let hypothesis n of cluster b continue what was hypothesis parents_BN[b, n]."""
        for layer in self.layers:
            for cache, parents_N in zip(layer, parents_BN, strict=True):
                cache.select(parents_N)

    def keep(self, clusters: Sequence[int]) -> None:
        """Go on with these clusters only, in this order."""
        self.layers = [[layer[cluster] for cluster in clusters] for layer in self.layers]
        self.source_lengths = [self.source_lengths[cluster] for cluster in clusters]

    def spread_attention(self, slot_weights: list[list[Tensor]], compression: int) -> None:
        """Turn weights_HNC of slots, per compressed layer and cluster, into `attention`."""
        self.attention = []
        for cluster, length in enumerate(self.source_lengths):
            num_covered = length // compression * compression
            total_NM = slot_weights[0][cluster].new_zeros(self.num_beams, length)
            for layer in slot_weights:
                # The first slot is the one of zeros; those after the source's are the summary's
                # own.
                weights_NC = layer[cluster].mean(0)[:, 1 : 1 + num_covered // compression]
                total_NM[:, :num_covered] += weights_NC.repeat_interleave(compression, dim=1)
            # A source too short for a slot is looked at evenly.
            total_NM += 1e-12
            self.attention.append(total_NM / total_NM.sum(1, keepdim=True))
