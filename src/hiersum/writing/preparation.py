"""What is done before a network searches: other weights, other caches, compiled layers, threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import torch

from hiersum.config import SearchConfig
from hiersum.model.decoder import DecoderLayer
from hiersum.model.inference import can_pack, copy_modules, packed, quantized
from hiersum.model.network import EncoderDecoder, Network

_FEW_HYPOTHESES = 16


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


@contextmanager
def threads_for(num_hypotheses: int) -> Iterator[None]:
    """Write few hypotheses with one thread.

    Their steps are so small that a second thread gains a sixth, and loses fifty times that when another
    program keeps its core busy, since every operation waits for it. The setting is the whole
    program's: of several searches at once, the first changes it and the last puts it back.
    """
    if num_hypotheses > _FEW_HYPOTHESES:
        yield
        return
    _one_thread.enter()
    try:
        yield
    finally:
        _one_thread.leave()


class _OneThread:
    """One thread for torch, as long as anybody asks for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._num_inside = 0
        self._before = 1

    def enter(self) -> None:
        with self._lock:
            if self._num_inside == 0:
                self._before = torch.get_num_threads()
                torch.set_num_threads(1)
            self._num_inside += 1

    def leave(self) -> None:
        with self._lock:
            self._num_inside -= 1
            if self._num_inside == 0:
                torch.set_num_threads(self._before)


_one_thread = _OneThread()
