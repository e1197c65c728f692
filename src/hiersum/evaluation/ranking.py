"""The paper's Table 1: how much of the target stands in the paragraphs that a ranker puts first?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiersum.text.overlap import lcs_overlap

Floats = NDArray[np.float64]

CUTS = (5, 10, 20, 40)
"""How many of the first paragraphs are read (the paper's L')."""
PAPER = {
    5: (24.86, 39.38),
    10: (32.43, 46.74),
    20: (40.87, 53.84),
    40: (49.49, 60.42),
}
"""The paper's numbers for similarity and for its ranker, on WikiSum."""
_NUM_SAMPLES = 1_000
_SEED = 0


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


def recalls_at(
    target: str, rankings: Sequence[Sequence[str]], cuts: Sequence[int] = CUTS
) -> Floats:
    """Return the ROUGE-L recall, in per cent, of the first paragraphs of each ranking.

    Args:
        target: the summary that a person wrote.
        rankings: the paragraphs of one cluster in several orders, best first.
        cuts: how many of them are read, joined into one text.

    Returns:
        A row per ranking and a column per cut. NaN where the cluster has too few paragraphs: to leave
        something to choose, it must have more than twice as many as are read.
    """
    recalls = np.full((len(rankings), len(cuts)), np.nan)
    columns = [column for column, cut in enumerate(cuts) if len(rankings[0]) > 2 * cut]
    texts = ["\n".join(texts[: cuts[column]]) for texts in rankings for column in columns]
    if texts:
        found = 100 * lcs_overlap(target, texts).recall
        recalls[:, columns] = found.reshape(len(rankings), len(columns))
    return recalls


def interval(values: Floats) -> Interval:
    """Return the mean of at least one value, with its interval."""
    from scipy.stats import bootstrap

    mean = float(values.mean())
    if len(values) == 1 or np.ptp(values) == 0:
        return Interval(mean, mean, mean)
    bounds = bootstrap(
        (values,), np.mean, n_resamples=_NUM_SAMPLES, method="percentile", rng=_SEED, batch=100
    ).confidence_interval
    return Interval(mean, float(bounds.low), float(bounds.high))
