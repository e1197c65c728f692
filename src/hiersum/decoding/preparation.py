"""What is done to a network once, before it searches: other weights, other caches, compiled layers."""

from __future__ import annotations

import torch

from hiersum.config import SearchConfig
from hiersum.model.decoder import DecoderLayer
from hiersum.model.int8 import quantized
from hiersum.model.network import EncoderDecoder, Network
from hiersum.model.packed import can_pack, packed
from hiersum.model.rewritten import copy_modules


def prepare(network: Network, config: SearchConfig) -> Network:
    """Return the network that `config` wants to search with; the given one stays as it is.

    Do this once and search often: weights take up to a second to pack, compiled layers a minute or
    more in the first steps.
    """
    if config.half_source:  # first, since packed weights cannot be copied
        network = with_half_source(network)
    if config.int8:
        network = quantized(network)
    elif not config.compile and can_pack(network):  # the compiler brings products of its own
        network = packed(network)
    return compiled(network) if config.compile else network


def with_half_source(network: Network) -> Network:
    """Return a network with the same weights that keeps the source in bfloat16 while it searches.

    T-DMCA is returned as it is: it reads its source as a part of the summary.
    """
    if not isinstance(network, EncoderDecoder):
        return network
    halved = copy_modules(network)
    halved.decoder.half_source = True
    return halved


def compiled(network: Network) -> Network:
    """Return a network with the same weights whose decoder layers step in compiled code.

    T-DMCA is returned as it is: its caches change their form from step to step.
    """
    if not isinstance(network, EncoderDecoder):
        return network
    fast = copy_modules(network)  # so that the given one keeps its own step
    for layer in fast.decoder.layers:
        assert isinstance(layer, DecoderLayer)
        layer.step = torch.compile(layer.step, dynamic=True)  # type: ignore[method-assign]
    return fast
