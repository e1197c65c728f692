"""`hiersum build wikipedia` does what its options say, and refuses what does not go together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support import EXAMPLES
from typer.testing import CliRunner

from hiersum.cli.app import app
from hiersum.errors import InputError

DUMP = EXAMPLES / "wikipedia" / "dump.xml"
PAGES = EXAMPLES / "wikipedia" / "pages.jsonl"


def build(*arguments: object) -> str:
    words = ["build", "wikipedia", "--dump", DUMP, *arguments]
    outcome = CliRunner().invoke(app, [str(word) for word in words], standalone_mode=False)
    if outcome.exception is not None:
        raise outcome.exception
    return outcome.stdout


def test_the_example_gives_the_table_and_the_options_reach_the_work(tmp_path: Path) -> None:
    options = (
        "--search 2 --workers 1 --language any --min-words 5 --max-words 60 --valid 0 --test 0"
    )
    options += " --page-seconds 4 --page-megabytes 900 --page-bytes 9000"
    printed = build("--pages", PAGES, "--out", tmp_path / "out", *options.split())
    rows = {line[:30].strip(): line[30:].split() for line in printed.splitlines()}
    assert rows["clusters"] == ["2"]
    assert rows["cited addresses found"] == ["80.0%", "78.9%"]
    assert rows["paragraphs per cluster"][1] == "525.0"
    again = json.loads(
        build("--pages", PAGES, "--out", tmp_path / "out", "--json", *options.split())
    )
    assert again == json.loads((tmp_path / "out" / "report.json").read_text())
    assert again["plan"]["settings"] == {
        "search": 2,
        "language": "any",
        "target": {"supported": False, "min_words": 5, "max_words": 60},
        "valid_share": 0.0,
        "test_share": 0.0,
        "limits": {"seconds": 4.0, "megabytes": 900, "page_bytes": 9000},
    }


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    out = ("--out", tmp_path / "out")
    for options, message in (
        (
            ("--pages", PAGES, "--valid", 0.6, "--test", 0.5),
            r"--valid \(0\.6\) and --test \(0\.5\) add up",
        ),
        (("--pages", PAGES, "--min-words", 9, "--max-words", 8), r"--min-words \(9\) is more than"),
        (("--pages", PAGES, "--engine", "spark"), "engine 'spark' is unknown; known: local, ray"),
        (("--pages", PAGES, "--ray-address", "auto"), "--ray-address needs --engine ray"),
    ):
        with pytest.raises(InputError, match=message):
            build(*out, *options)
    assert not (tmp_path / "out").exists()


def test_engines_of_summarize_go_with_whole_corpora(tmp_path: Path) -> None:
    source = tmp_path / "clusters.jsonl"
    shutil.copy(EXAMPLES / "clusters.jsonl", source)
    message = "--engine and --workers need --input and an --output that is a file"
    for words in (["summarize", str(EXAMPLES)], ["summarize", "--input", str(source)]):
        words += ["--workers", "2"]
        outcome = CliRunner().invoke(app, words, standalone_mode=False)
        assert isinstance(outcome.exception, InputError)
        assert str(outcome.exception) == message
    results = tmp_path / "r.jsonl"
    words = ["summarize", "--input", source, "--output", results, "--workers", "1"]
    outcome = CliRunner().invoke(app, [str(word) for word in words], standalone_mode=False)
    assert outcome.exception is None
    plain = tmp_path / "p.jsonl"
    words = ["summarize", "--input", source, "--output", plain]
    CliRunner().invoke(app, [str(word) for word in words], standalone_mode=False)

    def lines(path: Path) -> list[dict[str, object]]:
        return [{**json.loads(line), "seconds": 0} for line in path.read_text().splitlines()]

    assert lines(results) == lines(plain) != []
