"""How often tests of a human evaluation call systems different that are alike.

Studies of the paper's size (20 items, 4 systems, 5 responses, comparisons of 3) are simulated in which no
system is better than another. In one kind of them all summaries of an item are equally good; in the other
a system is sometimes good and sometimes bad, by item, and judges mostly see it. A test that promises
p < 0.01 should raise an alarm in at most one study of a hundred.
"""

from __future__ import annotations

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from hiersum.evaluation.significance import item_p_values
from hiersum.humaneval.design import rating_design

Floats = NDArray[np.float64]

ITEMS, SYSTEMS, SHOWN, RESPONSES, QUESTIONS = 20, 4, 3, 5, 3
LEVEL = 0.01
NUM_STUDIES = 4_000


def null_ratings(studies: int, *, by_item: float, seed: int) -> Floats:
    """Simulate comparisons: studies x items x responses x systems; nan where a system was not shown.

    Args:
        studies: how many.
        by_item: how much a system's quality varies from item to item, in units of the judges' noise.
        seed: draws everything.
    """
    showings = rating_design(
        items=ITEMS, systems=SYSTEMS, shown=SHOWN, responses=RESPONSES, judges=20, seed=1
    )
    generator = np.random.default_rng(seed)
    shown = np.array([showing.systems for showing in showings])
    items = np.array([showing.item for showing in showings])
    quality = by_item * generator.normal(size=(studies, ITEMS, SYSTEMS))
    seen = quality[:, items[:, None], shown] + generator.normal(size=(studies, *shown.shape))
    ranks = np.argsort(np.argsort(seen, axis=2), axis=2) - 1.0  # -1, 0, 1
    values = np.full((studies, len(shown), SYSTEMS), np.nan)
    np.put_along_axis(values, np.broadcast_to(shown, ranks.shape), ranks, axis=2)
    return values.reshape(studies, ITEMS, RESPONSES, SYSTEMS)


def null_marks(studies: int, *, by_item: float, seed: int) -> Floats:
    """Simulate marks: studies x items x answers x systems; questions are of different difficulty."""
    generator = np.random.default_rng(seed)
    difficulty = generator.normal(size=(studies, ITEMS, 1, QUESTIONS, 1))
    quality = by_item * generator.normal(size=(studies, ITEMS, 1, 1, SYSTEMS))
    share = scipy.special.expit(difficulty + quality)
    size = (studies, ITEMS, RESPONSES, QUESTIONS, SYSTEMS)
    marks = (generator.random(size) < share).astype(np.float64)
    return marks.reshape(studies, ITEMS, RESPONSES * QUESTIONS, SYSTEMS)


def groups_of(values: Floats) -> list[Floats]:
    """Return each system's values, studies x values; which are missing is the same in all studies."""
    flat = values.reshape(len(values), -1, SYSTEMS)
    return [flat[:, ~np.isnan(flat[0, :, system]), system] for system in range(SYSTEMS)]


def anova_rate(values: Floats) -> float:
    """Return the share of studies in which the analysis of variance raises an alarm."""
    return float(np.mean(scipy.stats.f_oneway(*groups_of(values), axis=1).pvalue < LEVEL))


def tukey_rate(values: Floats) -> float:
    """Return the share of studies in which Tukey's test calls some pair different."""
    groups = groups_of(values)
    size = groups[0].shape[1]  # all systems were shown equally often
    within = np.mean([group.var(axis=1, ddof=1) for group in groups], axis=0)
    means = np.stack([group.mean(axis=1) for group in groups])
    ranges = np.ptp(means, axis=0) / np.sqrt(within / size)
    critical = scipy.stats.studentized_range.ppf(1 - LEVEL, SYSTEMS, SYSTEMS * (size - 1))
    return float(np.mean(ranges > critical))


def items_rate(values: Floats) -> float:
    """Return the share of studies in which the test by items calls some pair different."""
    sums, counts = np.nansum(values, axis=2), (~np.isnan(values)).sum(axis=2).astype(np.float64)
    found = [
        (item_p_values(s, c, trials=1_999, seed=n) < LEVEL).any()
        for n, (s, c) in enumerate(zip(sums, counts))
    ]
    return float(np.mean(found))


def main() -> None:
    from measure import write_results

    rates: dict[str, object] = {"studies": NUM_STUDIES, "level": LEVEL}
    for name, simulate in (("rating", null_ratings), ("qa", null_marks)):
        for kind, by_item in (("alike", 0.0), ("varying", 1.0)):
            values = simulate(NUM_STUDIES, by_item=by_item, seed=1)
            rates[f"{name}, {kind}"] = {
                "anova": anova_rate(values),
                "tukey": tukey_rate(values),
                "by items": items_rate(values),
            }
            print(name, kind, rates[f"{name}, {kind}"])
    write_results("false_alarms", rates)


if __name__ == "__main__":
    main()
