"""The section [model]: a network's architecture and sizes, and whose equations it follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hiersum.errors import ConfigError

BLOCK_LENGTH = 256
"""Tokens of a block of local attention (T-DMCA)."""
COMPRESSION = 3
"""Tokens that one slot of compressed memory covers (T-DMCA)."""
PLANNER_HEADS = 4
"""Heads of the planner's attention between source sentences."""
RELATIVE_BUCKETS, RELATIVE_DISTANCE = 32, 128
"""Of T5: buckets of relative positions, and the distance beyond which all share one."""


def require_at_least(lowest: int, section: str, config: object, *names: str) -> None:
    """Refuse settings of a section that are below `lowest`."""
    for name in names:
        value = getattr(config, name)
        if value < lowest:
            raise ConfigError(f"{section}.{name} must be at least {lowest}, got {value}")


def require_within(name: str, value: float, lowest: float, highest: float) -> None:
    if not lowest <= value <= highest:  # NaN fails too
        raise ConfigError(f"{name} must be between {lowest} and {highest}, got {value}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelConfig:
    """A network: its architecture, its sizes, and whose equations it follows.

    The defaults are the paper's hierarchical transformer; `configs/` has its other two.
    Ablations: `paragraph_position=False`, `num_pooling_heads=1`, `layers` without `global`.
    """

    architecture: Literal["ht", "ft", "tdmca"] = "ht"
    """Hierarchical, flat, or decoder-only with memory-compressed attention (T-DMCA)."""
    profile: Literal["paper", "paper-unscaled", "hiersumm", "t5"] = "paper"
    """Whose equations: the paper's (`unscaled`: words without the factor sqrt(width)), the released
    code's, or T5's below global layers."""
    layers: tuple[Literal["local", "global", "compressed"], ...] = ("local",) * 5 + ("global",) * 2
    """The stack that reads the source, bottom first (of T-DMCA: the only stack)."""
    num_decoder_layers: int = 6
    """Layers that write the summary; T-DMCA has none of its own."""
    vocab_size: int = 32_000
    """Pieces of the tokenizer; if not set, training takes those of the prepared set."""
    width: int = 256
    """Width of a token's state."""
    ff_width: int = 1_024
    """Hidden width of the feed-forward networks."""
    num_heads: int = 8
    """Heads of self- and cross-attention."""
    head_width: int | None = None
    """Width of one of those heads; none: width / num_heads."""
    num_pooling_heads: int = 8
    """Heads of a global layer; each is width / num_pooling_heads wide."""
    feed_forward: Literal["relu", "gated-gelu"] = "relu"
    """The activation; gated as in later T5 models."""
    paragraph_position: bool = True
    """Add the rank of its paragraph to the position of each token."""
    graph_head: int | None = None
    """The head of each global layer whose attention is the graph; none: all heads are learned."""
    shared_embeddings: bool = True
    """Source and target use one embedding."""
    tied_output: bool = True
    """The output projection is the target's embedding."""
    planner_width: int = 0
    """Hidden width of the planner, which chooses the source sentences of each summary sentence; 0:
    none, the decoder attends to the whole source."""
    dropout: float = 0.1
    """Share of values dropped in training."""
    pad_id: int = 0
    """The padding piece; no network reads it."""
    begin_id: int = 2
    """The piece a summary starts from."""
    end_id: int = 3
    """The piece that ends a summary."""

    def __post_init__(self) -> None:
        sizes = ("vocab_size", "width", "ff_width", "num_heads", "num_pooling_heads")
        require_at_least(1, "model", self, *sizes)
        require_at_least(0, "model", self, "planner_width")
        require_within("model.dropout", self.dropout, 0, 0.9)
        for name in ("pad_id", "begin_id", "end_id"):
            require_within(f"model.{name}", getattr(self, name), 0, self.vocab_size - 1)
        # Positions are pairs of sine and cosine, and ranks take half of them.
        unit = 4 if self.architecture == "ht" and self.paragraph_position else 2
        if self.profile != "t5" and self.width % unit:
            raise ConfigError(
                f"model.width ({self.width}) must be a multiple of {unit}: positions are pairs"
            )
        if self.head_width is None and self.width % self.num_heads:
            raise ConfigError(
                f"model.width ({self.width}) must be a multiple of model.num_heads "
                f"({self.num_heads}), or model.head_width must be set"
            )
        if self.width % self.num_pooling_heads:
            raise ConfigError(
                f"model.width ({self.width}) must be a multiple of model.num_pooling_heads "
                f"({self.num_pooling_heads})"
            )
        if self.graph_head is not None:
            require_within("model.graph_head", self.graph_head, 0, self.num_pooling_heads - 1)
        self._check_architecture()

    def _check_architecture(self) -> None:
        if self.planner_width % PLANNER_HEADS:
            raise ConfigError(
                f"model.planner_width ({self.planner_width}) must be a multiple of {PLANNER_HEADS}"
            )
        if self.planner_width and self.architecture != "ht":
            raise ConfigError(
                f"model.planner_width needs architecture ht: {self.architecture} reads its source as "
                "one sequence and has no plans"
            )
        kinds = {"ht": ("local", "global"), "ft": ("local",), "tdmca": ("local", "compressed")}
        allowed = kinds[self.architecture]
        for kind in self.layers:
            if kind not in allowed:
                raise ConfigError(
                    f"model.layers of {self.architecture} are {' and '.join(allowed)}, got {kind!r}"
                )
        if self.architecture == "tdmca":
            if not self.layers:
                raise ConfigError("the number of model.layers must be at least 1, got 0")
        else:
            require_at_least(1, "model", self, "num_decoder_layers")

    @property
    def attention_head_width(self) -> int:
        """Width of a head of self- and cross-attention."""
        return self.head_width if self.head_width is not None else self.width // self.num_heads
