"""T-DMCA: blocks and slots, and what no token may see."""

from __future__ import annotations

from unittest import mock

import pytest
import torch
import torch.nn.functional as F

from hiersum.config import ModelConfig
from hiersum.model.compressed import BlockAttention, CompressedAttention
from hiersum.model.layers import initialize
from hiersum.model.parts import Parts
from hiersum.model.spans import Spans


def make_layers(compression: int = 3) -> tuple[BlockAttention, CompressedAttention]:
    config = ModelConfig(
        architecture="tdmca",
        layers=("local", "compressed"),
        width=8,
        ff_width=8,
        num_heads=2,
        num_pooling_heads=2,
    )
    with (
        mock.patch("hiersum.model.compressed.BLOCK_LENGTH", 4),
        mock.patch("hiersum.model.compressed.COMPRESSION", compression),
    ):
        layers = [BlockAttention(Parts(config)).eval(), CompressedAttention(Parts(config)).eval()]
    for layer in layers:
        initialize(layer)
    block, compressed = layers
    assert isinstance(block, BlockAttention)
    assert isinstance(compressed, CompressedAttention)
    return block, compressed


def influence(layer: torch.nn.Module, length: int) -> torch.Tensor:
    """Return a matrix: does the output at row t change with the input at row u?"""
    states = torch.randn(length, 8)

    def run(x: torch.Tensor) -> torch.Tensor:
        return layer(x, Spans((length,)))

    jacobian = torch.autograd.functional.jacobian(run, states)
    return jacobian.abs().amax((1, 3)) > 1e-9


def test_local_attention_sees_its_own_block_up_to_itself() -> None:
    block, _ = make_layers()

    seen = influence(block, 11)

    for t in range(11):
        for u in range(11):
            assert seen[t, u] == (u <= t and u // 4 == t // 4), (t, u)


@pytest.mark.parametrize("compression", [1, 2, 3])
@pytest.mark.parametrize("length", [1, 2, 3, 7, 11, 12])
def test_no_query_sees_a_slot_that_covers_a_later_token(compression: int, length: int) -> None:
    """Row t depends on u through a slot only if that slot ends at or before t; and then it does."""
    _, compressed = make_layers(compression=compression)

    seen = influence(compressed, length)

    for t in range(length):
        for u in range(length):
            slot_end = (u // compression + 1) * compression - 1
            # Its query comes from the row itself, but with nothing but the slot of zeros to look at
            # a query is without effect.
            asks = u == t and t + 1 >= compression
            assert seen[t, u] == (slot_end <= t or asks), (t, u)


def test_slots_equal_a_strided_convolution() -> None:
    _, layer = make_layers()
    key, value = torch.randn(8, 2, 4), torch.randn(8, 2, 4)

    slots, _ = layer.slots(key, value)

    # (out, window * in) -> (out, in, window), as conv1d has it
    kernel = layer.compress_key.weight.unflatten(1, (3, 8)).transpose(1, 2)
    expected = F.conv1d(key.flatten(1).T[None], kernel, layer.compress_key.bias, stride=3)
    torch.testing.assert_close(slots[1:].flatten(1), expected[0].T)
    assert (slots[0] == 0).all()


def test_compressed_attention_equals_masked_attention() -> None:
    """The batch of causal problems is only a way to do without a mask."""
    _, layer = make_layers()
    query, key, value = torch.randn(3, 8, 2, 4)
    slot_key, slot_value = layer.slots(key, value)

    mixed = layer._attend(query, slot_key, slot_value)

    score = torch.einsum("thk,chk->htc", query, slot_key) * layer.attention.scale
    last_token = torch.arange(len(slot_key)) * 3 - 1
    is_hidden = last_token[None] > torch.arange(8)[:, None]
    weight = score.masked_fill(is_hidden, -torch.inf).softmax(-1)
    torch.testing.assert_close(mixed, torch.einsum("htc,chk->thk", weight, slot_value))


@pytest.mark.parametrize("source_length", [1, 2, 3, 7, 8, 9, 16])
def test_a_source_of_any_length_can_be_continued(tiny, source_length: int) -> None:
    """Prefix and continuation meet anywhere in a block and in a slot."""
    from hiersum.model.batch import Batch

    network = tiny(architecture="tdmca")
    source = torch.randint(9, 40, (source_length,)).tolist()
    target = [4, *torch.randint(9, 40, (19,)).tolist(), 5]
    batch = Batch.from_ids([[source]], [target])
    state = network.start(network.encode(batch), 1)

    steps = [network.step(torch.tensor([[token]]), state)[0, 0] for token in target[:-1]]

    with torch.no_grad():
        expected = network(batch).log_softmax(-1)
    torch.testing.assert_close(torch.stack(steps), expected, atol=2e-5, rtol=1e-4)
