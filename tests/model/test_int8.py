"""Eight-bit weights change little, and only what writes."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from hiersum.errors import ConfigError
from hiersum.model.batch import Batch
from hiersum.model.checkpoint import from_pretrained, save_pretrained
from hiersum.model.int8 import Int8Linear, quantized
from hiersum.model.storage import Integers

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


@EVERY_NETWORK
def test_integers_from_a_file_write_as_weights_that_are_quantized_again(
    tiny, sources, tmp_path, changes: dict
) -> None:
    """What is stored in eight bits is used as it is: nothing but the last bit of a scale differs."""
    folder = save_pretrained(tiny(**changes), tmp_path / "model", storage="int8")
    networks = [quantized(from_pretrained(folder, int8=int8)) for int8 in (False, True)]
    with torch.no_grad():
        states = [(n, n.start(n.encode(Batch.from_ids(sources)), 2)) for n in networks]

    for tokens_BN in torch.randint(9, 40, (3, 2, 2)):
        expected, actual = (n.step(tokens_BN, state) for n, state in states)
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)


def test_nothing_that_writes_is_unpacked(tiny, tmp_path) -> None:
    changes = {"profile": "t5", "feed_forward": "gated-gelu", "tied_output": False}
    folder = save_pretrained(tiny(**changes), tmp_path / "model", storage="int8")

    network = from_pretrained(folder, int8=True)

    unpacked = {
        name
        for name, parameter in network.named_parameters()
        if parameter.dim() == 2 and not isinstance(parameter, Integers)
    }
    assert unpacked
    assert all(name.startswith(("encoder.", "planner.")) or is_source(name) for name in unpacked)


def is_source(name: str) -> bool:
    """Is this a map from the source to keys or values, or a bias of relative positions?"""
    return "source_attention" in name or name.endswith("scores.weight")
