"""Networks for training and search, and `build_network`, which makes them from a config.

Every network has `forward(batch)` for training, and `encode(batch)`, `start(encoded, num_beams)`
and `step(token_ids, state)` for search; its state has `select(parents)` and `keep(clusters)`.
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
from hiersum.model.decoder import Decoder, EncoderOutput
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
            self.planner = Planner(
                width=config.width, hidden_width=config.planner_width, dropout=config.dropout
            )

    @property
    def target_words(self) -> WordEmbedding:
        """The embedding of summary tokens: by default that of source tokens."""
        return self.source_words if self.own_target_words is None else self.own_target_words

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.source_words.weight.device

    def encode(self, batch: Batch) -> EncoderOutput:
        """Read the sources of a batch."""
        states_RD = self.encoder(self.source_words(batch.source_R), batch)
        return EncoderOutput(states_RD, batch.sources)

    def forward(self, batch: Batch) -> Tensor:
        """Return logits_YV, the scores of all pieces at each target token."""
        return self._logits(self.decode(batch, self.encode(batch)))

    def forward_with_plans(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return logits_YV, and the planner's loss summed over the boundaries of all targets."""
        if self.planner is None or batch.plans is None:
            raise InputError("a planner is trained on batches with plans (model.planner_width)")
        encoded = self.encode(batch)
        states_YD = self.decode(batch, encoded)
        ended, sources = self.sentence_ends(states_YD, batch), self.source_sentences(encoded, batch)
        losses = list(map(self.planner.loss, ended, sources, batch.plans))
        return self._logits(states_YD), torch.stack(losses).sum()

    def sentence_ends(self, states_YD: Tensor, batch: Batch) -> list[Tensor]:
        """Return ended_KD per cluster: the states that predict the ends of its target sentences."""
        pairs = zip(batch.targets.split(states_YD), batch.stretches)
        return [states[[end - 1 for end in accumulate(lengths)]] for states, lengths in pairs]

    def source_sentences(self, encoded: EncoderOutput, batch: Batch) -> list[SourceSentences]:
        """Return the planner's view of each cluster's sentences."""
        assert batch.outlines is not None
        parts = encoded.sources.split(encoded.states_RD)
        return list(map(pool_sentences, parts, batch.outlines, batch.ranks))

    @torch.no_grad()
    def read_written(
        self,
        encoded: EncoderOutput,
        outlines: Sequence[Outline],
        plans: Sequence[Sequence[Plan]],
        summaries: Sequence[Sequence[int]],
    ) -> tuple[Written, list[Tensor]]:
        """Encode the summaries so far, to continue them.

        Args:
            encoded: the sources.
            outlines: the source sentences.
            plans: for each cluster the plans of its sentences so far; empty if it has none.
            summaries: for each cluster with plans its pieces, each sentence with its end piece.

        Returns:
            The state to continue from, and for each cluster with plans ended_D, the state that
            predicted its last end piece.
        """
        stretches = [cut_stretches(ids, self.config.end_id) for ids in summaries]
        begun = [[self.config.begin_id, *ids[:-1]] for ids in summaries]
        rows = plan_rows(outlines, plans, stretches)
        spans = Spans(tuple(map(len, begun)))
        input_Y = torch.tensor([token for ids in begun for token in ids], device=self.device)
        seen: list[tuple[Tensor, Tensor]] = []
        states_YD = self.decoder(
            self.target_words(input_Y),
            encoded.narrowed(rows),
            spans,
            stretches=rows.stretches,
            written=seen,
        )
        return Written(seen, spans), [part[-1] for part in spans.split(states_YD)]

    @torch.no_grad()
    def paragraph_attention(self, batch: Batch) -> list[Tensor]:
        """Return, per cluster, weights_LHPP: the attention between paragraphs.

        L are the global layers, first to last; a flat network has none. Rows sum to 1.
        """
        layers: list[list[Tensor]] = []
        self.encoder(self.source_words(batch.source_R), batch, layers)
        return [torch.stack(of_cluster) for of_cluster in zip(*layers)]

    @torch.no_grad()
    def start(self, encoded: EncoderOutput, num_beams: int) -> DecoderState:
        """Start `num_beams` summaries of each cluster."""
        return self.decoder.start(encoded, num_beams)

    @torch.no_grad()
    def step(
        self, token_ids_BN: Tensor, state: DecoderState, parents_BN: Tensor | None = None
    ) -> Tensor:
        """Append a token to each hypothesis, or to its parent; return log_probs_BNV of the next."""
        if parents_BN is not None:
            state.select(parents_BN)
        states_BND = self.decoder.step(self.target_words(token_ids_BN), state)
        return self._logits(states_BND).float().log_softmax(-1)

    def decode(self, batch: Batch, encoded: EncoderOutput) -> Tensor:
        """Return states_YD of the batch's targets."""
        rows = batch.planned_rows
        states_YD: Tensor = self.decoder(
            self.target_words(batch.target_inputs()),
            encoded if rows is None else encoded.narrowed(rows),
            batch.targets,
            stretches=None if rows is None else rows.stretches,
        )
        return states_YD

    def _logits(self, states: Tensor) -> Tensor:
        return self.output.forward(states, self.target_words.weight)


Network = EncoderDecoder | CompressedDecoder


def with_planner(network: Network, width: int) -> EncoderDecoder:
    """Add a new planner to a trained network; everything else is unchanged."""
    config = replace(network.config, planner_width=width)
    if not isinstance(network, EncoderDecoder) or network.planner is not None or not width:
        raise ConfigError("a planner is added to a hierarchical network that has none")
    network.config = config
    network.planner = Planner(width=config.width, hidden_width=width, dropout=config.dropout)
    initialize(network.planner)
    network.planner.expect_few_joins()
    return network


def build_network(config: ModelConfig) -> Network:
    """Build the network that a config describes, with new weights."""
    is_compressed = config.architecture == "tdmca"
    network = CompressedDecoder(config) if is_compressed else EncoderDecoder(config)
    initialize(network)
    if isinstance(network, EncoderDecoder):
        if network.planner is not None:
            network.planner.expect_few_joins()
        if config.profile == "t5":
            network.encoder.silence_global_layers()
    return network
