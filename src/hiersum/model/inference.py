"""Networks for search: the trained network's maps with faster linear layers.

What reads the source (the encoder, source keys and values) is packed: exact, and twice as fast as
torch's own product on some processors. What writes is packed, in eight bits, or in float32 with
weights that stay the integers they are stored as. A step multiplies few rows, so call overhead
matters: the three projections of self-attention become one product, and so do the two of a gated
feed-forward network.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hiersum.errors import ConfigError
from hiersum.model.attention import MultiHeadAttention
from hiersum.model.compressed import CompressedDecoder
from hiersum.model.decoder import DecoderLayer
from hiersum.model.layers import FeedForward, Output, WordEmbedding
from hiersum.model.network import Network
from hiersum.model.storage import Integers, join_rows, quantize

MakeLinear = Callable[[Tensor, Tensor | None], nn.Module]
"""Makes a module that maps x to W x + b from a weight and a bias."""
AnyModule = TypeVar("AnyModule", bound=nn.Module)

# The operators themselves: torch's wrapper inspects every argument for the compiler.
_linear_dynamic = torch.ops.quantized.linear_dynamic.op
_linear_half = torch.ops.quantized.linear_dynamic_fp16.op


class PackedLinear(nn.Module):
    """W x + b with W in the memory layout of oneDNN's kernels.

    torch's own product spends most of a step converting matrices to that layout.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach())
        self.bias = None if bias is None else bias.detach()

    def forward(self, states: Tensor) -> Tensor:
        result: Tensor = torch.ops.mkldnn._linear_pointwise(
            states, self.packed, self.bias, "none", [], ""
        )
        return result


class IntegerLinear(nn.Module):
    """W x + b in float32, where W is stored as integers with a scale per row.

    The integers are kept in 16-bit floats, which hold them exactly, and rows are scaled after the
    product. A step reads its weights from memory, so half the bytes take half the time.
    """

    def __init__(self, weight: Integers, bias: Tensor | None) -> None:
        super().__init__()
        self.packed = torch.ops.quantized.linear_prepack_fp16(weight.detach().float(), None)
        self.scale = weight.scale[:, 0]
        self.bias = None if bias is None else bias.detach()

    def forward(self, states: Tensor) -> Tensor:
        result: Tensor = _linear_half(states, self.packed).mul_(self.scale)
        return result if self.bias is None else result.add_(self.bias)


class Int8Linear(nn.Module):
    """W x + b in eight bits: W with a scale per output channel, x with one scale for all rows."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        values, scale = quantize(weight)
        with warnings.catch_warnings():  # deprecated, but there is no replacement
            warnings.simplefilter("ignore", UserWarning)
            channels = torch._make_per_channel_quantized_tensor(
                values, scale[:, 0].double(), torch.zeros(len(values), dtype=torch.long), 0
            )
        self.packed = torch.ops.quantized.linear_prepack(
            channels, None if bias is None else bias.detach().float()
        )

    def forward(self, states: Tensor) -> Tensor:
        # True: 7-bit activations. Kernels add pairs of products in 16 bits; 8 bits could overflow.
        result: Tensor = _linear_dynamic(states, self.packed, True)
        return result


class Int8RowsLinear(nn.Module):
    """W x + b in eight bits for many rows: W with a scale per output channel, x with one per row.

    As fast as `Int8Linear` for a hundred rows or more, and several times nearer to the exact product
    where a few features are far larger than the others.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.values, scale = quantize(weight)
        self.scale = scale[:, 0]
        self.bias = None if bias is None else bias.detach()

    def forward(self, states: Tensor) -> Tensor:
        rows = states.reshape(-1, states.size(-1))
        step = rows.abs().amax(-1, keepdim=True).clamp_(min=1e-30) / 127
        products = torch._int_mm((rows / step).round_().to(torch.int8), self.values.t())
        result = products.float().mul_(step).mul_(self.scale)
        if self.bias is not None:
            result.add_(self.bias)
        return result.view(*states.shape[:-1], -1)


def int8_for_many_rows(weight: Tensor, bias: Tensor | None) -> nn.Module:
    """Make the eight-bit layer for many rows, or an exact one where this processor has no kernel.

    `Int8Linear` is no alternative: one scale for all rows ruins networks with a few large features.
    """
    if getattr(torch.cpu, "_is_vnni_supported", lambda: False)():
        return Int8RowsLinear(weight, bias)
    weight = weight.detach().float() * (weight.scale if isinstance(weight, Integers) else 1)
    if torch.backends.mkldnn.is_available():
        return PackedLinear(weight, None if bias is None else bias.detach().float())
    layer = nn.Linear(weight.size(1), weight.size(0), bias=bias is not None)
    layer.load_state_dict({"weight": weight} if bias is None else {"weight": weight, "bias": bias})
    return layer.requires_grad_(False)


def can_pack(network: Network) -> bool:
    """Return whether this torch has the kernels and the weights are float32 on a CPU."""
    return (
        torch.backends.mkldnn.is_available()
        and torch._C._dispatch_has_kernel_for_dispatch_key("mkldnn::_reorder_linear_weight", "CPU")
        and all(
            p.device.type == "cpu" and (p.dtype == torch.float32 or isinstance(p, Integers))
            for p in network.parameters()
        )
    )


def can_keep_integers(device: str) -> bool:
    """Return whether `packed` and `quantized` take integers as they are stored."""
    return device == "cpu" and torch.backends.quantized.engine in ("x86", "fbgemm")


def packed(network: Network) -> Network:
    """Return a network for search with packed weights; results are equal up to rounding."""

    def make_linear(weight: Tensor, bias: Tensor | None) -> nn.Module:
        if isinstance(weight, Integers):
            return IntegerLinear(weight, bias)
        return PackedLinear(weight, bias)

    return with_linears(network, make_linear)


