"""Eight-bit weights change little, and only what writes."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from hiersum.errors import ConfigError
from hiersum.model.batch import Batch
from hiersum.model.int8 import Int8Linear, quantized

EVERY_NETWORK = pytest.mark.parametrize(
    "changes",
    [
        {},
        {"profile": "hiersumm"},
        {"profile": "t5", "feed_forward": "gated-gelu", "tied_output": False},
        {"profile": "t5", "scaled_output": True, "output_bias": False},
        {"architecture": "tdmca"},
    ],
    ids=str,
)


def test_a_linear_layer_is_near_the_one_it_replaces() -> None:
    """Within the rounding of 7-bit activations and 8-bit weights, bias included."""
    linear = nn.Linear(64, 32)
    states = torch.randn(5, 7, 64)

    actual = Int8Linear(linear.weight, linear.bias)(states)

    expected = linear(states)
    assert actual.shape == expected.shape
    assert (actual - expected).abs().max() < 0.03 * expected.abs().max()


@EVERY_NETWORK
def test_log_probs_stay_near(tiny, sources, changes: dict) -> None:
    """To 0.05 on average at 3 steps of two hypotheses, which no wrong weight, bias or scale gives."""
    network = tiny(**changes)
    small = quantized(network)
    tokens_SBN = torch.randint(9, 40, (3, 2, 2))
    with torch.no_grad():
        states = [(n, n.start(n.encode(Batch.from_ids(sources)), 2)) for n in (network, small)]

    for tokens_BN in tokens_SBN:
        expected, actual = (n.step(tokens_BN, state) for n, state in states)
        assert (actual - expected).abs().mean() < 0.05
        assert not torch.equal(actual, expected)


@EVERY_NETWORK
def test_the_network_itself_stays_as_it_was(tiny, sources, changes: dict) -> None:
    network = tiny(**changes)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}

    quantized(network)

    after = network.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_machine_without_the_kernels_is_told_so(tiny, monkeypatch) -> None:
    class Nothing:
        engine = "none"

    monkeypatch.setattr(torch.backends, "quantized", Nothing)
    with pytest.raises(ConfigError, match="decoding.int8: torch has no eight-bit kernels here"):
        quantized(tiny())
