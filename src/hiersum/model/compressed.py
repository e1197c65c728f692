"""T-DMCA: a decoder that reads the source as a prefix of the summary (Liu et al., 2018).

One causal stack over source and summary. Layers alternate between attention within blocks and
attention to a compressed memory of the whole sequence, in which a strided convolution merges every
few tokens into one key and value. Its authors train it as a language model of the whole sequence, so
that it learns from the source too (their section 4.2.3); see `training.source_loss`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hiersum.config.model import BLOCK_LENGTH, COMPRESSION, ModelConfig
from hiersum.model.batch import Batch
from hiersum.model.layers import drop, sinusoid
from hiersum.model.linear import Linear
from hiersum.model.parts import Parts
from hiersum.model.spans import Spans


@dataclass
class BeamCache:
    """Keys, then values, of one layer and cluster: the source's, and each hypothesis's own."""

    shared_2CHK: Tensor
    position: int
    """Tokens read so far, source included."""
    own_2NCHK: Tensor
    pending: list[Tensor] = field(default_factory=list)
    """pair_2NHK of tokens that no slot covers yet; N is 1 for source tokens."""

    @classmethod
    def of(cls, key_CHK: Tensor, value_CHK: Tensor, *, position: int) -> BeamCache:
        """Make the cache of a source."""
        shared_2CHK = torch.stack([key_CHK, value_CHK])
        return cls(shared_2CHK, position, shared_2CHK[:, None, :0])

    def spread(self, num_beams: int) -> BeamCache:
        """Return a copy for N hypotheses; writing to it leaves this one unchanged."""
        own_2NCHK = self.own_2NCHK.expand(-1, num_beams, -1, -1, -1)
        return replace(self, own_2NCHK=own_2NCHK, pending=list(self.pending))

    def append(self, pair_2NHK: Tensor) -> None:
        """Add one entry to each hypothesis."""
        self.own_2NCHK = torch.cat([self.own_2NCHK, pair_2NHK[:, :, None]], dim=2)

    def clear(self) -> None:
        """Drop all entries."""
        self.shared_2CHK = self.shared_2CHK[:, :0]
        self.own_2NCHK = self.own_2NCHK[:, :, :0]

    def select(self, parents_N: Tensor) -> None:
        """Make hypothesis n continue hypothesis parents_N[n]."""
        self.own_2NCHK = self.own_2NCHK[:, parents_N]
        self.pending = [pair if pair.size(1) == 1 else pair[:, parents_N] for pair in self.pending]

    def attend(self, query_NHK: Tensor, scale: float) -> Tensor:
        """Return mixed_NHK of shared and own entries."""
        shared_key_CHK, shared_value_CHK = self.shared_2CHK
        own_key_NCHK, own_value_NCHK = self.own_2NCHK
        shared_HNC = torch.einsum("nhk,chk->hnc", query_NHK, shared_key_CHK)
        own_HNC = torch.einsum("nhk,nchk->hnc", query_NHK, own_key_NCHK)
        weights_HNC = (torch.cat([shared_HNC, own_HNC], dim=-1) * scale).softmax(-1)
        shared_HNC, own_HNC = weights_HNC.tensor_split([len(shared_key_CHK)], dim=-1)
        mixed_NHK = torch.einsum("hnc,chk->nhk", shared_HNC, shared_value_CHK)
        return mixed_NHK + torch.einsum("hnc,nchk->nhk", own_HNC, own_value_NCHK)


CompressedMemory = list[list[BeamCache]]
"""An encoded source: what each layer needs of each cluster to continue it."""


class CompressedState:
    """Unfinished summaries: B clusters with N hypotheses each. `step` writes into it."""

    def __init__(self, encoded: CompressedMemory, num_beams: int) -> None:
        self.layers = [[cache.spread(num_beams) for cache in layer] for layer in encoded]

    def select(self, parents_BN: Tensor) -> None:
        """Make hypothesis n of cluster b continue hypothesis parents_BN[b, n]."""
        for layer in self.layers:
            for cache, parents_N in zip(layer, parents_BN, strict=True):
                cache.select(parents_N)

    def keep(self, clusters: Sequence[int]) -> None:
        """Keep only these clusters, in this order."""
        self.layers = [[layer[cluster] for cluster in clusters] for layer in self.layers]


class BlockAttention(nn.Module):
    """Causal attention within blocks: no token sees past the start of its own block."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.attention = parts.attention()
        self.block_length = BLOCK_LENGTH

    def forward(self, states_RD: Tensor, sequences: Spans) -> Tensor:
        lengths = []
        for length in sequences.lengths:
            num_full, rest = divmod(length, self.block_length)
            lengths += [self.block_length] * num_full + [rest] * (rest > 0)
        result: Tensor = self.attention(states_RD, Spans(tuple(lengths)), is_causal=True)
        return result

    def remember(self, states_MD: Tensor) -> BeamCache:
        """Return the keys and values of the last, incomplete block."""
        num_full = len(states_MD) // self.block_length * self.block_length
        pair = self.attention.project_memory(states_MD[num_full:])
        return BeamCache.of(*pair, position=len(states_MD))

    def extend(self, cache: BeamCache, pair_2NHK: Tensor) -> None:
        """Add each hypothesis's next token; a full block is dropped."""
        if cache.position % self.block_length == 0:
            cache.clear()
        cache.position += 1
        cache.append(pair_2NHK)


