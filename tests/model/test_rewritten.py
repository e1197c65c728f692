"""A rewritten network has the linear layers that it was given, where it writes and only there."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hiersum.model.int8 import Int8Linear
from hiersum.model.rewritten import JointFeedForward, copy_modules, rewritten


class Marked(nn.Module):
    """A linear layer of a make of its own."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.shape = weight.shape


def test_what_reads_is_shared_and_what_writes_is_replaced(tiny) -> None:
    """Of a decoder only the maps from the source to keys and values stay plain."""
    network = tiny()

    other = rewritten(network, Marked)

    assert other.encoder is network.encoder
    assert other.source_words is network.source_words
    plain = {name for name, m in other.decoder.named_modules() if isinstance(m, nn.Linear)}
    assert plain == {
        f"layers.{n}.source_attention.{kind}" for n in range(2) for kind in ("key", "value")
    }
    assert isinstance(other.output.linear, Marked)
    assert not any(isinstance(module, Marked) for module in network.modules())


def test_three_projections_become_one_product(tiny) -> None:
    attention = rewritten(tiny(), Marked).decoder.layers[0].self_attention
    assert attention.joint.shape == (3 * 16, 16)


def test_both_sides_of_a_gate_become_one_product(tiny) -> None:
    """To the last bit, in eight bits: each row of a matrix has a scale of its own."""
    plain = tiny(profile="t5", feed_forward="gated-gelu").decoder.layers[0].feed_forward
    states = torch.randn(3, 4, 16)

    joint = JointFeedForward(plain, Int8Linear)

    expected = copy_modules(plain)
    expected.inner = Int8Linear(plain.inner.weight, plain.inner.bias)
    expected.gate = Int8Linear(plain.gate.weight, plain.gate.bias)
    assert torch.equal(joint.eval()(states), expected.eval()(states))


def test_copied_modules_share_their_weights(tiny) -> None:
    network = tiny()

    other = copy_modules(network)

    assert other is not network
    assert other.decoder.layers[0] is not network.decoder.layers[0]
    pairs = zip(network.parameters(), other.parameters(), strict=True)
    assert all(one is two for one, two in pairs)
