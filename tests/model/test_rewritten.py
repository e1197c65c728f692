"""A rewritten network has the linear layers that it was given, where it writes and only there."""

from __future__ import annotations

from torch import Tensor, nn

from hiersum.model.rewritten import copy_modules, rewritten


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


def test_copied_modules_share_their_weights(tiny) -> None:
    network = tiny()

    other = copy_modules(network)

    assert other is not network
    assert other.decoder.layers[0] is not network.decoder.layers[0]
    pairs = zip(network.parameters(), other.parameters(), strict=True)
    assert all(one is two for one, two in pairs)
