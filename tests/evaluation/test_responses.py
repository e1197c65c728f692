"""Tests and agreement hold to other implementations and to published examples."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import statsmodels.api as sm
from statsmodels.formula.api import ols
from statsmodels.stats.multicomp import pairwise_tukeyhsd
from statsmodels.stats.multitest import multipletests

from hiersum.config import EvaluationConfig
from hiersum.evaluation.significance import (
    Responses,
    anova,
    item_p_values,
    krippendorff_alpha,
    pair_tests,
    system_intervals,
)

CONFIG = EvaluationConfig()


def drawn(systems: int = 4, items: int = 12, each: int = 5, seed: int = 3) -> Responses:
    generator = np.random.default_rng(seed)
    system, item = (a.ravel() for a in np.mgrid[:systems, :items].repeat(each, axis=2))
    values = generator.normal(0.3 * system, 1.0)
    return Responses(item, system, values, items, systems)


def test_anova_and_tukey_are_those_of_scipy_and_statsmodels() -> None:
    responses = drawn()
    found = anova(responses)
    assert found is not None
    expected = scipy.stats.f_oneway(*responses.groups())
    assert (found.f, found.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-12)
    frame = pd.DataFrame({"value": responses.values, "system": responses.systems.astype(str)})
    table = sm.stats.anova_lm(ols("value ~ system", frame).fit())
    assert found.f == pytest.approx(table["F"].iloc[0])
    assert found.p == pytest.approx(table["PR(>F)"].iloc[0])
    assert [found.between, found.within] == table["df"].tolist()
    theirs = pairwise_tukeyhsd(responses.values, responses.systems)
    pairs = pair_tests(responses)
    assert [p.p_tukey for p in pairs] == pytest.approx(theirs.pvalues.tolist(), abs=1e-5)
    assert [-p.difference for p in pairs] == pytest.approx(theirs.meandiffs.tolist())


def test_unequal_numbers_of_responses_are_no_trouble() -> None:
    whole = drawn()
    keep = np.random.default_rng(1).random(len(whole.values)) < 0.6
    part = Responses(whole.items[keep], whole.systems[keep], whole.values[keep], 12, 4)
    theirs = pairwise_tukeyhsd(part.values, part.systems)
    ours = [p.p_tukey for p in pair_tests(part)]
    assert ours == pytest.approx(theirs.pvalues.tolist(), abs=1e-5)


def test_changing_places_within_items_equals_every_way_to_do_so() -> None:
    """7 items: all 128 ways for each pair, the observed one among them; then Holm as in statsmodels."""
    generator = np.random.default_rng(2)
    sums = generator.integers(-3, 4, (7, 3)).astype(float) + [0.0, 1.0, 3.0]
    counts = generator.integers(2, 6, (7, 3)).astype(float)
    exact = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        means = sums.sum(axis=0) / counts.sum(axis=0)
        differences = []
        for swaps in product((False, True), repeat=7):
            ones, others = (
                [
                    (table[n, b if swap else a], table[n, a if swap else b])
                    for n, swap in enumerate(swaps)
                ]
                for table in (sums, counts)
            )
            one = sum(s[0] for s in ones) / sum(c[0] for c in others)
            other = sum(s[1] for s in ones) / sum(c[1] for c in others)
            differences.append(abs(one - other))
        exact.append(np.mean(np.array(differences) >= abs(means[a] - means[b]) - 1e-12))
    corrected = multipletests(exact, method="holm")[1]
    p_values = item_p_values(sums, counts, trials=60_000, seed=1)
    assert p_values[[0, 0, 1], [1, 2, 2]] == pytest.approx(corrected, abs=0.01)
    assert (p_values == p_values.T).all()


def test_an_interval_is_of_items_not_of_responses() -> None:
    """Twenty judges who all say the same of an item are one observation, not twenty."""
    values = np.random.default_rng(5).normal(size=(30, 1))
    few = Responses(np.arange(30), np.zeros(30, int), values.ravel(), 30, 1)
    many = Responses(
        np.arange(30).repeat(20), np.zeros(600, int), values.repeat(20, axis=1).ravel(), 30, 1
    )
    (one,), (other,) = (system_intervals(r, CONFIG) for r in (few, many))
    assert (one.mean, one.low, one.high) == pytest.approx((other.mean, other.low, other.high))
    assert one.mean == pytest.approx(values.mean())
    error = values.std() / np.sqrt(30)
    assert one.high - one.low == pytest.approx(2 * 1.96 * error, rel=0.15)


def test_what_cannot_be_tested_is_not() -> None:
    alike = Responses(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.ones(4), 2, 2)
    assert anova(alike) is None
    (pair,) = pair_tests(alike)
    assert (pair.p_tukey, pair.p_items, pair.difference) == (None, 1.0, 0.0)
    lonely = Responses(np.array([0, 0]), np.array([0, 1]), np.array([1.0, -1.0]), 1, 2)
    assert anova(lonely) is None


NONE = math.nan
# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): examples A, B and C.
BINARY = ["0100000010", "1110010000"]
MISSING = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
]


def units(rows: list) -> list[list[float]]:
    """Turn what each judge said into what each unit was called."""
    values = [[float(ord(v)) if isinstance(v, str) else v for v in row] for row in rows]
    return [[v for v in unit if not math.isnan(v)] for unit in zip(*values)]


@pytest.mark.parametrize(
    ("rows", "metric", "published"),
    [
        (BINARY, "interval", 0.095),
        (MISSING, "ordinal", 0.815),
        (MISSING, "interval", 0.849),
    ],
)
def test_alpha_is_the_published_one(rows: list, metric: str, published: float) -> None:
    alpha = krippendorff_alpha(units(rows), metric)  # type: ignore[arg-type]
    assert alpha == pytest.approx(published, abs=0.0006)


def test_alpha_by_hand() -> None:
    """Two units, 1 1 and 1 0: observed 2 / 4, expected 2 * 3 * 1 / (4 * 3), so 1 - 0.5 / 0.5 = 0."""
    assert krippendorff_alpha([[1, 1], [1, 0]], "interval") == pytest.approx(0.0)
    assert krippendorff_alpha([[1, 1], [0, 0]], "interval") == 1.0
    assert krippendorff_alpha([[1, 0], [0, 1]], "interval") == pytest.approx(-0.5)


def test_alpha_is_not_made_up_where_it_is_not_defined() -> None:
    assert krippendorff_alpha([], "interval") is None
    assert krippendorff_alpha([[1], [0]], "interval") is None
    assert krippendorff_alpha([[1, 1], [1, 1]], "ordinal") is None
