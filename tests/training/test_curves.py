"""A run becomes a picture; several runs one picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hiersum.errors import DataError, InputError
from hiersum.training.run_folder import plot_runs


def make_run(folder: Path) -> Path:
    folder.mkdir()
    lines: list[dict[str, float]] = [
        {"step": step, "loss": 5 / step, "plain_loss": 4 / step, "learning_rate": step * 0.1}
        for step in range(1, 9)
    ]
    lines.append({"step": 8, "valid_loss": 1.0, "valid_rouge1": 20.0, "valid_rouge2": 5.0})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_every_curve_is_in_the_picture_and_the_same_run_gives_the_same_file(tmp_path: Path) -> None:
    run = make_run(tmp_path / "one")
    first = plot_runs([run], tmp_path / "a.svg").read_text()
    assert plot_runs([run], tmp_path / "b.svg").read_text() == first
    for text in ("one: training", "one: validation", "ROUGE-2", "learning rate"):
        assert f"<!-- {text}" in first or text in first, text


def test_runs_are_drawn_together(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / "one"), make_run(tmp_path / "two")]
    picture = plot_runs(runs, tmp_path / "a.svg").read_text()
    assert "one: training" in picture
    assert "two: training" in picture
    assert plot_runs(runs, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    run = make_run(tmp_path / "one")
    with pytest.raises(InputError, match=r"a.gif: give the picture a name that ends in .svg"):
        plot_runs([run], tmp_path / "a.gif")
    (run / "metrics.jsonl").write_text("")
    with pytest.raises(InputError, match="one: has no measurements yet"):
        plot_runs([run], tmp_path / "a.svg")
    with pytest.raises(DataError, match="no such file"):
        plot_runs([tmp_path], tmp_path / "a.svg")
