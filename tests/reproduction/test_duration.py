"""Estimates follow what finished stages took; durations read as people say them."""

from __future__ import annotations

import pytest

from hiersum.reproduction.duration import Estimate, spoken


def test_nothing_finished_means_costs_as_they_are() -> None:
    assert Estimate().seconds("train", 40) == 40


def test_a_kind_is_estimated_by_its_own_stages_and_others_by_all() -> None:
    estimate = Estimate.of([("train", 10, 30), ("train", 10, 50), ("write", 20, 20)])
    assert estimate.seconds("train", 5) == pytest.approx(5 * 80 / 20)
    assert estimate.seconds("write", 5) == pytest.approx(5)
    assert estimate.seconds("prepare", 5) == pytest.approx(5 * 100 / 40)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (89, "89 s"), (90, "2 min"), (3_600, "60 min"), (7_200, "2.0 h"),
     (172_800, "2.0 days")],
)  # fmt: skip
def test_durations_read_as_people_say_them(seconds: float, text: str) -> None:
    assert spoken(seconds) == text
