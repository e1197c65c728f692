"""Judges whose preferences are known: the kit finds the order, and finds nothing where nothing is."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import scipy.stats
from judging import SYSTEMS, answer_all, small_study
from support import REPOSITORY

from hiersum.config import EvaluationConfig
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.scoring import score_study


def load_simulation() -> ModuleType:
    """The simulation of null studies is a benchmark: there it runs on many, here on fewer."""
    path = REPOSITORY / "benchmarks" / "false_alarms.py"
    spec = importlib.util.spec_from_file_location("false_alarms", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


simulation = load_simulation()
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
    answer_all(
        made.study, store, quality=dict.fromkeys(SYSTEMS, 0.0), knows=dict.fromkeys(SYSTEMS, 0.5)
    )
    report = score_study(made.study, store, EvaluationConfig(), accept_proposals=True)
    for finding in (report.qa, report.rating):
        assert finding is not None
        assert not any(pair.p_items < 0.01 for pair in finding.pairs)


@pytest.mark.parametrize("kind", ["null_ratings", "null_marks"])
@pytest.mark.parametrize("by_item", [0.0, 1.0])
def test_false_alarms_by_items_are_as_rare_as_promised(kind: str, by_item: float) -> None:
    """At p < 0.01 at most 1 % of null studies, within what 500 of them can tell (99.9 %)."""
    values = getattr(simulation, kind)(500, by_item=by_item, seed=7)
    assert simulation.items_rate(values) <= scipy.stats.binom.ppf(0.999, 500, 0.01) / 500


def test_the_papers_tests_give_false_alarms_where_systems_vary_by_item() -> None:
    """Why the test by items is there: the ANOVA takes five judges of one item for five items.

    Even if items do not differ, a comparison has one best and one worst, so that its values depend on
    each other: the variance of a difference of means is 4/3 of what the ANOVA believes.
    """
    alike = simulation.null_ratings(4_000, by_item=0.0, seed=8)
    critical = scipy.stats.f.ppf(0.99, 3, 296)
    expected = scipy.stats.chi2.sf(3 * critical / (4 / 3), 3)
    assert simulation.anova_rate(alike) == pytest.approx(expected, abs=0.012)
    for kind in (simulation.null_ratings, simulation.null_marks):
        varying = kind(1_000, by_item=1.0, seed=9)
        assert simulation.anova_rate(varying) > 0.1
        assert simulation.tukey_rate(varying) > 0.1


def test_the_simulations_tukey_is_scipys() -> None:
    values = simulation.null_ratings(5, by_item=1.0, seed=3)
    theirs = [
        scipy.stats.tukey_hsd(*groups).pvalue.min() < 0.01
        for groups in zip(*simulation.groups_of(values))
    ]
    assert simulation.tukey_rate(values) == pytest.approx(np.mean(theirs))
