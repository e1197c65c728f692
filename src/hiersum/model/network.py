"""Networks as training and search know them, and the one function that builds them from a config.

Every network has `encode(batch)`, `start(memory, num_beams)`, `step(token_ids, state)` for search,
and `forward(batch)` for training; its state has `select(parents)` and `keep(clusters)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import torch
from torch import Tensor, nn

from hiersum.config import ModelConfig
from hiersum.errors import ConfigError, InputError
from hiersum.model.batch import Batch
from hiersum.model.compressed import CompressedDecoder
from hiersum.model.decoder import Decoder, Memory, mean_weights
from hiersum.model.decoder_state import DecoderState, Written
from hiersum.model.encoder import Encoder
from hiersum.model.layers import WordEmbedding, initialize
from hiersum.model.parts import Parts
from hiersum.model.planner import (
    Outline,
    Plan,
    Planner,
    SourceSentences,
    cut_stretches,
    plan_rows,
    pool_sentences,
)
from hiersum.model.spans import Spans


class EncoderDecoder(nn.Module):
    """The hierarchical and the flat transformer, of any profile."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        parts = Parts(config)
        self.source_words = parts.words()
        self.own_target_words = None if config.shared_embeddings else parts.words()
        self.encoder = Encoder(parts)
        self.decoder = Decoder(parts)
        self.output = parts.output()
        self.planner: Planner | None = None
        if config.planner_width:
            self.planner = Planner(width=config.width, hidden_width=config.planner_width)

    @property
    def target_words(self) -> WordEmbedding:
        """The embedding of the summary's tokens; the source's, unless they are kept apart."""
        return self.source_words if self.own_target_words is None else self.own_target_words

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.source_words.weight.device

    def encode(self, batch: Batch) -> Memory:
        """Read the sources of a batch."""
        states_RD = self.encoder(self.source_words(batch.source_R), batch)
        return Memory(states_RD, batch.sources)

    def forward(self, batch: Batch) -> Tensor:
        """Return logits_YV: the score of every piece at each token of the given targets."""
        return self._logits(self._decode(batch, self.encode(batch), None))

    def forward_with_plans(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return logits_YV, and the planner's loss summed over the boundaries of all targets.

        Raises:
            InputError: the network has no planner, or the batch no plans.
        """
        if self.planner is None or batch.plans is None:
            raise InputError("a planner is trained on batches with plans (model.planner_width)")
        memory = self.encode(batch)
        states_YD = self._decode(batch, memory, None)
        losses = []
        for ended_KD, source, plans in zip(
            self._ended(states_YD, batch), self.source_sentences(memory, batch), batch.plans
        ):
            losses.append(self.planner.loss(ended_KD, source, plans))
        return self._logits(states_YD), torch.stack(losses).sum()

    def source_sentences(self, memory: Memory, batch: Batch) -> list[SourceSentences]:
        """Return what a planner knows of each cluster's sentences."""
        assert batch.outlines is not None
        parts = memory.sources.split(memory.states_RD)
        return list(map(pool_sentences, parts, batch.outlines, batch.ranks))

    @torch.no_grad()
    def read_written(
        self,
        memory: Memory,
        outlines: Sequence[Outline],
        plans: Sequence[Sequence[Plan]],
        summaries: Sequence[Sequence[int]],
    ) -> tuple[Written, list[Tensor]]:
        """Read summaries so far, to go on with them.

        Args:
            memory: the sources.
            outlines: their sentences.
            plans: of each cluster the plan of each sentence written; none where it takes no part.
            summaries: of each cluster that takes part the pieces written, each sentence with its
                end piece.

        Returns:
            What a search goes on from, and ended_D of each of these clusters: the state that
            predicted the last end.
        """
        stretches = [cut_stretches(ids, self.config.end_id) for ids in summaries]
        begun = [[self.config.begin_id, *ids[:-1]] for ids in summaries]
        rows = plan_rows(outlines, plans, stretches)
        spans = Spans(tuple(map(len, begun)))
        input_Y = torch.tensor([token for ids in begun for token in ids], device=self.device)
        seen: list[tuple[Tensor, Tensor]] = []
        states_YD = self.decoder(
            self.target_words(input_Y),
            memory.narrowed(rows),
            spans,
            stretches=rows.stretches,
            written=seen,
        )
        return Written(seen, spans), [part[-1] for part in spans.split(states_YD)]

    def _ended(self, states_YD: Tensor, batch: Batch) -> list[Tensor]:
        """Return, per cluster, ended_KD: the states that predict the ends of its sentences."""
        ended = []
        for part, stretches in zip(batch.targets.split(states_YD), batch.stretches):
            ended.append(part[[end - 1 for end in accumulate(stretches)]])
        return ended

    @torch.no_grad()
    def source_attention(self, batch: Batch) -> list[Tensor]:
        """Return, per cluster, weights_SM: how much each target token looks at each source token.

        Averaged over layers and heads; rows sum to 1. Row s belongs to the prediction of label s.
        """
        weights: list[list[Tensor]] = []
        self._decode(batch, self.encode(batch), weights)
        return mean_weights(weights)

    @torch.no_grad()
    def paragraph_attention(self, batch: Batch) -> list[Tensor]:
        """Return, per cluster, weights_LHPP: how much each paragraph attends to the others.

        L are the global layers, first to last; a flat network has none. Rows sum to 1.
        """
        layers: list[list[Tensor]] = []
        self.encoder(self.source_words(batch.source_R), batch, layers)
        return [torch.stack(of_cluster) for of_cluster in zip(*layers)]

    @torch.no_grad()
    def start(self, memory: Memory, num_beams: int, with_attention: bool = False) -> DecoderState:
        """Begin `num_beams` summaries of each cluster."""
        return self.decoder.start(memory, num_beams, with_attention)

    @torch.no_grad()
    def step(self, token_ids_BN: Tensor, state: DecoderState) -> Tensor:
        """Append a token to each hypothesis; return log_probs_BNV of the next one."""
        states_BND = self.decoder.step(self.target_words(token_ids_BN), state)
        return self._logits(states_BND).float().log_softmax(-1)

    def _decode(
        self,
        batch: Batch,
        memory: Memory,
        weights: list[list[Tensor]] | None,
        written: list[tuple[Tensor, Tensor]] | None = None,
    ) -> Tensor:
        if batch.input_Y is None:
            raise InputError("the batch has no targets to score; give it some with with_targets")
        words_YD = self.target_words(batch.input_Y)
        rows = batch.planned_rows
        states_YD: Tensor = self.decoder(
            words_YD,
            memory if rows is None else memory.narrowed(rows),
            batch.targets,
            weights,
            stretches=None if rows is None else rows.stretches,
            written=written,
        )
        return states_YD

    def _logits(self, states: Tensor) -> Tensor:
        return self.output.forward(states, self.target_words.weight)


Network = EncoderDecoder | CompressedDecoder


def with_planner(network: Network, width: int) -> EncoderDecoder:
    """Give a trained network a fresh planner; everything else stays as it is.

    Raises:
        ConfigError: the network reads its source as one sequence, or has a planner already.
    """
    config = replace(network.config, planner_width=width)
    if not isinstance(network, EncoderDecoder) or network.planner is not None or not width:
        raise ConfigError("a planner is added to a hierarchical network that has none")
    network.config = config
    network.planner = Planner(width=config.width, hidden_width=width)
    initialize(network.planner)
    network.planner.expect_few_joins()
    return network


def build_network(config: ModelConfig) -> Network:
    """Make the network that a config describes, with fresh weights."""
    is_compressed = config.architecture == "tdmca"
    network = CompressedDecoder(config) if is_compressed else EncoderDecoder(config)
    initialize(network)
    if isinstance(network, EncoderDecoder):
        if network.planner is not None:
            network.planner.expect_few_joins()
        if config.profile == "t5":
            network.encoder.silence_global_layers()
    return network
