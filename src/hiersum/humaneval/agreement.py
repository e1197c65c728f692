"""Do judges agree? Krippendorff's alpha, for any number of judges and with values missing.

    alpha = 1 - observed disagreement / disagreement expected by chance

1 is agreement, 0 what chance alone would give. Values of one unit are paired with each other, each pair
weighing 1 / (values of the unit - 1); units with fewer than two values say nothing. What a pair disagrees
by is the square of a difference: nominal 0 or 1, interval the difference itself, ordinal how many values
of the data lie between (Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Metric = Literal["nominal", "ordinal", "interval"]
Floats = NDArray[np.float64]


def krippendorff_alpha(units: Iterable[Sequence[float]], metric: Metric) -> float | None:
    """Return alpha over units, each with the values that judges gave it.

    None where it is not defined: no unit has two values, or there is but one value in all.
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
    distances = _distances(np.array(values, dtype=np.float64), totals, metric)
    observed = (coincidences * distances).sum()
    expected = (np.outer(totals, totals) * distances).sum() / (totals.sum() - 1)
    return float(1 - observed / expected)


def _distances(values: Floats, totals: Floats, metric: Metric) -> Floats:
    if metric == "nominal":
        return 1.0 - np.eye(len(values))
    if metric == "ordinal":
        # Half of the ends and all between: the difference of the middles of the cumulated counts.
        values = np.cumsum(totals) - totals / 2
    squares: Floats = (values[:, None] - values[None, :]) ** 2
    return squares
