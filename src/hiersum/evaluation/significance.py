"""Is one system better than another, or was it luck?

Both tests ask how often chance alone makes a difference of means as large as the one that was seen, in
either direction; the scores of two systems on the same input belong together.

    paired bootstrap           inputs are drawn anew; the drawn differences are centred on zero, which
                               is where they would be if the systems were alike
    approximate randomisation  for each input a coin decides which system gets which score; if the
                               systems were alike this would change nothing

Both count the observed difference as one of the trials, so that no p-value is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiersum.config import EvaluationConfig
from hiersum.evaluation.resampling import Interval, bootstrap_means, chunks

Floats = NDArray[np.float64]

# Sums of the same numbers in another order differ in their last bits; equal means must count as equal.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better the first system is than the second, and how sure that is."""

    interval: Interval
    p_bootstrap: float
    p_randomisation: float


def compare_scores(first: Floats, second: Floats, config: EvaluationConfig) -> list[Difference]:
    """Compare two tables of scores (a row per pair, a column per metric), column by column."""
    differences = first - second
    observed = differences.mean(axis=0)
    means = bootstrap_means(differences, samples=config.bootstrap_samples, seed=config.seed)
    outside = 50 * (1 - config.confidence)
    low, high = np.percentile(means, [outside, 100 - outside], axis=0)
    p_bootstrap = _p_value(means - observed, observed)
    swapped = _randomised_means(differences, trials=config.randomisation_trials, seed=config.seed)
    p_randomisation = _p_value(swapped, observed)
    return [
        Difference(Interval(*map(float, bounds)), float(p_boot), float(p_swap))
        for *bounds, p_boot, p_swap in zip(observed, low, high, p_bootstrap, p_randomisation)
    ]


def _randomised_means(differences: Floats, *, trials: int, seed: int) -> Floats:
    """Return the mean differences after random swaps; a swap turns the sign of a difference."""
    num_rows = len(differences)
    generator = np.random.default_rng(seed)
    means = []
    for size in chunks(trials, num_rows):
        signs = generator.integers(0, 2, (size, num_rows), dtype=np.int8) * 2 - 1
        means.append(signs @ differences / num_rows)
    return np.concatenate(means)


def _p_value(by_chance: Floats, observed: Floats) -> Floats:
    as_large = np.abs(by_chance) >= np.abs(observed) - _ROUNDING
    p_values: Floats = (as_large.sum(axis=0) + 1) / (len(by_chance) + 1)
    return p_values
