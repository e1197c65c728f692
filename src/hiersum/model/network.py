"""Networks as training and search know them, and the one function that builds them from a config.

Every network has `encode(batch)`, `start(memory, num_beams)`, `step(token_ids, state)` for search,
and `forward(batch)` for training; its state has `select(parents)` and `keep(clusters)`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hiersum.config import ModelConfig
from hiersum.errors import InputError
from hiersum.model.batch import Batch
from hiersum.model.build import Builder
from hiersum.model.compressed import CompressedDecoder
from hiersum.model.decoder import Decoder, Memory, mean_weights
from hiersum.model.decoder_state import DecoderState
from hiersum.model.encoder import Encoder
from hiersum.model.layers import Output, WordEmbedding, initialize


class EncoderDecoder(nn.Module):
    """The hierarchical and the flat transformer, of any profile."""

    def __init__(
        self,
        *,
        config: ModelConfig,
        source_words: WordEmbedding,
        target_words: WordEmbedding | None,
        encoder: Encoder,
        decoder: Decoder,
        output: Output,
    ) -> None:
        super().__init__()
        self.config = config
        self.source_words = source_words
        self.own_target_words = target_words
        self.encoder = encoder
        self.decoder = decoder
        self.output = output

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
        return self._logits(self._decode(batch, None))

    @torch.no_grad()
    def source_attention(self, batch: Batch) -> list[Tensor]:
        """Return, per cluster, weights_SM: how much each target token looks at each source token.

        Averaged over layers and heads; rows sum to 1. Row s belongs to the prediction of label s.
        """
        weights: list[list[Tensor]] = []
        self._decode(batch, weights)
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

    def _decode(self, batch: Batch, weights: list[list[Tensor]] | None) -> Tensor:
        if batch.input_Y is None:
            raise InputError("the batch has no targets to score; give it some with with_targets")
        memory = self.encode(batch)
        words_YD = self.target_words(batch.input_Y)
        states_YD: Tensor = self.decoder(words_YD, memory, batch.targets, weights)
        return states_YD

    def _logits(self, states: Tensor) -> Tensor:
        return self.output.forward(states, self.target_words.weight)


Network = EncoderDecoder | CompressedDecoder


def build_network(config: ModelConfig) -> Network:
    """Make the network that a config describes, with fresh weights."""
    builder = Builder(config)
    network: Network
    if config.architecture == "tdmca":
        network = CompressedDecoder(
            config=config,
            words=builder.word_embedding(),
            layers=builder.causal_layers(),
            final_norm=builder.final_norm(),
            output=builder.output(),
            dropout=builder.dropout,
        )
    else:
        network = EncoderDecoder(
            config=config,
            source_words=builder.word_embedding(),
            target_words=None if config.shared_embeddings else builder.word_embedding(),
            encoder=builder.encoder(),
            decoder=builder.decoder(),
            output=builder.output(),
        )
    initialize(network)
    if config.profile == "t5" and isinstance(network, EncoderDecoder):
        network.encoder.silence_global_layers()
    return network
