"""Are systems different, or was it luck? The paper's tests, and one that knows what it does not.

    ANOVA and Tukey HSD   as in the paper, over single responses: each is taken for an independent draw
    by items              a coin decides for each item whether two systems change places, with all
                          responses to it; if they were alike this would change nothing

Responses to one item are not independent: judges who read the same summaries agree, and in a comparison
one system is best only because another is not. The paper's tests therefore find differences too easily;
the test by items does not. Its p-values are corrected for the number of pairs by Holm's method, as
Tukey's are by their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hiersum.config import EvaluationConfig
from hiersum.evaluation.significance import Interval, bootstrap_means, chunks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Sums of the same numbers in another order differ in their last bits; equal means must count as equal.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Responses:
    """Values that judges gave, each to one system on one item."""

    items: Ints
    systems: Ints
    values: Floats
    num_items: int
    num_systems: int

    def per_item(self) -> tuple[Floats, Floats]:
        """Return sums and counts of the values, items x systems."""
        sums = np.zeros((self.num_items, self.num_systems))
        counts = np.zeros((self.num_items, self.num_systems))
        np.add.at(sums, (self.items, self.systems), self.values)
        np.add.at(counts, (self.items, self.systems), 1)
        return sums, counts

    def groups(self) -> list[Floats]:
        """Return the values of each system."""
        return [self.values[self.systems == system] for system in range(self.num_systems)]


@dataclass(frozen=True, slots=True)
class Anova:
    """One-way analysis of variance."""

    f: float
    p: float
    between: int
    """Degrees of freedom."""
    within: int


@dataclass(frozen=True, slots=True)
class PairTest:
    """How two systems differ; the difference is that of the first to the second."""

    first: int
    second: int
    difference: float
    p_tukey: float | None
    p_items: float


def system_intervals(responses: Responses, config: EvaluationConfig) -> list[Interval]:
    """Return each system's mean with its interval; whole items are drawn anew, not responses."""
    sums, counts = responses.per_item()
    used = counts.sum(axis=1) > 0
    table = np.hstack([sums[used], counts[used]])
    drawn = bootstrap_means(table, samples=config.bootstrap_samples, seed=config.seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = drawn[:, : responses.num_systems] / drawn[:, responses.num_systems :]
    observed = _means(sums.sum(axis=0), counts.sum(axis=0))
    outside = 50 * (1 - config.confidence)
    # A sample may by chance hold no response to a system; it says nothing about that one.
    bounds = [np.nanpercentile(m[~np.isnan(m)], [outside, 100 - outside]) for m in means.T]
    return [Interval(float(m), float(low), float(high)) for m, (low, high) in zip(observed, bounds)]


def anova(responses: Responses) -> Anova | None:
    """Return the analysis of variance over single responses; None where it is not defined."""
    from scipy.stats import f_oneway

    groups = responses.groups()
    if not _is_testable(groups):
        return None
    result = f_oneway(*groups)
    within = sum(len(group) for group in groups) - len(groups)
    return Anova(float(result.statistic), float(result.pvalue), len(groups) - 1, within)


def pair_tests(responses: Responses, config: EvaluationConfig) -> list[PairTest]:
    """Compare every two systems, by Tukey HSD and by items."""
    from scipy.stats import tukey_hsd

    groups = responses.groups()
    tukey = tukey_hsd(*groups).pvalue if _is_testable(groups) else None
    by_items = item_p_values(
        *responses.per_item(), trials=config.randomisation_trials, seed=config.seed
    )
    means = [float(group.mean()) for group in groups]
    return [
        PairTest(
            first,
            second,
            means[first] - means[second],
            None if tukey is None else float(tukey[first, second]),
            float(by_items[first, second]),
        )
        for first, second in combinations(range(responses.num_systems), 2)
    ]


def item_p_values(sums: Floats, counts: Floats, *, trials: int, seed: int) -> Floats:
    """Return, for every two systems, how often chance makes a difference as large as theirs.

    Args:
        sums: items x systems, what the values of a system on an item add up to.
        counts: how many values these are.
        trials: how often systems change places.
        seed: decides how.
    """
    num_items, num_systems = sums.shape
    pairs = list(combinations(range(num_systems), 2))
    first, second = (np.array(side) for side in zip(*pairs))
    apart = np.stack([sums[:, second] - sums[:, first], counts[:, second] - counts[:, first]])
    totals = np.stack([sums.sum(axis=0), counts.sum(axis=0)])
    means = _means(*totals)
    observed = np.abs(means[first] - means[second])
    generator = np.random.default_rng(seed)
    as_large = np.zeros(len(pairs))
    for size in chunks(trials, num_items * len(pairs)):
        swaps = generator.integers(0, 2, (size, num_items)).astype(np.float64)
        moved = swaps @ apart  # what the first systems gain and the second ones lose
        ones = _means(*(totals[:, None, first] + moved))
        others = _means(*(totals[:, None, second] - moved))
        as_large += (np.abs(ones - others) >= observed - _ROUNDING).sum(axis=0)
    p_values = np.ones((num_systems, num_systems))
    p_values[first, second] = p_values[second, first] = _holm((as_large + 1) / (trials + 1))
    return p_values


def _holm(p_values: Floats) -> Floats:
    """Correct for having asked more than once: the smallest counts for all, the next for one less."""
    order = np.argsort(p_values)
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty_like(p_values)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * factors))
    return corrected


def _means(sums: Floats, counts: Floats) -> Floats:
    means: Floats = sums / np.maximum(counts, 1)
    return means


def _is_testable(groups: Sequence[Floats]) -> bool:
    """Are there at least two values of each, and do they differ within some system?"""
    return all(len(group) > 1 for group in groups) and any(np.ptp(group) > 0 for group in groups)
