"""`hiersum tokenizer train` as a person meets it."""

from __future__ import annotations

from pathlib import Path

from support import EXAMPLES
from typer.testing import CliRunner

from hiersum.cli import app
from hiersum.text.tokenizer import Tokenizer


def test_it_prints_the_models_place(tmp_path: Path) -> None:
    arguments = ["tokenizer", "train", EXAMPLES / "clusters.jsonl", "--out", tmp_path, "--size", 99]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{tmp_path / 'tokenizer.model'}\n"
    assert Tokenizer.load(tmp_path / "tokenizer.model", "paper").size == 99
