"""Means of scores drawn again: the bootstrap behind intervals and behind one significance test.

Scores are a table, a row for each pair of texts and a column for each metric. A sample draws as many
rows as there are, with replacement; all columns share the draws. What counts is how often each row was
drawn, so that all means of all columns are one product of matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MAX_DRAWS = 4_000_000  # at a time, so that memory is bounded however many pairs there are


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and the bounds within which the bootstrap's means mostly lie."""

    mean: float
    low: float
    high: float


def chunks(total: int, rows: int) -> Iterator[int]:
    """Yield sizes that add up to `total`, each of at most so many that a table of them fits."""
    step = max(1, _MAX_DRAWS // max(1, rows))
    for start in range(0, total, step):
        yield min(step, total - start)


def bootstrap_means(scores: Floats, *, samples: int, seed: int) -> Floats:
    """Return the mean of every column in every sample.

    Args:
        scores: a row per pair, a column per metric; at least one row.
        samples: how often to draw.
        seed: decides the draws.
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


def intervals(scores: Floats, *, samples: int, confidence: float, seed: int) -> list[Interval]:
    """Return the mean of every column with its bootstrap percentiles."""
    means = bootstrap_means(scores, samples=samples, seed=seed)
    outside = 50 * (1 - confidence)
    low, high = np.percentile(means, [outside, 100 - outside], axis=0)
    return [Interval(*map(float, row)) for row in zip(scores.mean(axis=0), low, high)]
