"""Plots are well-formed SVG whose marks stand where the numbers say."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from hiersum.evaluation import plots
from hiersum.evaluation.plots import histogram, interval_plot, scatter
from hiersum.evaluation.resampling import Interval


def marks(svg: str, tag: str, kind: str) -> list[dict[str, str]]:
    found = ElementTree.fromstring(svg).iter(tag)
    return [element.attrib for element in found if element.get("class") == kind]


def test_a_larger_mean_stands_further_right() -> None:
    svg = interval_plot(
        [("one <b>", [Interval(0.3, 0.2, 0.4)]), ("two", [Interval(0.5, 0.5, 0.5)])], label="F1"
    )
    first, second = marks(svg, "circle", "a")
    assert float(first["cx"]) < float(second["cx"])
    bars = [m for m in marks(svg, "line", "line a") if m["y1"] == m["y2"]]
    assert float(bars[0]["x1"]) < float(first["cx"]) < float(bars[0]["x2"])
    middle = (float(bars[0]["x1"]) + float(bars[0]["x2"])) / 2
    assert middle == pytest.approx(float(first["cx"]), abs=0.1)


def test_a_histogram_counts_every_pair_once() -> None:
    values = np.array([0.0, 0.01, 0.5, 1.0])
    titles = [
        t.text or "" for t in ElementTree.fromstring(histogram(values, label="F1")).iter("title")
    ]
    assert sum(int(title.rsplit(" ", 1)[1]) for title in titles) == 4


def test_a_dot_on_the_diagonal_stands_on_it() -> None:
    values = np.array([0.0, 10.0])
    svg = scatter(values, values, labels=("x & y", "z"), ids=["<a>", "b"])
    diagonal = [m for m in marks(svg, "line", "axis") if m["y1"] != m["y2"]][0]
    low, high = marks(svg, "circle", "dot")
    slope = (float(diagonal["y2"]) - float(diagonal["y1"])) / (
        float(diagonal["x2"]) - float(diagonal["x1"])
    )
    rise = float(diagonal["y1"]) + slope * (float(high["cx"]) - float(diagonal["x1"]))
    assert float(high["cy"]) == pytest.approx(rise, abs=0.2)
    assert (low["cx"], low["cy"]) == (diagonal["x1"], diagonal["y1"])


def test_thousands_of_pairs_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "_MAX_POINTS", 10)
    values = np.arange(95, dtype=np.float64)
    svg = scatter(values, values, labels=("x", "y"), ids=[str(n) for n in range(95)])
    assert len(marks(svg, "circle", "dot")) == 10


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_values_that_are_all_the_same_are_drawn(value: float) -> None:
    same = Interval(value, value, value)
    ElementTree.fromstring(interval_plot([("x", [same])], label="F1"))
    ElementTree.fromstring(histogram(np.array([value]), label="F1"))
    ElementTree.fromstring(
        scatter(np.array([value]), np.array([value]), labels=("x", "y"), ids=["a"])
    )
