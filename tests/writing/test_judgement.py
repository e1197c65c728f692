"""Support rises with what the checker says and with how sure the writer was."""

from __future__ import annotations

import math

import pytest

from hiersum.writing.judgement import FITTED, Weights, judge


def test_judge_equals_its_equation() -> None:
    weights = Weights(bias=0.5, checker=2.0, confidence=3.0)
    odds = 0.5 + 2.0 * math.log(0.7 / 0.3) + 3.0 * -0.4
    assert judge(0.7, -0.4, weights) == pytest.approx(1 / (1 + math.exp(-odds)))


def test_judge_rises_with_both_views() -> None:
    assert FITTED.checker >= 0
    assert FITTED.confidence > 0
    assert judge(0.9, -0.3) >= judge(0.5, -0.3)
    assert judge(0.7, -0.1) > judge(0.7, -0.8)


@pytest.mark.parametrize("support", [0.0, 1.0])
def test_judge_bounds_a_checker_that_is_sure(support: float) -> None:
    assert 0 < judge(support, -0.3) < 1


def test_judge_weighs_as_it_was_fitted() -> None:
    """The log odds: 1.29, 0.58 times the checker's, and 3.47 times the mean log-probability."""
    odds = [math.log(p / (1 - p)) for p in (judge(0.5, 0.0), judge(0.5, -1.0), judge(0.9, 0.0))]
    assert odds[0] == pytest.approx(1.29)
    assert odds[0] - odds[1] == pytest.approx(3.47)
    assert odds[2] - odds[0] == pytest.approx(0.58 * math.log(9))
