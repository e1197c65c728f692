"""Intervals of mean scores, tests of whether systems differ, and agreement of judges.

Scores of summaries are a table with a row per input and a column per metric.

    paired bootstrap           resample the inputs; centre the resampled differences on zero
    approximate randomisation  flip a coin for each input to swap the two systems' scores

Responses of judges are several per item and system.

    ANOVA and Tukey HSD        as in the paper, over single responses, treated as independent
    by items                   flip a coin per item to swap two systems, with all its responses

Responses to one item are not independent, so the paper's tests find differences too easily; the test
by items does not. Its p-values are corrected for the number of pairs by Holm's method.

P-values are two-sided: how often chance alone makes a difference as large as the observed one. The
observed difference counts as one of the trials, so no p-value is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hiersum.config import EvaluationConfig

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scale = Literal["ordinal", "interval"]

CONFIDENCE = 0.95
"""Confidence level of intervals."""
SEED = 1
"""The seed of the bootstrap and of the permutation test; signatures include it."""
TRIALS = 10_000
"""Random swaps of two systems' scores behind a p-value."""
_BOUNDS = (2.5, 97.5)  # the percentiles that bound an interval
_ROUNDING = 1e-12  # tolerance for equal means: sums in another order differ in their last bits
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
    for size in _chunks(samples, num_rows):
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


