"""Beam search written the usual way, with our decoder's weights, to measure speed against.

Every hypothesis has its own copy of the padded memory and of all keys and values; after each step
all of them are index-selected, as the released code does. The hypotheses are our search's: the
released stopping rule.
"""

from __future__ import annotations

import torch
from torch import Tensor

from hiersum.config import SearchConfig
from hiersum.model.attention import MultiHeadAttention
from hiersum.model.decoder import EncoderOutput
from hiersum.model.layers import sinusoid
from hiersum.model.network import EncoderDecoder
from hiersum.writing.beam import length_penalty


class PlainState:
    """Per layer, keys and values of source and summary; per hypothesis, all of them."""

    def __init__(self, memory_WMD: Tensor, is_padding_WM: Tensor) -> None:
        self.memory_WMD = memory_WMD
        self.is_padding_WM = is_padding_WM
        self.layers: list[dict[str, Tensor]] = []

    def select(self, rows_W: Tensor) -> None:
        """Copy everything."""
        self.memory_WMD = self.memory_WMD.index_select(0, rows_W)
        self.is_padding_WM = self.is_padding_WM.index_select(0, rows_W)
        self.layers = [
            {name: cache.index_select(0, rows_W) for name, cache in layer.items()}
            for layer in self.layers
        ]


class PlainSearch:
    """Profile `hiersumm`; hypotheses of all clusters are rows W of one batch."""

    def __init__(self, network: EncoderDecoder) -> None:
        self.network = network

    @torch.no_grad()
    def __call__(self, encoded: EncoderOutput, config: SearchConfig) -> list[tuple[int, ...]]:
        """Return the best hypothesis of each cluster."""
        beam_size, num_clusters = config.beam_size, len(encoded.sources.lengths)
        state = self._start(encoded, beam_size)
        begin_id, end_id = self.network.config.begin_id, self.network.config.end_id
        tokens_WS = torch.full((num_clusters * beam_size, 1), begin_id)
        first_N = torch.tensor([0.0] + [-torch.inf] * (beam_size - 1))
        log_prob_BN = first_N.repeat(num_clusters, 1)
        clusters = list(range(num_clusters))
        filed: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in clusters]
        for length in range(1, config.max_length + 1):
            log_probs_WV = self._step(tokens_WS[:, -1], length - 1, state)
            if length <= config.min_length:
                log_probs_WV[:, end_id] = -torch.inf
            vocab_size = log_probs_WV.size(1)
            total_WV = log_probs_WV + log_prob_BN.view(-1, 1)
            penalty = length_penalty(length, config.length_penalty)
            score_BW = (total_WV / penalty).view(len(clusters), beam_size * vocab_size)
            score_BN, flat_BN = score_BW.topk(beam_size)
            log_prob_BN = score_BN * penalty
            start_B1 = torch.arange(len(clusters))[:, None] * beam_size
            rows_BN = flat_BN // vocab_size + start_B1
            next_W1 = (flat_BN % vocab_size).view(-1, 1)
            tokens_WS = torch.cat([tokens_WS.index_select(0, rows_BN.view(-1)), next_W1], dim=1)
            has_ended_BN = (next_W1 == end_id).view(len(clusters), beam_size)
            is_last = length == config.max_length
            kept = []
            for row, cluster in enumerate(clusters):
                is_over = is_last or bool(has_ended_BN[row, 0])
                for n in range(beam_size):
                    if is_over or has_ended_BN[row, n]:
                        written = tuple(tokens_WS[row * beam_size + n, 1:].tolist())
                        filed[cluster].append((float(score_BN[row, n]), written))
                if not is_over:
                    kept.append(row)
            if not kept:
                break
            clusters = [clusters[row] for row in kept]
            log_prob_BN = log_prob_BN[kept]
            tokens_WS = tokens_WS.view(-1, beam_size, length + 1)[kept].flatten(0, 1)
            state.select(rows_BN[kept].view(-1))
        return [max(hypotheses, key=lambda pair: pair[0])[1] for hypotheses in filed]

    def _start(self, encoded: EncoderOutput, beam_size: int) -> PlainState:
        padded_BMD = torch.nn.utils.rnn.pad_sequence(
            list(encoded.sources.split(encoded.states_RD)), batch_first=True
        )
        lengths_B1 = torch.tensor(encoded.sources.lengths)[:, None]
        is_padding_BM = torch.arange(padded_BMD.size(1)) >= lengths_B1
        state = PlainState(
            padded_BMD.repeat_interleave(beam_size, 0),
            is_padding_BM.repeat_interleave(beam_size, 0),
        )
        for layer in self.network.decoder.layers:
            key, value = self._project(layer.source_attention, state.memory_WMD)
            empty = key[:, :, :0]
            state.layers.append(
                {"source_key": key, "source_value": value, "key": empty, "value": empty}
            )
        return state

    def _step(self, token_W: Tensor, place: int, state: PlainState) -> Tensor:
        words_W1D = self.network.target_words(token_W)[:, None]
        states = words_W1D + sinusoid(torch.tensor([place]), words_W1D.size(-1))
        for layer, cache in zip(self.network.decoder.layers, state.layers):
            x = layer.self_residual.norm(states)
            key, value = self._project(layer.self_attention, x)
            cache["key"] = torch.cat([cache["key"], key], dim=2)
            cache["value"] = torch.cat([cache["value"], value], dim=2)
            states = states + self._attend(
                layer.self_attention, x, cache["key"], cache["value"], None
            )
            x = layer.source_residual.norm(states)
            states = states + self._attend(
                layer.source_attention,
                x,
                cache["source_key"],
                cache["source_value"],
                state.is_padding_WM,
            )
            states = states + layer.feed_forward(layer.feed_forward_residual.norm(states))
        states = self.network.decoder.final_norm(states)[:, 0]
        logits = self.network.output(states, self.network.target_words.weight)
        return logits.log_softmax(-1)

    def _project(self, attention: MultiHeadAttention, states: Tensor) -> tuple[Tensor, Tensor]:
        key, value = attention.project_memory(states)
        return key.transpose(1, 2), value.transpose(1, 2)

    def _attend(
        self,
        attention: MultiHeadAttention,
        states: Tensor,
        key: Tensor,
        value: Tensor,
        is_hidden_WM: Tensor | None,
    ) -> Tensor:
        query = attention.project_query(states).transpose(1, 2) * attention.scale
        score = query @ key.transpose(-1, -2)
        if is_hidden_WM is not None:
            is_hidden = is_hidden_WM[:, None, None].expand_as(score)
            score = score.masked_fill(is_hidden, -1e18)
        return attention.merge((score.softmax(-1) @ value).transpose(1, 2))
