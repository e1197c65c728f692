"""What is done to a network once, before it searches: eight-bit weights, compiled layers."""

from __future__ import annotations

import copy

import torch

from hiersum.config import SearchConfig
from hiersum.model.decoder import DecoderLayer
from hiersum.model.int8 import quantized
from hiersum.model.network import EncoderDecoder, Network


def prepare(network: Network, config: SearchConfig) -> Network:
    """Return the network that `config` wants to search with; the given one stays as it is.

    Do this once and search often: eight-bit weights take about a second to pack, compiled layers a
    minute or more in the first steps.
    """
    if config.int8:
        network = quantized(network)
    return compiled(network) if config.compile else network


def compiled(network: Network) -> Network:
    """Return a network with the same weights whose decoder layers step in compiled code.

    T-DMCA is returned as it is: its caches change their form from step to step.
    """
    if not isinstance(network, EncoderDecoder):
        return network
    # A copy of every module, so that the given one keeps its own step; tensors are shared.
    tensors = [*network.parameters(), *network.buffers()]
    fast = copy.deepcopy(network, {id(tensor): tensor for tensor in tensors})
    for layer in fast.decoder.layers:
        assert isinstance(layer, DecoderLayer)
        layer.step = torch.compile(layer.step, dynamic=True)  # type: ignore[method-assign]
    return fast
