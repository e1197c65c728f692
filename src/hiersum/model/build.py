"""Builder: a config's numbers become layers. Config goes no further than this file."""

from __future__ import annotations

from torch import nn

from hiersum.config import ModelConfig
from hiersum.model.attention import MultiHeadAttention
from hiersum.model.compressed import BlockAttention, CausalLayer, CompressedAttention
from hiersum.model.decoder import Decoder, DecoderLayer
from hiersum.model.encoder import Encoder, LocalLayer, ScaledRank, SourcePositions
from hiersum.model.hierarchy import GlobalLayer, InterParagraphAttention, MultiHeadPooling
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
from hiersum.model.planner import Planner
from hiersum.model.profiles import PROFILES


class Builder:
    """Makes the parts of one network."""

    def __init__(self, config: ModelConfig) -> None:
        self.config = config
        self.profile = PROFILES[config.profile]
        self.has_bias = not self.profile.relative
        p = config.dropout
        if self.profile.dropout_before_linear:
            self.dropout = Dropout(inputs=p, hidden=p)
        else:
            self.dropout = Dropout(weights=p, hidden=p, outputs=p)

    def word_embedding(self) -> WordEmbedding:
        """The pieces' vectors."""
        scale = self.config.width**0.5 if self.profile.scaled_embeddings else 1.0
        return WordEmbedding(
            vocab_size=self.config.vocab_size, width=self.config.width, scale=scale
        )

    def output(self) -> Output:
        """From states to scores."""
        config = self.config
        return Output(
            vocab_size=config.vocab_size,
            width=config.width,
            is_tied=config.tied_output,
            has_bias=config.output_bias,
            scale=config.width**-0.5 if config.scaled_output else 1.0,
            dropout=self.dropout,
        )

    def encoder(self) -> Encoder:
        """The stack that reads the source."""
        config, relative = self.config, self.profile.relative
        has_global = "global" in config.layers
        has_rank = config.paragraph_position and config.architecture == "ht"
        positions = SourcePositions(
            width=config.width, with_ranks=has_rank, rank_first=self.profile.rank_first
        )
        return Encoder(
            layers=[
                self.global_layer() if kind == "global" else self.local_layer()
                for kind in config.layers
            ],
            positions=None if relative else positions,
            rank=ScaledRank(width=config.width) if relative and has_rank and has_global else None,
            relative_bias=self.relative_bias(bidirectional=True),
            final_norm=self.final_norm(),
            is_flat=config.architecture == "ft",
            needs_graphs=config.graph_head is not None and has_global,
            dropout=self.dropout,
        )

    def decoder(self) -> Decoder:
        """The stack that writes the summary."""
        return Decoder(
            layers=[self.decoder_layer() for _ in range(self.config.num_decoder_layers)],
            has_sinusoid=not self.profile.relative,
            relative_bias=self.relative_bias(bidirectional=False),
            final_norm=self.final_norm(),
            dropout=self.dropout,
        )

    def planner(self) -> Planner | None:
        """What chooses source sentences; None for a network without plans."""
        width = self.config.planner_width
        return Planner(width=self.config.width, hidden_width=width) if width else None

    def causal_layers(self) -> list[CausalLayer]:
        """The one stack of T-DMCA."""
        config = self.config
        layers = []
        for kind in config.layers:
            attention: BlockAttention | CompressedAttention
            if kind == "local":
                attention = BlockAttention(
                    attention=self.attention(), block_length=config.block_length
                )
            else:
                attention = CompressedAttention(
                    attention=self.attention(),
                    width=config.num_heads * config.attention_head_width,
                    compression=config.compression,
                )
            layers.append(
                CausalLayer(
                    attention=attention,
                    attention_residual=self.residual(),
                    feed_forward=self.feed_forward(),
                    feed_forward_residual=self.residual(),
                )
            )
        return layers

    def local_layer(self) -> LocalLayer:
        """A layer within paragraphs."""
        return LocalLayer(
            attention=self.attention(),
            attention_residual=self.residual(),
            feed_forward=self.feed_forward(),
            feed_forward_residual=self.residual(),
        )

    def global_layer(self) -> GlobalLayer:
        """A layer across paragraphs."""
        config, profile = self.config, self.profile
        head_width = config.width // config.num_pooling_heads
        return GlobalLayer(
            pooling=MultiHeadPooling(
                width=config.width,
                num_heads=config.num_pooling_heads,
                bias=self.has_bias,
                norm=self.norm(head_width),
                projection=self.head_linear(head_width) if profile.pooled_projection else None,
                dropout=self.dropout,
            ),
            relations=InterParagraphAttention(
                query=self.head_linear(head_width),
                key=self.head_linear(head_width),
                value=self.head_linear(head_width),
                scale=head_width**-0.5 if profile.scaled_relations else 1.0,
                graph_head=config.graph_head,
                dropout=self.dropout,
            ),
            width=config.width,
            bias=self.has_bias,
            feed_forward=self.feed_forward(),
            input_norm=self.norm(config.width) if profile.pre_norm else None,
            norm=self.norm(config.width),
            dropout=self.dropout,
        )

    def decoder_layer(self) -> DecoderLayer:
        """A layer that looks back and at the source."""
        return DecoderLayer(
            self_attention=self.attention(),
            self_residual=self.residual(),
            source_attention=self.attention(),
            source_residual=self.residual(),
            feed_forward=self.feed_forward(),
            feed_forward_residual=self.residual(),
        )

    def attention(self) -> MultiHeadAttention:
        """Multi-head attention of this network's size."""
        return MultiHeadAttention(
            width=self.config.width,
            num_heads=self.config.num_heads,
            head_width=self.config.attention_head_width,
            scaled=not self.profile.relative,
            bias=self.has_bias,
            dropout=self.dropout,
        )

    def feed_forward(self) -> FeedForward:
        """A feed-forward network of this network's size."""
        return FeedForward(
            width=self.config.width,
            hidden_width=self.config.ff_width,
            activation=self.config.feed_forward,
            bias=self.has_bias,
            dropout=self.dropout,
        )

    def head_linear(self, head_width: int) -> nn.Module:
        """A map of a global layer's heads: one for each, or one for all."""
        if self.profile.shared_projections:
            return nn.Linear(head_width, head_width, bias=self.has_bias)
        return HeadLinear(num_heads=self.config.num_pooling_heads, width=head_width)

    def relative_bias(self, *, bidirectional: bool) -> RelativeBias | None:
        """T5's positions."""
        if not self.profile.relative:
            return None
        return RelativeBias(
            num_buckets=self.config.relative_buckets,
            max_distance=self.config.relative_distance,
            num_heads=self.config.num_heads,
            bidirectional=bidirectional,
        )

    def residual(self) -> Residual:
        """A residual connection with its norm."""
        return Residual(
            norm=self.norm(self.config.width),
            pre_norm=self.profile.pre_norm,
            dropout=self.dropout,
        )

    def final_norm(self) -> nn.Module | None:
        """The norm after the last layer that pre-norm stacks need."""
        return self.norm(self.config.width) if self.profile.pre_norm else None

    def norm(self, width: int) -> nn.Module:
        """This profile's normalisation."""
        if self.profile.relative:
            return RmsNorm(width, eps=NORM_EPSILON)
        return nn.LayerNorm(width, eps=NORM_EPSILON)