class CompressedAttention(nn.Module):
    """Attention to slots of a few tokens each.

        slot_c = W [k_{sc}; ...; k_{sc+s-1}] + b      (the same for values), s tokens per slot

    A convolution with stride equal to its kernel is a linear map of windows. Token t sees the slots
    that end at or before it, and a zero slot, so that the first tokens have something to attend to.
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.attention = parts.attention()
        self.compression = COMPRESSION
        width = parts.config.num_heads * parts.config.attention_head_width
        self.compress_key = Linear(self.compression * width, width)
        self.compress_value = Linear(self.compression * width, width)

    def forward(self, states_RD: Tensor, sequences: Spans) -> Tensor:
        states_RD = self.attention.drop_inputs(states_RD)
        query_RHK = self.attention.project_query(states_RD)
        key_RHK, value_RHK = self.attention.project_memory(states_RD)
        parts = zip(*(sequences.split(x) for x in (query_RHK, key_RHK, value_RHK)))
        mixed = [self._attend(query, *self.slots(key, value)) for query, key, value in parts]
        return self.attention.merge(torch.cat(mixed))

    def slots(self, key_MHK: Tensor, value_MHK: Tensor) -> tuple[Tensor, Tensor]:
        """Return key_CHK and value_CHK of the zero slot and of every full window."""
        num_covered = len(key_MHK) // self.compression * self.compression
        result = []
        for rows, compress in ((key_MHK, self.compress_key), (value_MHK, self.compress_value)):
            # (M, H, K) -> (C, s * H * K)
            windows = rows[:num_covered].reshape(-1, self.compression * rows[0].numel())
            slots_CHK = compress(windows).unflatten(-1, rows.shape[1:])
            result.append(F.pad(slots_CHK, (0, 0, 0, 0, 1, 0)))
        return result[0], result[1]

    def _attend(self, query_MHK: Tensor, key_CHK: Tensor, value_CHK: Tensor) -> Tensor:
        """Let token t = s g + r - 1 see slots 0 to g.

        For one r this is plain causal attention with as many queries as slots, so the queries
        become a batch of s such problems and no mask is needed.
        """
        num_tokens, num_slots, s = len(query_MHK), len(key_CHK), self.compression
        after = num_slots * s - num_tokens - 1
        shifted = F.pad(query_MHK, (0, 0, 0, 0, 1, after)).unflatten(0, (num_slots, s))
        mixed = F.scaled_dot_product_attention(
            shifted.permute(1, 2, 0, 3),  # (C, s, H, K) -> (s, H, C, K)
            key_CHK.transpose(0, 1).expand(s, -1, -1, -1),
            value_CHK.transpose(0, 1).expand(s, -1, -1, -1),
            dropout_p=self.attention.dropout.weights if self.training else 0.0,
            is_causal=True,
            scale=self.attention.scale,
        )
        return mixed.permute(2, 0, 1, 3).flatten(0, 1)[1 : 1 + num_tokens]

    def remember(self, states_MD: Tensor) -> BeamCache:
        """Return the slots of a source, and its last tokens, which do not fill a slot yet."""
        key_MHK, value_MHK = self.attention.project_memory(states_MD)
        num_covered = len(states_MD) // self.compression * self.compression
        cache = BeamCache.of(*self.slots(key_MHK, value_MHK), position=len(states_MD))
        rest_2MHK = torch.stack([key_MHK[num_covered:], value_MHK[num_covered:]])
        cache.pending = list(rest_2MHK.split(1, dim=1)) if rest_2MHK.size(1) else []
        return cache

    def extend(self, cache: BeamCache, pair_2NHK: Tensor) -> None:
        """Add each hypothesis's next token; full windows become slots."""
        cache.position += 1
        cache.pending.append(pair_2NHK)
        if len(cache.pending) < self.compression:
            return
        # Pending source tokens have a single row, shared by all hypotheses.
        window_2NW = torch.cat([pair.expand_as(pair_2NHK).flatten(2) for pair in cache.pending], 2)
        slots = self.compress_key(window_2NW[0]), self.compress_value(window_2NW[1])
        cache.append(torch.stack(slots).view_as(pair_2NHK))
        cache.pending = []


