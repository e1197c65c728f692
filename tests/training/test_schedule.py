"""Learning rates follow their formulas."""

from __future__ import annotations

import pytest

from hiersum.config import TrainingConfig
from hiersum.training.schedule import learning_rate


def test_noam_is_the_formula_of_the_paper() -> None:
    """lr * d^-0.5 * min(step^-0.5, step * warmup^-1.5), at the paper's numbers."""
    config = TrainingConfig()
    assert learning_rate(config, 4_000, 256) == pytest.approx(2 / 16 * 4_000 * 8_000**-1.5)
    assert learning_rate(config, 8_000, 256) == pytest.approx(2 / 16 * 8_000**-0.5)
    assert learning_rate(config, 32_000, 256) == pytest.approx(
        learning_rate(config, 8_000, 256) / 2
    )


def test_linear_rises_to_the_rate_and_falls_to_almost_nothing() -> None:
    config = TrainingConfig(schedule="linear", learning_rate=1.0, warmup_steps=4, steps=12)
    rates = [learning_rate(config, step, 512) for step in range(1, 14)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[3:12] == sorted(rates[3:12], reverse=True)
    assert 0 < rates[11] < 0.2
    assert rates[12] == 0


def test_constant_rises_and_stays() -> None:
    config = TrainingConfig(schedule="constant", learning_rate=0.5, warmup_steps=0)
    assert {learning_rate(config, step, 512) for step in (1, 10, 10**6)} == {0.5}
