"""Pages are self-contained, escape all text, and draw marks where the numbers say."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from hiersum.config import EvaluationConfig
from hiersum.errors import InputError
from hiersum.evaluation import page
from hiersum.evaluation.comparison import Report, compare, evaluate
from hiersum.evaluation.page import (
    histogram,
    interval_plot,
    scatter,
    write_comparison_page,
    write_report_page,
)
from hiersum.evaluation.significance import Interval
from hiersum.evaluation.summary_files import Joined

NASTY = "<script>alert(1)</script> & \"quotes\" 'too'"


class Balance(HTMLParser):
    """Checks that every element that is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def assert_page(path: Path) -> str:
    page = path.read_text()
    checker = Balance()
    checker.feed(page)
    assert checker.open == []
    assert "script" not in checker.seen
    assert "svg" in checker.seen
    assert not re.search(r"(src|href)\s*=|url\(|@import", page)
    return page


def report(*names: str) -> Report:
    references = tuple(f"Bridge {n} is open. {NASTY}" for n in range(8))
    systems = tuple(tuple(f"Bridge {n} {name}" if n else "" for n in range(8)) for name in names)
    joined = Joined(tuple(f"id<{n}>" for n in range(8)), references, systems, None, 0)
    return evaluate(joined, EvaluationConfig(), names=names)


def test_a_report_is_one_page(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report_page(report(NASTY), path)
    page = assert_page(path)
    assert page.count('<div class="example">') == 8
    assert "(empty)" in page
    assert "rouge|hiersum:" in page
    assert "1 empty, which score 0" in page


def test_a_comparison_is_one_page_with_marks(tmp_path: Path) -> None:
    path, config = tmp_path / "comparison.html", EvaluationConfig()
    write_comparison_page(compare(report("is open", "is shut"), config, num_examples=2), path)
    page = assert_page(path)
    assert "<mark>open</mark>" in page


def test_a_page_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_report_page(report("s"), tmp_path / "none" / "report.html")
    assert list(tmp_path.iterdir()) == []


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
    monkeypatch.setattr(page, "_MAX_DOTS", 10)
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
