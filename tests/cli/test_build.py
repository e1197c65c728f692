"""`hiersum build articles` as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_up import made_up_articles, write_lines
from typer.testing import CliRunner

from hiersum.cli import app
from hiersum.errors import InputError


def build(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["build", "articles", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    return write_lines(made_up_articles(20), tmp_path / "articles.jsonl")


def test_the_report_is_a_table_beside_the_papers_numbers(articles: Path, tmp_path: Path) -> None:
    head, *rows = build(articles, "--out", tmp_path / "out", "--search", 2).splitlines()
    assert head.split() == ["here", "paper"]
    assert rows[0].split() == ["articles", "20"]
    assert any(row.split()[:3] == ["paragraphs", "per", "cluster"] and "525" in row for row in rows)
    in_tokens = [row for row in rows if row.endswith("tokens")]
    assert {len(row) for row in in_tokens} == {len(head)}


def test_json_is_the_report_file(articles: Path, tmp_path: Path) -> None:
    printed = build(articles, "--out", tmp_path / "out", "--json")
    assert json.loads(printed) == json.loads((tmp_path / "out" / "report.json").read_text())


def test_options_reach_the_work(articles: Path, tmp_path: Path) -> None:
    more = write_lines(made_up_articles(9, seed=2), tmp_path / "more.jsonl")
    options = "--search 1 --supported --min-words 5 --max-words 30 --seed 7 --json".split()
    report = json.loads(build(articles, "--out", tmp_path / "out", "--collection", more, *options))
    assert report["plan"]["settings"] == {
        "search": 1,
        "target": {"supported": True, "min_words": 5, "max_words": 30},
        "seed": 7,
    }
    assert len(report["plan"]["collection"]) == 1


def test_limits_that_leave_nothing_are_refused(articles: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--min-words \(50\) is more than --max-words \(40\)"):
        build(articles, "--out", tmp_path / "out", "--min-words", 50, "--max-words", 40)
