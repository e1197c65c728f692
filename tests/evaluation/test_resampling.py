"""Bootstrap intervals hold to drawing by hand, to theory, and to how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from hiersum.evaluation import resampling
from hiersum.evaluation.resampling import bootstrap_means, intervals


def test_means_equal_a_loop_over_the_same_draws() -> None:
    scores = np.random.default_rng(0).random((17, 3))
    drawn = np.random.default_rng(5).integers(0, 17, (40, 17))
    expected = [scores[rows].mean(axis=0) for rows in drawn]
    np.testing.assert_allclose(bootstrap_means(scores, samples=40, seed=5), expected)


def test_the_same_seed_gives_the_same_interval_and_another_another() -> None:
    scores = np.random.default_rng(0).random((50, 1))
    first, again, other = (
        intervals(scores, samples=200, confidence=0.95, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert first[0].mean == other[0].mean == pytest.approx(scores.mean())


def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    """300 sets of 60 scores with mean 0.4: near 90 % of the 90 % intervals hold it (± 3 deviations)."""
    generator = np.random.default_rng(3)
    held = 0
    for number in range(300):
        scores = generator.beta(2, 3, (60, 1))
        (interval,) = intervals(scores, samples=400, confidence=0.9, seed=number)
        held += interval.low <= 0.4 <= interval.high
    assert 0.9 - 0.055 < held / 300 < 0.9 + 0.055


def test_an_interval_is_that_of_the_normal_distribution_for_many_scores() -> None:
    scores = np.random.default_rng(1).normal(0.3, 0.1, (5_000, 1))
    (interval,) = intervals(scores, samples=2_000, confidence=0.95, seed=1)
    margin = 1.96 * scores.std() / np.sqrt(5_000)
    assert interval.low == pytest.approx(interval.mean - margin, abs=0.1 * margin)
    assert interval.high == pytest.approx(interval.mean + margin, abs=0.1 * margin)


def test_many_pairs_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(0).random((30, 2))
    whole = bootstrap_means(scores, samples=100, seed=9)
    monkeypatch.setattr(resampling, "_MAX_DRAWS", 30 * 7)
    np.testing.assert_allclose(bootstrap_means(scores, samples=100, seed=9), whole)


def test_one_pair_has_an_interval_of_no_width() -> None:
    (interval,) = intervals(np.array([[0.25]]), samples=10, confidence=0.95, seed=1)
    assert (interval.low, interval.mean, interval.high) == (0.25, 0.25, 0.25)
