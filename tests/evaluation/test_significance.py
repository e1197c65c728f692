"""Intervals and tests hold to loops by hand, to theory, and to how often chance fools them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from hiersum.config import EvaluationConfig
from hiersum.evaluation import significance
from hiersum.evaluation.significance import bootstrap_means, compare_scores, intervals


def test_means_equal_a_loop_over_the_same_draws() -> None:
    scores = np.random.default_rng(0).random((17, 3))
    drawn = np.random.default_rng(5).integers(0, 17, (40, 17))
    expected = [scores[rows].mean(axis=0) for rows in drawn]
    np.testing.assert_allclose(bootstrap_means(scores, samples=40, seed=5), expected)


def test_the_same_seed_gives_the_same_interval_and_another_another() -> None:
    scores = np.random.default_rng(0).random((50, 1))
    first, again, other = (intervals(scores, samples=200, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first[0].mean == other[0].mean == pytest.approx(scores.mean())


def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    """300 sets of 60 scores with mean 0.4: near 95 % of the intervals hold it (± 3 deviations)."""
    generator = np.random.default_rng(3)
    held = 0
    for number in range(300):
        scores = generator.beta(2, 3, (60, 1))
        (interval,) = intervals(scores, samples=400, seed=number)
        held += interval.low <= 0.4 <= interval.high
    assert 0.95 - 0.04 < held / 300 < 0.95 + 0.04


def test_an_interval_is_that_of_the_normal_distribution_for_many_scores() -> None:
    scores = np.random.default_rng(1).normal(0.3, 0.1, (5_000, 1))
    (interval,) = intervals(scores, samples=2_000, seed=1)
    margin = 1.96 * scores.std() / np.sqrt(5_000)
    assert interval.low == pytest.approx(interval.mean - margin, abs=0.1 * margin)
    assert interval.high == pytest.approx(interval.mean + margin, abs=0.1 * margin)


def test_many_pairs_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(0).random((30, 2))
    whole = bootstrap_means(scores, samples=100, seed=9)
    monkeypatch.setattr(significance, "_MAX_DRAWS", 30 * 7)
    np.testing.assert_allclose(bootstrap_means(scores, samples=100, seed=9), whole)


def test_one_pair_has_an_interval_of_no_width() -> None:
    (interval,) = intervals(np.array([[0.25]]), samples=10, seed=1)
    assert (interval.low, interval.mean, interval.high) == (0.25, 0.25, 0.25)


QUICK = EvaluationConfig(bootstrap_samples=300)


@pytest.fixture(autouse=True)
def _few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(significance, "TRIALS", 300)


def test_both_tests_equal_a_loop_over_the_same_draws() -> None:
    generator = np.random.default_rng(0)
    first, second = generator.random((25, 1)), generator.random((25, 1))
    (difference,) = compare_scores(first, second, QUICK)
    delta = (first - second)[:, 0]
    observed = delta.mean()
    draws = np.random.default_rng(1).integers(0, 25, (300, 25))
    by_bootstrap = sum(abs(delta[rows].mean() - observed) >= abs(observed) for rows in draws)
    assert difference.p_bootstrap == (by_bootstrap + 1) / 301
    swaps = np.random.default_rng(1).integers(0, 2, (300, 25), dtype=np.int8)
    by_swaps = 0
    for swap in swaps:
        left = [b if s == 0 else a for a, b, s in zip(first[:, 0], second[:, 0], swap)]
        right = [a if s == 0 else b for a, b, s in zip(first[:, 0], second[:, 0], swap)]
        by_swaps += abs(np.mean(left) - np.mean(right)) >= abs(observed) - 1e-12
    assert difference.p_randomisation == (by_swaps + 1) / 301


def test_randomisation_comes_near_all_possible_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight pairs have 256 swaps; drawing 20,000 estimates the exact p-value."""
    delta = np.random.default_rng(4).normal(0.4, 1, 8)
    signs = np.array(list(product((-1, 1), repeat=8)))
    exact = np.mean(np.abs((signs * delta).mean(axis=1)) >= abs(delta.mean()) - 1e-12)
    monkeypatch.setattr(significance, "TRIALS", 20_000)
    (difference,) = compare_scores(delta[:, None], np.zeros((8, 1)), EvaluationConfig())
    assert difference.p_randomisation == pytest.approx(exact, abs=0.015)


def rates(shift: float) -> tuple[float, float]:
    """How often each test finds two systems different at 5 %, over 300 sets of 40 pairs."""
    generator = np.random.default_rng(11)
    found = np.zeros(2)
    for _ in range(300):
        difficulty = generator.normal(0, 1, (40, 1))
        first = difficulty + shift + generator.normal(0, 0.3, (40, 1))
        second = difficulty + generator.normal(0, 0.3, (40, 1))
        (difference,) = compare_scores(first, second, QUICK)
        found += [difference.p_bootstrap < 0.05, difference.p_randomisation < 0.05]
    return float(found[0]) / 300, float(found[1]) / 300


def test_systems_that_are_alike_are_rarely_called_different() -> None:
    """5 % of the time is promised; three deviations of 300 trials are 3.8 points."""
    for rate in rates(shift=0.0):
        assert 0.01 < rate < 0.09


def test_a_real_difference_is_mostly_found() -> None:
    """A shift of 0.25 is 3.7 standard errors of the mean difference: a t-test has 96 % power."""
    for rate in rates(shift=0.25):
        assert rate > 0.9


def test_a_system_against_itself_is_no_difference_at_all() -> None:
    scores = np.random.default_rng(0).random((20, 2))
    for difference in compare_scores(scores, scores, QUICK):
        assert (difference.p_bootstrap, difference.p_randomisation) == (1.0, 1.0)
        assert difference.interval.mean == 0


def test_the_order_of_systems_turns_the_sign_and_nothing_else() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.random((30, 1)), generator.random((30, 1))
    (there,), (back,) = (
        compare_scores(first, second, QUICK),
        compare_scores(second, first, QUICK),
    )
    assert there.interval.mean == -back.interval.mean
    assert there.interval.low == pytest.approx(-back.interval.high)
    assert (there.p_bootstrap, there.p_randomisation) == (back.p_bootstrap, back.p_randomisation)
