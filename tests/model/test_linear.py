"""Linear maps by oneDNN, held to torch's own."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from hiersum.model import linear as module
from hiersum.model.linear import MIN_ROWS, Linear, has_onednn, linear

pytestmark = pytest.mark.skipif(not has_onednn(), reason="this torch has no oneDNN")


@pytest.mark.parametrize("shape", [(MIN_ROWS,), (MIN_ROWS // 4, 8)])
@pytest.mark.parametrize("has_bias", [False, True])
def test_linear_and_its_gradients_equal_those_of_torch(shape: tuple, has_bias: bool) -> None:
    states = torch.randn(*shape, 24)
    weight, bias = torch.randn(40, 24), torch.randn(40) if has_bias else None
    change = torch.randn(*shape, 40)
    found = []
    for function in (linear, F.linear):
        inputs = [t.clone().requires_grad_() for t in (states, weight, bias) if t is not None]
        result = function(*inputs)
        result.backward(change)
        found.append([result.detach(), *(given.grad for given in inputs)])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_linear_takes_views_that_are_not_contiguous() -> None:
    states = torch.randn(24, MIN_ROWS).t()
    weight = torch.randn(24, 40).t()
    torch.testing.assert_close(linear(states, weight), states @ weight.t(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rows", [MIN_ROWS - 1, MIN_ROWS])
def test_few_rows_are_multiplied_by_torch(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    multiply = module._multiply
    monkeypatch.setattr(module, "_multiply", lambda *a: calls.append(1) or multiply(*a))
    linear(torch.randn(rows, 8), torch.randn(3, 8))
    assert len(calls) == (rows >= MIN_ROWS)


def test_autocast_and_other_types_are_left_to_torch() -> None:
    states, weight = torch.randn(MIN_ROWS, 8), torch.randn(3, 8)
    assert linear(states.double(), weight.double()).dtype == torch.float64
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert linear(states, weight).dtype == torch.bfloat16


def test_a_layer_whose_input_needs_no_gradient_still_learns() -> None:
    layer = Linear(8, 3)
    layer(torch.randn(MIN_ROWS, 8)).sum().backward()
    assert layer.weight.grad is not None
    assert layer.bias.grad is not None
    assert torch.all(layer.bias.grad == MIN_ROWS)
