"""Storage: what comes back is as near as the format allows."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from hiersum.model.storage import Integers, join_rows, pack, quantize, unfilled, unpack


def test_int8_is_within_half_a_step_of_every_weight() -> None:
    weight = torch.randn(5, 3, 7) * torch.tensor([1e-3, 1.0, 1e3])[:, None]

    values, scale = quantize(weight)

    assert values.dtype == torch.int8
    assert ((values * scale - weight).abs() <= scale / 2 * 1.001).all()


def test_a_row_of_zeros_comes_back_as_zeros() -> None:
    tensors = {"weight": torch.zeros(2, 3)}

    assert torch.equal(unpack(pack(tensors, "int8"))["weight"], tensors["weight"])


@pytest.mark.parametrize(
    ("storage", "tolerance"),
    [("float32", 0), ("float16", 1e-3), ("bfloat16", 8e-3), ("int8", 2e-2)],
)
def test_every_storage_returns_float32_near_the_original(storage: str, tolerance: float) -> None:
    tensors = {"layer.weight": torch.randn(8, 8), "layer.bias": torch.randn(8)}

    returned = unpack(pack(tensors, storage))

    assert returned.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert returned[name].dtype == torch.float32
        torch.testing.assert_close(returned[name], tensor, rtol=tolerance, atol=tolerance)


def test_int8_leaves_vectors_alone() -> None:
    tensors = {"bias": torch.randn(8)}

    assert torch.equal(unpack(pack(tensors, "int8"))["bias"], tensors["bias"])


def test_a_parameter_called_scale_is_not_taken_for_a_row_scale() -> None:
    tensors = {"rank.scale": torch.ones(1), "rank": torch.randn(2, 2)}

    assert torch.equal(unpack(pack(tensors, "float16"))["rank.scale"], tensors["rank.scale"])


def test_integers_are_returned_as_they_are_stored() -> None:
    """The stored bytes themselves, whose rows are the float32 ones; what is not named is float32."""
    packed = pack({"one": torch.randn(5, 8), "two": torch.randn(3, 8)}, "int8")

    returned = unpack(packed, ["one"])

    one = returned["one"]
    assert isinstance(one, Integers)
    assert one.data_ptr() == packed["one"].data_ptr()
    assert torch.equal(one.rows(torch.tensor([4, 0])), unpack(packed)["one"][[4, 0]])
    assert returned["two"].dtype == torch.float32
    assert all(torch.equal(x, y) for x, y in zip(quantize(one), (packed["one"], one.scale)))


def test_joined_rows_of_integers_are_integers() -> None:
    weights = {"one": torch.randn(5, 8), "two": torch.randn(3, 8)}
    packed = pack(weights, "int8")

    joint = join_rows(list(unpack(packed, packed.keys()).values()))

    assert isinstance(joint, Integers)
    assert torch.equal(joint.rows(torch.arange(8)), torch.cat(list(unpack(packed).values())))
    assert not isinstance(join_rows(list(weights.values())), Integers)


def test_unfilled_networks_have_shapes_only() -> None:
    with unfilled():
        parts = nn.Sequential(nn.Embedding(4, 3), nn.Linear(3, 2))

    assert all(parameter.is_meta for parameter in parts.parameters())
    assert parts[0].weight.shape == (4, 3)
