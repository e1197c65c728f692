"""Packed weights give the numbers of plain ones, for any number of rows."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from hiersum.model.batch import Batch
from hiersum.model.packed import SMALL_MATRIX, PackedLinear, can_pack, packed

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


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [(1, 1), (1, 5), (2, 1), (2, 40), (3, 100)], ids=str)
@pytest.mark.parametrize("num_outputs", [130, SMALL_MATRIX // 48 + 1])
def test_a_linear_layer_is_the_one_it_replaces(
    rows: tuple[int, int], num_outputs: int, bias: bool
) -> None:
    linear = nn.Linear(48, num_outputs, bias=bias)
    states = torch.randn(*rows, 48)

    actual = PackedLinear(linear.weight, linear.bias)(states)

    torch.testing.assert_close(actual, linear(states).detach(), atol=1e-5, rtol=1e-5)


@EVERY_NETWORK
def test_log_probs_are_those_of_the_network(tiny, sources, changes: dict) -> None:
    """To rounding, at 3 steps of two hypotheses; and the network itself stays as it was."""
    network = tiny(**changes)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    fast = packed(network)
    with torch.no_grad():
        states = [(n, n.start(n.encode(Batch.from_ids(sources)), 2)) for n in (network, fast)]

    for tokens_BN in torch.randint(9, 40, (3, 2, 2)):
        expected, actual = (n.step(tokens_BN, state) for n, state in states)
        torch.testing.assert_close(actual, expected, atol=2e-5, rtol=1e-4)
    after = network.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


@EVERY_NETWORK
def test_a_packed_network_still_scores_given_targets(tiny, batch: Batch, changes: dict) -> None:
    network = tiny(**changes)
    with torch.no_grad():
        torch.testing.assert_close(packed(network)(batch), network(batch), atol=2e-5, rtol=1e-4)


def test_only_float32_weights_on_a_processor_are_packed(tiny) -> None:
    assert can_pack(tiny())
    assert not can_pack(tiny().to(torch.float64))
    assert not can_pack(tiny().to("meta"))
