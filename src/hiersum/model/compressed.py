"""T-DMCA: a decoder that reads the source and then writes on (Liu et al., 2018, "Generating
Wikipedia").

One causal stack over source + summary. Layers alternate attention within blocks of the sequence and
attention to a compressed memory of all of it, in which a strided convolution has made one key and
value of every few tokens.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hiersum.config import ModelConfig
from hiersum.errors import InputError
from hiersum.model.batch import Batch
from hiersum.model.beam_cache import BeamCache, CompressedMemory, CompressedState, attend_cache
from hiersum.model.layers import drop, sinusoid
from hiersum.model.parts import Parts
from hiersum.model.spans import Spans


class BlockAttention(nn.Module):
    """Causal attention within blocks: no token sees past the start of its own block."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.attention = parts.attention()
        self.block_length = parts.config.block_length

    def forward(self, states_RD: Tensor, sequences: Spans) -> Tensor:
        lengths = []
        for length in sequences.lengths:
            num_full, rest = divmod(length, self.block_length)
            lengths += [self.block_length] * num_full + [rest] * (rest > 0)
        result: Tensor = self.attention(states_RD, Spans(tuple(lengths)), is_causal=True)
        return result

    def remember(self, states_RD: Tensor, sequences: Spans) -> list[BeamCache]:
        """Return, per sequence, the keys and values of the block that is not yet full."""
        caches = []
        for states_MD in sequences.split(states_RD):
            num_full = len(states_MD) // self.block_length * self.block_length
            key_MHK, value_MHK = self.attention.project_memory(states_MD[num_full:])
            caches.append(BeamCache.of(key_MHK, value_MHK, position=len(states_MD)))
        return caches

    def extend(self, cache: BeamCache, key_NHK: Tensor, value_NHK: Tensor) -> None:
        """Let each hypothesis remember its next token; a full block is forgotten."""
        if cache.position % self.block_length == 0:
            cache.forget()
        cache.append(key_NHK, value_NHK)


