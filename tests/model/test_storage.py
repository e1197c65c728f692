"""Storage: what comes back is as near as the format allows."""

from __future__ import annotations

import pytest
import torch

from hiersum.model.storage import pack, quantize, unpack


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
