"""A network that writes with eight-bit weights, for processors.

A weight is an integer times a scale per output channel; activations become integers as they come,
with one scale for all rows of a step. The products are then sums of integers, in a quarter of the
bytes. What reads the source once (encoder, source keys and values) stays as it is.
"""

from __future__ import annotations

import copy
import warnings

import torch
from torch import Tensor, nn

from hiersum.errors import ConfigError
from hiersum.model.compressed import CompressedDecoder
from hiersum.model.decoder import DecoderLayer
from hiersum.model.layers import Output
from hiersum.model.network import EncoderDecoder, Network
from hiersum.model.storage import quantize


class Int8Linear(nn.Module):
    """W x + b with W as integers."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        values, scale = quantize(weight.detach().float())
        with warnings.catch_warnings():  # of the tensor type, whose kernels have no successor yet
            warnings.simplefilter("ignore", UserWarning)
            channels = torch._make_per_channel_quantized_tensor(
                values, scale[:, 0].double(), torch.zeros(len(values), dtype=torch.long), 0
            )
        self.packed = torch.ops.quantized.linear_prepack(
            channels, None if bias is None else bias.detach().float()
        )

    def forward(self, states: Tensor) -> Tensor:
        # The kernels add pairs of products in 16 bits, which 7 bits of activation never overflow.
        result: Tensor = torch.ops.quantized.linear_dynamic(states, self.packed, reduce_range=True)
        return result


class Int8Output(Output):
    """Scores of all pieces, from integers."""

    def __init__(self, output: Output, embedding_VD: Tensor) -> None:
        nn.Module.__init__(self)
        self.scale = output.scale
        weight_VD = embedding_VD if output.weight is None else output.weight
        self.linear = Int8Linear(weight_VD * output.scale, output.bias)

    def forward(self, states: Tensor, embedding_VD: Tensor) -> Tensor:
        result: Tensor = self.linear(states)
        return result


def quantized(network: Network) -> Network:
    """Return a network for search that shares what reads the source and writes in eight bits.

    Raises:
        ConfigError: torch has no eight-bit kernels for this processor.
    """
    if torch.backends.quantized.engine == "none":
        raise ConfigError("decoding.int8: torch has no eight-bit kernels here; set it to false")
    if isinstance(network, CompressedDecoder):
        layers = copy.deepcopy(network.layers)
        _replace_linears(layers)
        return CompressedDecoder(
            config=network.config,
            words=network.words,
            layers=list(layers),  # type: ignore[arg-type]
            final_norm=network.final_norm,
            output=Int8Output(network.output, network.words.weight),
            dropout=network.dropout,
        ).eval()
    decoder = copy.deepcopy(network.decoder)
    for layer in decoder.layers:
        assert isinstance(layer, DecoderLayer)
        source = layer.source_attention
        key, value = source.key, source.value
        _replace_linears(layer)
        source.key, source.value = key, value
    return EncoderDecoder(
        config=network.config,
        source_words=network.source_words,
        target_words=network.own_target_words,
        encoder=network.encoder,
        decoder=decoder,
        output=Int8Output(network.output, network.target_words.weight),
    ).eval()


def _replace_linears(module: nn.Module) -> None:
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, Int8Linear(child.weight, child.bias))
        else:
            _replace_linears(child)