def quantized(network: Network) -> Network:
    """Return a network for search with eight-bit weights.

    Raises:
        ConfigError: torch has no eight-bit kernels for this processor.
    """
    if torch.backends.quantized.engine == "none":
        raise ConfigError("decoding.int8: torch has no eight-bit kernels here; set it to false")
    return with_linears(network, Int8Linear)


def quantized_names(network: Network) -> set[str]:
    """Return the names of the weights that write, which search reads as integers."""
    writing = "layers." if isinstance(network, CompressedDecoder) else "decoder.layers."
    reading = (".source_attention.key", ".source_attention.value")
    modules = dict(network.named_modules())
    names = {
        f"{name}.weight"
        for name, module in modules.items()
        if isinstance(module, nn.Linear) and name.startswith(writing) and not name.endswith(reading)
    }
    if network.output.scale != 1:  # folded into the embedding, which must be float
        return names
    words = {f"{n}.weight" for n, module in modules.items() if isinstance(module, WordEmbedding)}
    return names | words | {"output.weight"}


def with_linears(network: Network, make_linear: MakeLinear) -> Network:
    """Return a network that writes with `make_linear` and reads with packed weights if it can."""
    fast: Network
    if isinstance(network, CompressedDecoder):
        words = network.words
        fast = decoder_only = copy_modules(network, shared=[words])
        _replace_linears(decoder_only.layers, make_linear)
    else:
        words = network.target_words
        parts = (network.source_words, network.own_target_words, network.planner)
        fast = encoder_decoder = copy_modules(network, shared=parts)
        make_reader = PackedLinear if can_pack(network) else None
        for layer in encoder_decoder.decoder.layers:
            assert isinstance(layer, DecoderLayer)
            source = layer.source_attention
            memory = source.key, source.value
            speed_up(layer, make_linear)
            source.key, source.value = memory
            if make_reader:
                _replace_linears(source, make_reader)
        if make_reader:
            for reader in encoder_decoder.encoder.layers:
                speed_up(reader, make_reader)
    fast.output = LinearOutput(network.output, words.weight, make_linear)
    return fast.eval()


def speed_up(layer: nn.Module, make_linear: MakeLinear) -> None:
    """Replace the linear maps of a layer's attention and feed-forward network."""
    for name, part in list(layer.named_children()):
        if isinstance(part, FeedForward) and part.gate is not None:
            part = JointFeedForward(part, make_linear)
        elif isinstance(part, MultiHeadAttention) and name != "source_attention":
            part = JointAttention(part, make_linear)
        elif not isinstance(part, (FeedForward, MultiHeadAttention)):
            continue
        _replace_linears(part, make_linear)
        setattr(layer, name, part)


def copy_modules(module: AnyModule, *, shared: Sequence[nn.Module | None] = ()) -> AnyModule:
    """Copy a module and its sub-modules except `shared`; no tensor is copied."""
    kept = [*module.parameters(), *module.buffers(), *shared]
    return copy.deepcopy(module, {id(part): part for part in kept})


class JointAttention(MultiHeadAttention):
    """Self-attention with queries, keys and values from one product."""

    def __init__(self, attention: MultiHeadAttention, make_linear: MakeLinear) -> None:
        nn.Module.__init__(self)
        self.num_heads = attention.num_heads
        self.head_width = attention.head_width
        self.scale = attention.scale
        self.dropout = attention.dropout
        self.joint = _joined((attention.query, attention.key, attention.value), make_linear)
        self.output = attention.output

    def project_all(self, states_RD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query_RHK, key_RHK and value_RHK."""
        joint: Tensor = self.joint.forward(states_RD)
        heads = joint.view(*joint.shape[:-1], 3, self.num_heads, self.head_width)
        query, key, value = heads.unbind(-3)
        return query, key, value


class JointFeedForward(FeedForward):
    """A gated feed-forward network with both sides of the gate from one product."""

    def __init__(self, feed_forward: FeedForward, make_linear: MakeLinear) -> None:
        nn.Module.__init__(self)
        assert feed_forward.gate is not None
        self.joint = _joined((feed_forward.inner, feed_forward.gate), make_linear)
        self.outer = feed_forward.outer
        self.dropout = feed_forward.dropout

    def hidden(self, states_RD: Tensor) -> Tensor:
        """Return the hidden layer."""
        inner_RF, gate_RF = self.joint.forward(states_RD).chunk(2, dim=-1)
        hidden_RF: Tensor = F.gelu(inner_RF, approximate="tanh") * gate_RF
        return hidden_RF


class LinearOutput(Output):
    """Scores of all pieces from one linear layer, the scale included."""

    def __init__(self, output: Output, embedding_VD: Tensor, make_linear: MakeLinear) -> None:
        nn.Module.__init__(self)
        weight_VD = embedding_VD if output.weight is None else output.weight
        scaled_VD = weight_VD if output.scale == 1 else weight_VD * output.scale
        self.linear = make_linear(scaled_VD, output.bias)

    def forward(self, states: Tensor, embedding_VD: Tensor) -> Tensor:
        result: Tensor = self.linear(states)
        return result


def _joined(parts: Sequence[nn.Linear], make_linear: MakeLinear) -> nn.Module:
    biases = [part.bias.detach() for part in parts if part.bias is not None]
    weight = join_rows([part.weight for part in parts])
    return make_linear(weight, torch.cat(biases) if biases else None)


def _replace_linears(module: nn.Module, make_linear: MakeLinear) -> None:
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, make_linear(child.weight, child.bias))
        else:
            _replace_linears(child, make_linear)
