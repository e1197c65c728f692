"""The decoder: from the summary so far to the states that predict its next tokens.

Training reads whole targets at once (`Decoder.forward`); search reads one token per hypothesis
(`Decoder.step`) and keeps keys and values in a `DecoderState`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hiersum.model.decoder_state import (
    FIRST_CAPACITY,
    DecoderState,
    LayerCache,
    Written,
    attend_to_blocks,
    source_blocks,
)
from hiersum.model.layers import drop, sinusoid
from hiersum.model.parts import Parts
from hiersum.model.planner import PlannedRows
from hiersum.model.spans import Spans


@dataclass(frozen=True)
class EncoderOutput:
    """The encoder's output, as the decoder reads it."""

    states_RD: Tensor
    """One state per real source token, cluster after cluster, paragraph after paragraph."""
    sources: Spans
    """Source tokens of each cluster."""
    written: Written | None = None
    """The summaries so far, for a search that continues them."""

    def narrowed(self, rows: PlannedRows, written: Written | None = None) -> EncoderOutput:
        """Return one source per stretch of planned targets: the rows it may attend to."""
        row_R = rows.row_R.to(self.states_RD.device)
        return EncoderOutput(self.states_RD[row_R], rows.sources, written)


class DecoderLayer(nn.Module):
    """Self-attention over the summary so far, attention to the source, feed-forward."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.self_attention = parts.attention()
        self.self_residual = parts.residual()
        self.source_attention = parts.attention()
        self.source_residual = parts.residual()
        self.feed_forward = parts.feed_forward()
        self.feed_forward_residual = parts.residual()

    def forward(
        self,
        states_YD: Tensor,
        encoded: EncoderOutput,
        targets: Spans,
        bias_HSS: Tensor | None,
        *,
        stretches: Spans | None = None,
        written: list[tuple[Tensor, Tensor]] | None = None,
    ) -> Tensor:
        """Return the next states.

        `stretches` has the target tokens of each source; if None, there is one source per target.
        `written` receives key_YHK and value_YHK of the targets.
        """

        def look_back(x: Tensor) -> Tensor:
            is_causal = bias_HSS is None  # the bias already masks later tokens with -inf
            return self.self_attention.forward(
                x, targets, is_causal=is_causal, bias_HTT=bias_HSS, seen=written
            )

        def look_at_source(x: Tensor) -> Tensor:
            return self.source_attention.across(
                x, encoded.states_RD, stretches or targets, encoded.sources
            )

        states_YD = self.self_residual(states_YD, look_back)
        states_YD = self.source_residual(states_YD, look_at_source)
        result: Tensor = self.feed_forward_residual(states_YD, self.feed_forward)
        return result

    def step(
        self, states_BND: Tensor, cache: LayerCache, num_stored: int, mask_BHNX: Tensor | None
    ) -> Tensor:
        """Return the states after one more token.

        Modules are not called but their `forward` is: for a few rows, a call costs as much as a sum.
        """
        attention, residual = self.self_attention, self.self_residual
        query_BNHK, key_BNHK, value_BNHK = attention.project_all(residual.enter(states_BND))
        key_BHXK, value_BHXK = cache.append(key_BNHK, value_BNHK, num_stored)
        mixed_BHNK = F.scaled_dot_product_attention(
            query_BNHK.transpose(1, 2),
            key_BHXK,
            value_BHXK,
            attn_mask=mask_BHNX,
            scale=attention.scale,
        )
        states_BND = residual.leave(states_BND, attention.merge(mixed_BHNK.transpose(1, 2)))
        attention, residual = self.source_attention, self.source_residual
        query_BNHK = attention.project_query(residual.enter(states_BND))
        mixed_BNHK = attend_to_blocks(query_BNHK, cache.sources, attention.scale)
        states_BND = residual.leave(states_BND, attention.merge(mixed_BNHK))
        residual = self.feed_forward_residual
        change_BND = self.feed_forward.forward(residual.enter(states_BND))
        return residual.leave(states_BND, change_BND)


class Decoder(nn.Module):
    """A stack of decoder layers, with sinusoidal positions unless they are relative."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(parts) for _ in range(parts.config.num_decoder_layers)
        )
        self.relative_bias = parts.relative_bias(bidirectional=False)
        self.final_norm = parts.pre_norm()
        self.dropout = parts.dropout
        self.half_source = False
        """Keep source keys and values in bfloat16 during search."""

    def forward(
        self,
        words_YD: Tensor,
        encoded: EncoderOutput,
        targets: Spans,
        *,
        stretches: Spans | None = None,
        written: list[tuple[Tensor, Tensor]] | None = None,
    ) -> Tensor:
        """Return states_YD; each depends on its target up to itself. Arguments as in the layer."""
        longest = max(targets.lengths)
        states_YD = words_YD
        if self.relative_bias is None:
            table = sinusoid(torch.arange(longest, device=words_YD.device), words_YD.size(-1))
            states_YD = states_YD + table[targets.positions(words_YD.device)].to(words_YD.dtype)
        states_YD = drop(states_YD, self.dropout.outputs, self.training)
        bias_HSS = None
        if self.relative_bias is not None:
            bias_HSS = self.relative_bias(longest, longest)
            later_SS = torch.ones_like(bias_HSS[0], dtype=torch.bool).triu(1)
            bias_HSS = bias_HSS.masked_fill(later_SS, -torch.inf)
        for layer in self.layers:
            states_YD = layer(
                states_YD, encoded, targets, bias_HSS, stretches=stretches, written=written
            )
        return states_YD if self.final_norm is None else self.final_norm(states_YD)

    def start(self, encoded: EncoderOutput, num_beams: int) -> DecoderState:
        """Project the source once per layer and cluster."""
        caches = []
        for layer in self.layers:
            assert isinstance(layer, DecoderLayer)
            key_RHK, value_RHK = layer.source_attention.project_memory(encoded.states_RD)
            blocks = source_blocks(
                key_RHK, value_RHK, encoded.sources, num_beams, half=self.half_source
            )
            heads = (2, len(encoded.sources.lengths), key_RHK.size(1), 0, key_RHK.size(2))
            caches.append(LayerCache(blocks, written_2BHXK=key_RHK.new_empty(heads)))
        state = DecoderState(caches, num_beams)
        if encoded.written is not None:
            state.continue_from(encoded.written)
        return state

    def step(self, words_BND: Tensor, state: DecoderState) -> Tensor:
        """Return states_BND after one more token of each hypothesis."""
        states_BND = words_BND
        if self.relative_bias is None:
            place_BD = sinusoid(state.length - state.shift_B, words_BND.size(-1))
            states_BND = states_BND + place_BD[:, None].to(words_BND.dtype)
        state.advance()
        bias_HS = None
        if self.relative_bias is not None:
            if state.bias_HS is None or state.bias_HS.size(1) < state.length:
                state.bias_HS = self.relative_bias(1, 2 * state.length + FIRST_CAPACITY)[:, 0]
            bias_HS = state.bias_HS[:, -state.length :]  # it depends on the distance to the end
        mask_BHNX = state.mask(bias_HS)
        for layer, cache in zip(self.layers, state.layers, strict=True):
            assert isinstance(layer, DecoderLayer)
            states_BND = layer.step(states_BND, cache, state.num_stored, mask_BHNX)
        return states_BND if self.final_norm is None else self.final_norm(states_BND)
