"""A network for search whose linear layers are of another make: the same maps, other kernels.

What writes a summary is rewritten; what reads the source (the encoder, source keys and values) is
shared with the network it came from. Self-attention's three projections become one product, as do the
two of a gated feed-forward network, since a step multiplies few rows and each product costs a start.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hiersum.model.attention import MultiHeadAttention
from hiersum.model.compressed import CompressedDecoder
from hiersum.model.decoder import DecoderLayer
from hiersum.model.layers import FeedForward, Output, WordEmbedding
from hiersum.model.network import Network
from hiersum.model.storage import join_rows

MakeLinear = Callable[[Tensor, Tensor | None], nn.Module]
"""From a weight and a bias to a module that maps x to W x + b."""
AnyModule = TypeVar("AnyModule", bound=nn.Module)


class JointAttention(MultiHeadAttention):
    """Self-attention that gets queries, keys and values from one product."""

    def __init__(self, attention: MultiHeadAttention, make_linear: MakeLinear) -> None:
        nn.Module.__init__(self)
        self.num_heads = attention.num_heads
        self.head_width = attention.head_width
        self.scale = attention.scale
        self.dropout = attention.dropout
        parts = (attention.query, attention.key, attention.value)
        self.joint = _joined(parts, make_linear)
        self.output = attention.output

    def project_all(self, states_RD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query_RHK, key_RHK and value_RHK."""
        heads = self.joint(states_RD).unflatten(-1, (3, self.num_heads, self.head_width))
        query, key, value = heads.unbind(-3)
        return query, key, value


class JointFeedForward(FeedForward):
    """A gated feed-forward network that gets both sides of the gate from one product."""

    def __init__(self, feed_forward: FeedForward, make_linear: MakeLinear) -> None:
        nn.Module.__init__(self)
        assert feed_forward.gate is not None
        self.joint = _joined((feed_forward.inner, feed_forward.gate), make_linear)
        self.outer = feed_forward.outer
        self.dropout = feed_forward.dropout

    def hidden(self, states_RD: Tensor) -> Tensor:
        """Return the hidden layer."""
        inner_RF, gate_RF = self.joint(states_RD).chunk(2, dim=-1)
        hidden_RF: Tensor = F.gelu(inner_RF, approximate="tanh") * gate_RF
        return hidden_RF


class LinearOutput(Output):
    """Scores of all pieces from a linear layer that has taken in the scale."""

    def __init__(self, output: Output, embedding_VD: Tensor, make_linear: MakeLinear) -> None:
        nn.Module.__init__(self)
        weight_VD = embedding_VD if output.weight is None else output.weight
        scaled_VD = weight_VD if output.scale == 1 else weight_VD * output.scale
        self.linear = make_linear(scaled_VD, output.bias)

    def forward(self, states: Tensor, embedding_VD: Tensor) -> Tensor:
        result: Tensor = self.linear(states)
        return result


def copy_modules(module: AnyModule, *, shared: Sequence[nn.Module | None] = ()) -> AnyModule:
    """Copy a module and its sub-modules except `shared`; no tensor is copied."""
    kept = [*module.parameters(), *module.buffers(), *shared]
    return copy.deepcopy(module, {id(part): part for part in kept})


def rewritten(network: Network, make_linear: MakeLinear) -> Network:
    """Return a network that reads as the given one and writes with `make_linear`'s layers."""
    fast: Network
    if isinstance(network, CompressedDecoder):
        words = network.words
        fast = only = copy_modules(network, shared=[words])
        _replace_linears(only.layers, make_linear)
    else:
        words = network.target_words
        parts = (network.source_words, network.own_target_words, network.encoder, network.planner)
        fast = both = copy_modules(network, shared=parts)
        for layer in both.decoder.layers:
            assert isinstance(layer, DecoderLayer)
            layer.self_attention = JointAttention(layer.self_attention, make_linear)
            if layer.feed_forward.gate is not None:
                layer.feed_forward = JointFeedForward(layer.feed_forward, make_linear)
            source = layer.source_attention
            key, value = source.key, source.value
            _replace_linears(layer, make_linear)
            source.key, source.value = key, value
    fast.output = LinearOutput(network.output, words.weight, make_linear)
    return fast.eval()


def _joined(parts: Sequence[nn.Linear], make_linear: MakeLinear) -> nn.Module:
    biases = [part.bias.detach() for part in parts if part.bias is not None]
    weight = join_rows([part.weight for part in parts])
    return make_linear(weight, torch.cat(biases) if biases else None)


def names_of_rewritten(network: Network) -> set[str]:
    """Return the names of the matrices that only `rewritten`'s layers need, and of the embedding."""
    writing = "layers." if isinstance(network, CompressedDecoder) else "decoder.layers."
    reading = (".source_attention.key", ".source_attention.value")
    names = {
        f"{name}.weight"
        for name, module in network.named_modules()
        if isinstance(module, nn.Linear) and name.startswith(writing) and not name.endswith(reading)
    }
    if network.output.scale != 1:  # it is taken into the matrix of the output
        return names
    words = {n for n, module in network.named_modules() if isinstance(module, WordEmbedding)}
    return names | {"output.weight"} | {f"{name}.weight" for name in words}


def _replace_linears(module: nn.Module, make_linear: MakeLinear) -> None:
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, make_linear(child.weight, child.bias))
        else:
            _replace_linears(child, make_linear)