class CompressedAttention(nn.Module):
    """Attention to slots of a few tokens each.

        slot_c = W [k_{sc}; ...; k_{sc+s-1}] + b      (the same for values), s tokens per slot

    A convolution whose stride is its kernel is a linear map of windows. Token t sees the slots that
    end at or before it, and a slot of zeros, so that the first tokens have something to look at.
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.attention = parts.attention()
        self.compression = parts.config.compression
        width = parts.config.num_heads * parts.config.attention_head_width
        self.compress_key = nn.Linear(self.compression * width, width)
        self.compress_value = nn.Linear(self.compression * width, width)

    def forward(self, states_RD: Tensor, sequences: Spans) -> Tensor:
        states_RD = self.attention.drop_inputs(states_RD)
        query_RHK = self.attention.project_query(states_RD)
        key_RHK, value_RHK = self.attention.project_memory(states_RD)
        parts = zip(*(sequences.split(x) for x in (query_RHK, key_RHK, value_RHK)))
        mixed = [self._attend(query, *self.slots(key, value)) for query, key, value in parts]
        return self.attention.merge(torch.cat(mixed))

    def slots(self, key_MHK: Tensor, value_MHK: Tensor) -> tuple[Tensor, Tensor]:
        """Return key_CHK and value_CHK of the slot of zeros and of every full window."""
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

        For one r that is plain causal attention of as many queries as there are slots, so the
        queries become a batch of s such problems and no mask is needed.
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

    def remember(self, states_RD: Tensor, sequences: Spans) -> list[BeamCache]:
        """Return, per sequence, its slots and the tokens that do not fill one yet."""
        caches = []
        for states_MD in sequences.split(states_RD):
            key_MHK, value_MHK = self.attention.project_memory(states_MD)
            num_covered = len(states_MD) // self.compression * self.compression
            cache = BeamCache.of(*self.slots(key_MHK, value_MHK), position=len(states_MD))
            cache.pending = [
                (key[None], value[None])
                for key, value in zip(key_MHK[num_covered:], value_MHK[num_covered:])
            ]
            caches.append(cache)
        return caches

    def extend(self, cache: BeamCache, key_NHK: Tensor, value_NHK: Tensor) -> None:
        """Let each hypothesis remember its next token; enough of them become a slot."""
        cache.position += 1
        cache.pending.append((key_NHK, value_NHK))
        if len(cache.pending) < self.compression:
            return
        keys, values = zip(*cache.pending)
        cache.pending = []
        slot = []
        for rows, compress in ((keys, self.compress_key), (values, self.compress_value)):
            # Pending source tokens have one row for all hypotheses.
            window = torch.cat([row.expand_as(key_NHK).flatten(1) for row in rows], dim=1)
            slot.append(compress(window).unflatten(-1, key_NHK.shape[1:]))
        cache.append(slot[0], slot[1], num_tokens=0)


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
        """Return the next states; fill `caches` with what a continuation needs."""

        def look_back(x: Tensor) -> Tensor:
            if caches is not None:
                caches.extend(self.attention.remember(x, sequences))
            return self.attention.forward(x, sequences)

        states_RD = self.attention_residual(states_RD, look_back)
        result: Tensor = self.feed_forward_residual(states_RD, self.feed_forward)
        return result

    def step(self, states_BND: Tensor, caches: list[BeamCache], weights: list[Tensor]) -> Tensor:
        """Return the states after one token each; append weights_HNC per cluster to `weights`."""

        def look_back(x_BND: Tensor) -> Tensor:
            projections = self.attention.attention
            query_BNHK = projections.project_query(x_BND)
            key_BNHK, value_BNHK = projections.project_memory(x_BND)
            mixed = []
            for query, key, value, cache in zip(query_BNHK, key_BNHK, value_BNHK, caches):
                self.attention.extend(cache, key, value)
                mixed_NHK, weights_HNC = attend_cache(query, cache, projections.scale)
                mixed.append(mixed_NHK)
                weights.append(weights_HNC)
            return projections.merge(torch.stack(mixed))

        states_BND = self.attention_residual(states_BND, look_back)
        result: Tensor = self.feed_forward_residual(states_BND, self.feed_forward)
        return result


class CompressedDecoder(nn.Module):
    """T-DMCA with the interface of all networks: encoding is reading the source as a prefix."""

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
        """Where the weights are."""
        return self.words.weight.device

    def encode(self, batch: Batch) -> CompressedMemory:
        """Read the sources of a batch."""
        caches: list[list[BeamCache]] = [[] for _ in self.layers]
        self._run(self.words(batch.source_R), batch.sources, caches)
        return CompressedMemory(caches, batch.sources)

    def forward(self, batch: Batch) -> Tensor:
        """Return logits_YV: the score of every piece at each token of the given targets."""
        if batch.input_Y is None:
            raise InputError("the batch has no targets to score; give it some with with_targets")
        pairs = zip(batch.sources.split(batch.source_R), batch.targets.split(batch.input_Y))
        words = self.words(torch.cat([ids for pair in pairs for ids in pair]))
        lengths = [(m, s) for m, s in zip(batch.sources.lengths, batch.target_lengths)]
        states = self._run(words, Spans(tuple(m + s for m, s in lengths)), None)
        parts = states.split([part for pair in lengths for part in pair])
        return self._logits(torch.cat(parts[1::2]))

    @torch.no_grad()
    def source_attention(self, batch: Batch) -> list[Tensor]:
        """Return, per cluster, weights_SM: how much each target token looks at each source token.

        Averaged over compressed layers and heads, a slot's weight spread over its tokens; rows sum
        to 1.
        """
        if batch.input_Y is None:
            raise InputError("the batch has no targets to score; give it some with with_targets")
        state = self.start(self.encode(batch), 1, with_attention=True)
        input_BS = nn.utils.rnn.pad_sequence(
            list(batch.targets.split(batch.input_Y)), batch_first=True
        )
        rows: list[list[Tensor]] = [[] for _ in range(len(batch))]
        for token_B in input_BS.T:
            self.step(token_B[:, None], state)
            for row, weights_NM in zip(rows, state.attention):
                row.append(weights_NM[0])
        return [torch.stack(row[:length]) for row, length in zip(rows, batch.target_lengths)]

    @torch.no_grad()
    def start(
        self, memory: CompressedMemory, num_beams: int, with_attention: bool = False
    ) -> CompressedState:
        """Begin `num_beams` summaries of each cluster."""
        return CompressedState(memory, num_beams, with_attention)

    @torch.no_grad()
    def step(self, token_ids_BN: Tensor, state: CompressedState) -> Tensor:
        """Append a token to each hypothesis; return log_probs_BNV of the next one."""
        words_BND = self.words(token_ids_BN)
        positions = [cache.position for cache in state.layers[0]]
        position_B = torch.tensor(positions, device=words_BND.device)
        position_BD = sinusoid(position_B, words_BND.size(-1)).to(words_BND.dtype)
        states_BND = words_BND + position_BD[:, None]
        slot_weights = []
        for layer, caches in zip(self.layers, state.layers, strict=True):
            assert isinstance(layer, CausalLayer)
            weights: list[Tensor] = []
            states_BND = layer.step(states_BND, caches, weights)
            if isinstance(layer.attention, CompressedAttention):
                slot_weights.append(weights)
        if state.with_attention:
            state.spread_attention(slot_weights, self.config.compression)
        return self._logits(self._normalized(states_BND)).float().log_softmax(-1)

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

    def _logits(self, states: Tensor) -> Tensor:
        return self.output.forward(states, self.words.weight)
