"""Judges whose preferences are known: the kit finds the order, and finds nothing where nothing is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from judging import SYSTEMS, answer_all, small_study

from hiersum.config import EvaluationConfig
from hiersum.humaneval.design import rating_design
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.scoring import score_study
from hiersum.humaneval.statistics import item_p_values

PAPER_PLAN = StudyPlan(items=20, responses=5)
QUALITY = {"Lead": -1.5, "FT": -0.4, "T-DMCA": 0.6, "HT": 1.9}
KNOWS = {"Lead": 0.15, "FT": 0.35, "T-DMCA": 0.6, "HT": 0.85}


def test_the_order_is_found_and_every_pair_is_significant(tmp_path: Path) -> None:
    made, store = small_study(tmp_path, PAPER_PLAN)
    answer_all(made.study, store, quality=QUALITY, knows=KNOWS)
    report = score_study(made.study, store, EvaluationConfig(), accept_proposals=True)
    for finding in (report.qa, report.rating):
        assert finding is not None
        means = [interval.mean for interval in finding.means]
        assert means == sorted(means)
        assert finding.variance is not None
        assert finding.variance.p < 0.01
        assert all(pair.p_items < 0.01 for pair in finding.pairs)
        assert all(pair.p_tukey is not None and pair.p_tukey < 0.01 for pair in finding.pairs)
        assert finding.alpha is not None
        assert finding.alpha > 0.2
    assert report.qa is not None
    shares = [interval.mean for interval in report.qa.means]
    assert shares == pytest.approx([KNOWS[s] for s in SYSTEMS], abs=0.08)  # 200 answers each


def test_systems_that_are_alike_are_not_told_apart(tmp_path: Path) -> None:
    made, store = small_study(tmp_path, PAPER_PLAN)
    answer_all(made.study, store, quality=dict.fromkeys(SYSTEMS, 0.0), knows=dict.fromkeys(SYSTEMS, 0.5))
    report = score_study(made.study, store, EvaluationConfig(), accept_proposals=True)
    for finding in (report.qa, report.rating):
        assert finding is not None
        assert not any(pair.p_items < 0.01 for pair in finding.pairs)


def null_ratings(studies: int, *, by_item: float, seed: int) -> np.ndarray:
    """Simulate ratings of systems that are alike on the whole: studies x showings x systems, nan unseen.

    Args:
        studies: how many.
        by_item: how much a system's quality varies from item to item, in units of the judges' noise.
        seed: draws everything.
    """
    showings = rating_design(
        items=20, systems=4, shown=3, responses=5, judges=20, seed=1
    )
    generator = np.random.default_rng(seed)
    shown = np.array([s.systems for s in showings])
    quality = by_item * generator.normal(size=(studies, 20, 4))
    items = np.array([s.item for s in showings])
    seen = quality[:, items[:, None], shown] + generator.normal(size=(studies, len(shown), 3))
    values = np.full((studies, len(shown), 4), np.nan)
    ranks = np.argsort(np.argsort(seen, axis=2), axis=2) - 1.0
    np.put_along_axis(values, np.broadcast_to(shown, ranks.shape), ranks, axis=2)
    return values


def anova_rate(values: np.ndarray) -> float:
    """How often the analysis of variance over responses says p < 0.01."""
    groups = [values[:, ~np.isnan(values[0, :, s]), s] for s in range(4)]
    return float(np.mean(scipy.stats.f_oneway(*groups, axis=1).pvalue < 0.01))


def items_rate(values: np.ndarray) -> float:
    """How often the test by items says p < 0.01 of any pair."""
    per_item = values.reshape(len(values), 20, 5, 4)
    sums, counts = np.nansum(per_item, axis=2), (~np.isnan(per_item)).sum(axis=2).astype(float)
    found = [
        (item_p_values(s, c, trials=1_999, seed=n) < 0.01).any()
        for n, (s, c) in enumerate(zip(sums, counts))
    ]
    return float(np.mean(found))


@pytest.mark.parametrize("by_item", [0.0, 1.0])
def test_false_alarms_by_items_are_as_rare_as_promised(by_item: float) -> None:
    """At p < 0.01 at most 1 % of null studies, within what 600 of them can tell (99.9 %)."""
    rate = items_rate(null_ratings(600, by_item=by_item, seed=7))
    assert rate <= scipy.stats.binom.ppf(0.999, 600, 0.01) / 600


def test_the_papers_anova_gives_false_alarms_where_judges_agree_on_items() -> None:
    """Why the test by items is there: the ANOVA takes five judges of one item for five items.

    Even if items do not differ, a comparison has one best and one worst, so that its values depend on
    each other: the variance of a difference of means is 4/3 of what the ANOVA believes.
    """
    independent = anova_rate(null_ratings(4_000, by_item=0.0, seed=8))
    agreeing = anova_rate(null_ratings(4_000, by_item=1.0, seed=9))
    crit = scipy.stats.f.ppf(0.99, 3, 296)
    assert independent == pytest.approx(scipy.stats.chi2.sf(3 * crit / (4 / 3), 3), abs=0.012)
    assert agreeing > 0.1
