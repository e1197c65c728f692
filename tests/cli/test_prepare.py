"""`hiersum prepare` as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_up import made_up_articles, write_lines
from support import small_vocabulary
from typer.testing import CliRunner

from hiersum.cli import app
from hiersum.data.shards import PreparedSet


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "tokenizer.model").write_bytes(small_vocabulary("paper"))
    clusters = write_lines(made_up_articles(4), tmp_path / "clusters.jsonl")
    paths = [clusters, "--model", tmp_path / "model", "--out", tmp_path / "out", "--workers", 2]
    return ["prepare", *map(str, paths)]


def run(arguments: list[str]) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_it_says_what_the_set_holds(arguments: list[str], tmp_path: Path) -> None:
    lines = run(arguments).splitlines()
    assert lines[0].split() == ["folder", str(tmp_path / "out")]
    assert lines[1].split() == ["examples", "4"]
    assert lines[-1].split() == ["ranker", "similarity"]


def test_settings_reach_the_examples_and_json_is_for_programs(
    arguments: list[str], tmp_path: Path
) -> None:
    facts = json.loads(run([*arguments, "--json", "--set", "data.max_input_paragraphs=1"]))
    assert facts["examples"] == 4
    assert facts["paragraphs per example"] == 2, "the title and the one"
    prepared = PreparedSet.open(tmp_path / "out")
    assert {len(example.paragraph_ids) for example in prepared.read()} == {2}
