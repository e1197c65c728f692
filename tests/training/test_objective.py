"""The loss is PyTorch's own, summed over tokens."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from hiersum.training.objective import smoothed_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_it_equals_the_library(smoothing: float) -> None:
    logits_YV = torch.randn(7, 11, requires_grad=True)
    label_Y = torch.randint(0, 11, (7,))
    loss, plain = smoothed_cross_entropy(logits_YV, label_Y, smoothing)
    expected = F.cross_entropy(logits_YV, label_Y, reduction="sum", label_smoothing=smoothing)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(plain, F.cross_entropy(logits_YV, label_Y, reduction="sum"))
    torch.testing.assert_close(
        torch.autograd.grad(loss, logits_YV), torch.autograd.grad(expected, logits_YV)
    )
    assert not plain.requires_grad
