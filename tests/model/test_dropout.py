"""Dropout drops its share, keeps the mean, and lets gradients through where values went through."""

from __future__ import annotations

import pytest
import torch

from hiersum.model.dropout import drop


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_share_is_dropped_and_the_rest_keeps_the_mean(share: float) -> None:
    dropped = drop(torch.ones(501, 401), share, is_training=True)

    # Five standard errors of a binomial over so many values.
    tolerance = 5 * (share * (1 - share) / dropped.numel()) ** 0.5
    assert (dropped == 0).float().mean().item() == pytest.approx(share, abs=tolerance)
    kept = dropped[dropped != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - share)), rtol=1e-3, atol=0)


def test_no_column_is_dropped_more_than_another() -> None:
    """Four values share one draw; each of them must have its own chance."""
    dropped = drop(torch.ones(40_000, 4), 0.25, is_training=True) == 0

    for column in dropped.T:
        assert column.float().mean().item() == pytest.approx(0.25, abs=0.012)
    together = (dropped[:, 0] & dropped[:, 1]).float().mean().item()
    assert together == pytest.approx(0.25**2, abs=0.007)


def test_gradients_pass_where_values_passed() -> None:
    states = torch.randn(30, 7, requires_grad=True)

    dropped = drop(states, 0.3, is_training=True)
    dropped.sum().backward()

    assert states.grad is not None
    torch.testing.assert_close(dropped, states * states.grad)


def test_a_seed_repeats_it_and_evaluation_leaves_values_alone() -> None:
    states = torch.randn(10, 3)

    torch.manual_seed(5)
    first = drop(states, 0.5, is_training=True)
    torch.manual_seed(5)

    assert torch.equal(drop(states, 0.5, is_training=True), first)
    assert drop(states, 0.5, is_training=False) is states
    assert drop(states, 0.0, is_training=True) is states