class CausalLayer(nn.Module):
    """A transformer layer of T-DMCA: one kind of attention, then feed-forward."""

    def __init__(self, parts: Parts, *, is_local: bool) -> None:
        super().__init__()
        self.attention = BlockAttention(parts) if is_local else CompressedAttention(parts)
        self.attention_residual = parts.residual()
        self.feed_forward = parts.feed_forward()
        self.feed_forward_residual = parts.residual()

    def forward(
        self, states_RD: Tensor, sequences: Spans, caches: list[BeamCache] | None
    ) -> Tensor:
        """Return the next states; append each sequence's cache to `caches`."""

        def look_back(x: Tensor) -> Tensor:
            if caches is not None:
                caches.extend(map(self.attention.remember, sequences.split(x)))
            return self.attention.forward(x, sequences)

        states_RD = self.attention_residual(states_RD, look_back)
        result: Tensor = self.feed_forward_residual(states_RD, self.feed_forward)
        return result

    def step(self, states_BND: Tensor, caches: list[BeamCache]) -> Tensor:
        """Return the states after one token each."""

        def look_back(x_BND: Tensor) -> Tensor:
            projections = self.attention.attention
            query_BNHK, key_BNHK, value_BNHK = projections.project_all(x_BND)
            mixed = []
            for query, key, value, cache in zip(query_BNHK, key_BNHK, value_BNHK, caches):
                self.attention.extend(cache, torch.stack([key, value]))
                mixed.append(cache.attend(query, projections.scale))
            return projections.merge(torch.stack(mixed))

        states_BND = self.attention_residual(states_BND, look_back)
        result: Tensor = self.feed_forward_residual(states_BND, self.feed_forward)
        return result


class CompressedDecoder(nn.Module):
    """T-DMCA with the common network interface: `encode` reads the source as a prefix."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        parts = Parts(config)
        self.words = parts.words()
        self.layers = nn.ModuleList(
            CausalLayer(parts, is_local=kind == "local") for kind in config.layers
        )
        self.final_norm = parts.pre_norm()
        self.output = parts.output()
        self.dropout = parts.dropout

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.words.weight.device

    def encode(self, batch: Batch) -> CompressedMemory:
        """Read the sources of a batch."""
        caches: CompressedMemory = [[] for _ in self.layers]
        self._run(self.words(batch.source_R), batch.sources, caches)
        return caches

    def forward(self, batch: Batch) -> Tensor:
        """Return logits_YV, the scores of all pieces at each target token."""
        return self.logits(self.states(batch)[1])

    def states(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return states_RD of the source tokens and states_YD of the target tokens.

        The state of a token predicts the next one; that of the last source token the begin piece.
        """
        targets = batch.targets.split(batch.target_inputs())
        pairs = zip(batch.sources.split(batch.source_R), targets)
        words = self.words(torch.cat([ids for pair in pairs for ids in pair]))
        lengths = list(zip(batch.sources.lengths, batch.target_lengths))
        states = self._run(words, Spans(tuple(m + s for m, s in lengths)), None)
        parts = states.split([part for pair in lengths for part in pair])
        return torch.cat(parts[::2]), torch.cat(parts[1::2])

    @torch.no_grad()
    def start(self, encoded: CompressedMemory, num_beams: int) -> CompressedState:
        """Start `num_beams` summaries of each cluster."""
        return CompressedState(encoded, num_beams)

    @torch.no_grad()
    def step(
        self, token_ids_BN: Tensor, state: CompressedState, parents_BN: Tensor | None = None
    ) -> Tensor:
        """Append a token to each hypothesis, or to its parent; return log_probs_BNV of the next."""
        if parents_BN is not None:
            state.select(parents_BN)
        words_BND = self.words(token_ids_BN)
        positions = [cache.position for cache in state.layers[0]]
        position_B = torch.tensor(positions, device=words_BND.device)
        position_BD = sinusoid(position_B, words_BND.size(-1)).to(words_BND.dtype)
        states_BND = words_BND + position_BD[:, None]
        for layer, caches in zip(self.layers, state.layers, strict=True):
            assert isinstance(layer, CausalLayer)
            states_BND = layer.step(states_BND, caches)
        return self.logits(self._normalized(states_BND)).float().log_softmax(-1)

    def _run(
        self, words_RD: Tensor, sequences: Spans, caches: list[list[BeamCache]] | None
    ) -> Tensor:
        longest = torch.arange(max(sequences.lengths), device=words_RD.device)
        table = sinusoid(longest, words_RD.size(-1)).to(words_RD.dtype)
        states_RD = words_RD + table[sequences.positions(words_RD.device)]
        states_RD = drop(states_RD, self.dropout.outputs, self.training)
        for number, layer in enumerate(self.layers):
            states_RD = layer(states_RD, sequences, None if caches is None else caches[number])
        return self._normalized(states_RD)

    def _normalized(self, states: Tensor) -> Tensor:
        return states if self.final_norm is None else self.final_norm(states)

    def logits(self, states: Tensor) -> Tensor:
        """Return the scores of all pieces."""
        return self.output.forward(states, self.words.weight)
