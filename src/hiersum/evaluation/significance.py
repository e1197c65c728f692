"""Bootstrap intervals of mean scores, and tests of the difference between two systems.

Scores are a table with a row per input and a column per metric.

    paired bootstrap           resample the inputs; centre the resampled differences on zero
    approximate randomisation  flip a coin for each input to swap the two systems' scores

Both p-values are two-sided: how often chance alone makes a difference as large as the observed one.
The observed difference counts as one of the trials, so no p-value is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiersum.config import EvaluationConfig

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
"""Confidence level of intervals."""
BOUNDS = (2.5, 97.5)
"""The percentiles that bound it."""
SEED = 1
"""Of the bootstrap and of the permutation test; signatures name it."""
TRIALS = 10_000
"""Random swaps of two systems' scores behind a p-value."""
ROUNDING = 1e-12
"""Tolerance for equal means: sums in another order differ in their last bits."""
_MAX_DRAWS = 4_000_000  # per chunk, to bound memory


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the bounds of its bootstrap interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The lead of the first system over the second."""

    interval: Interval
    p_bootstrap: float
    p_randomisation: float


def bootstrap_means(scores: Floats, *, samples: int, seed: int) -> Floats:
    """Return the mean of every column in every bootstrap sample: samples x columns.

    A sample draws as many rows as the table has, with replacement; all columns share the draws.
    Only the count of each row matters, so all means are one matrix product.
    """
    num_rows = len(scores)
    generator = np.random.default_rng(seed)
    means = []
    for size in chunks(samples, num_rows):
        drawn = generator.integers(0, num_rows, (size, num_rows))
        drawn += np.arange(size)[:, None] * num_rows
        counts = np.bincount(drawn.ravel(), minlength=size * num_rows).reshape(size, num_rows)
        means.append(counts @ scores / num_rows)
    return np.concatenate(means)


def intervals(scores: Floats, *, samples: int, seed: int) -> list[Interval]:
    """Return the mean of every column with its bootstrap percentiles."""
    return _intervals(scores.mean(axis=0), bootstrap_means(scores, samples=samples, seed=seed))


def compare_scores(first: Floats, second: Floats, config: EvaluationConfig) -> list[Difference]:
    """Compare two systems' scores on the same inputs, column by column."""
    differences = first - second
    observed = differences.mean(axis=0)
    means = bootstrap_means(differences, samples=config.bootstrap_samples, seed=SEED)
    swapped = _randomised_means(differences, trials=TRIALS, seed=SEED)
    return [
        Difference(interval, float(p_bootstrap), float(p_randomisation))
        for interval, p_bootstrap, p_randomisation in zip(
            _intervals(observed, means),
            _p_values(means - observed, observed),
            _p_values(swapped, observed),
        )
    ]


def chunks(total: int, row_length: int) -> Iterator[int]:
    """Yield sizes that add up to `total`, each small enough for a table of such rows."""
    step = max(1, _MAX_DRAWS // max(1, row_length))
    for start in range(0, total, step):
        yield min(step, total - start)


def _intervals(observed: Floats, means: Floats) -> list[Interval]:
    low, high = np.percentile(means, BOUNDS, axis=0)
    return [Interval(*map(float, bounds)) for bounds in zip(observed, low, high)]


def _randomised_means(differences: Floats, *, trials: int, seed: int) -> Floats:
    """Return mean differences after random swaps; a swap flips the sign of a difference."""
    num_rows = len(differences)
    generator = np.random.default_rng(seed)
    means = []
    for size in chunks(trials, num_rows):
        signs = generator.integers(0, 2, (size, num_rows), dtype=np.int8) * 2 - 1
        means.append(signs @ differences / num_rows)
    return np.concatenate(means)


def _p_values(by_chance: Floats, observed: Floats) -> Floats:
    as_large = np.abs(by_chance) >= np.abs(observed) - ROUNDING
    p_values: Floats = (as_large.sum(axis=0) + 1) / (len(by_chance) + 1)
    return p_values
