"""Pages are one file that asks for nothing else, and text in them is only text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hiersum.config import EvaluationConfig
from hiersum.errors import InputError
from hiersum.evaluation.comparison import compare
from hiersum.evaluation.files import Joined
from hiersum.evaluation.page import write_comparison_page, write_report_page
from hiersum.evaluation.report import Report, evaluate

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