def _chunks(total: int, row_length: int) -> Iterator[int]:
    """Yield sizes that add up to `total`, each small enough for a table of such rows."""
    step = max(1, _MAX_DRAWS // max(1, row_length))
    for start in range(0, total, step):
        yield min(step, total - start)


def _intervals(observed: Floats, means: Floats) -> list[Interval]:
    low, high = np.percentile(means, _BOUNDS, axis=0)
    return [Interval(*map(float, bounds)) for bounds in zip(observed, low, high)]


def _randomised_means(differences: Floats, *, trials: int, seed: int) -> Floats:
    """Return mean differences after random swaps; a swap flips the sign of a difference."""
    num_rows = len(differences)
    generator = np.random.default_rng(seed)
    means = []
    for size in _chunks(trials, num_rows):
        signs = generator.integers(0, 2, (size, num_rows), dtype=np.int8) * 2 - 1
        means.append(signs @ differences / num_rows)
    return np.concatenate(means)


def _p_values(by_chance: Floats, observed: Floats) -> Floats:
    as_large = np.abs(by_chance) >= np.abs(observed) - _ROUNDING
    p_values: Floats = (as_large.sum(axis=0) + 1) / (len(by_chance) + 1)
    return p_values


@dataclass(frozen=True, slots=True)
class Responses:
    """The values given by judges, each to one system on one item."""

    items: Ints
    systems: Ints
    values: Floats
    num_items: int
    num_systems: int

    def per_item(self) -> tuple[Floats, Floats]:
        """Return the sums and counts of the values: items x systems."""
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
    """The lead of the first system over the second."""

    first: int
    second: int
    difference: float
    p_tukey: float | None
    p_items: float


def system_intervals(responses: Responses, config: EvaluationConfig) -> list[Interval]:
    """Return each system's mean with its interval; the bootstrap draws items, not responses."""
    sums, counts = responses.per_item()
    used = counts.sum(axis=1) > 0
    table = np.hstack([sums[used], counts[used]])
    drawn = bootstrap_means(table, samples=config.bootstrap_samples, seed=SEED)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = drawn[:, : responses.num_systems] / drawn[:, responses.num_systems :]
    observed = _means(sums.sum(axis=0), counts.sum(axis=0))
    # A sample may have no response to a system.
    bounds = [np.percentile(m[~np.isnan(m)], _BOUNDS) for m in means.T]
    return [Interval(float(m), float(low), float(high)) for m, (low, high) in zip(observed, bounds)]


def anova(responses: Responses) -> Anova | None:
    """Return the analysis of variance over single responses, None if it is undefined."""
    from scipy.stats import f_oneway

    groups = responses.groups()
    if not _is_testable(groups):
        return None
    result = f_oneway(*groups)
    within = sum(len(group) for group in groups) - len(groups)
    return Anova(float(result.statistic), float(result.pvalue), len(groups) - 1, within)


def pair_tests(responses: Responses) -> list[PairTest]:
    """Compare every pair of systems by Tukey HSD and by items."""
    from scipy.stats import tukey_hsd

    groups = responses.groups()
    tukey = tukey_hsd(*groups).pvalue if _is_testable(groups) else None
    by_items = item_p_values(*responses.per_item(), trials=TRIALS, seed=SEED)
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
    """Return the p-value of every pair of systems, from items x systems sums and counts of values."""
    num_items, num_systems = sums.shape
    pairs = list(combinations(range(num_systems), 2))
    first, second = (np.array(side) for side in zip(*pairs))
    apart = np.stack([sums[:, second] - sums[:, first], counts[:, second] - counts[:, first]])
    totals = np.stack([sums.sum(axis=0), counts.sum(axis=0)])
    means = _means(*totals)
    observed = np.abs(means[first] - means[second])
    generator = np.random.default_rng(seed)
    as_large = np.zeros(len(pairs))
    for size in _chunks(trials, num_items * len(pairs)):
        swaps = generator.integers(0, 2, (size, num_items)).astype(np.float64)
        moved = swaps @ apart  # gain of the first systems, loss of the second
        ones = _means(*(totals[:, None, first] + moved))
        others = _means(*(totals[:, None, second] - moved))
        as_large += (np.abs(ones - others) >= observed - _ROUNDING).sum(axis=0)
    p_values = np.ones((num_systems, num_systems))
    p_values[first, second] = p_values[second, first] = holm((as_large + 1) / (trials + 1))
    return p_values


def krippendorff_alpha(units: Iterable[Sequence[float]], scale: Scale) -> float | None:
    """Return Krippendorff's alpha over units, each with the values that judges gave it.

    It is 1 - observed disagreement / disagreement expected by chance, over units with two values or
    more; None if there is none, or all values are the same. Two values disagree by the square of
    their difference, or, if ordinal, of the number of values in the data between them (Krippendorff,
    "Computing Krippendorff's Alpha-Reliability", 2011).
    """
    paired = [unit for unit in units if len(unit) > 1]
    values = sorted({value for unit in paired for value in unit})
    if len(values) < 2:
        return None
    place = {value: number for number, value in enumerate(values)}
    coincidences = np.zeros((len(values), len(values)))
    for unit in paired:
        counts = np.bincount([place[value] for value in unit], minlength=len(values))
        coincidences += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = coincidences.sum(axis=0)
    distances = _distances(np.array(values, dtype=np.float64), totals, scale)
    observed = (coincidences * distances).sum()
    expected = (np.outer(totals, totals) * distances).sum() / (totals.sum() - 1)
    return float(1 - observed / expected)


def holm(p_values: Floats) -> Floats:
    """Correct p-values by Holm's method: the smallest times all, the next times one fewer, ..."""
    order = np.argsort(p_values)
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty_like(p_values)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * factors))
    return corrected


def _means(sums: Floats, counts: Floats) -> Floats:
    means: Floats = sums / np.maximum(counts, 1)
    return means


def _is_testable(groups: Sequence[Floats]) -> bool:
    """Whether every system has two values, and values vary within some system."""
    return all(len(group) > 1 for group in groups) and any(np.ptp(group) > 0 for group in groups)


def _distances(values: Floats, totals: Floats, scale: Scale) -> Floats:
    if scale == "ordinal":
        # Half of both ends and all between: the difference of the mid-ranks.
        values = np.cumsum(totals) - totals / 2
    squares: Floats = (values[:, None] - values[None, :]) ** 2
    return squares
