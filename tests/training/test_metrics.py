"""Metrics are lines of JSON; what a killed run measured twice is there once."""

from __future__ import annotations

from pathlib import Path

import pytest

from hiersum.errors import DataError
from hiersum.training.metrics import MetricsWriter, read_metrics
from hiersum.training.run_folder import RunFolder

LINE = {"loss": 2.0, "tokens_per_second": 10.0}


def test_lines_after_the_step_to_resume_from_are_dropped(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    with MetricsWriter(run, 0, 4) as metrics:
        for step in (1, 2, 3):
            metrics.advance()
            metrics.write(step, LINE | {"loss": float(step)})
    with MetricsWriter(run, 2, 4) as metrics:
        metrics.write(3, LINE)
    assert [(x["step"], x["loss"]) for x in read_metrics(run.metrics)] == [(1, 1), (2, 2), (3, 2)]
    assert any(run.events.iterdir())


def test_validation_is_told_to_the_person(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with MetricsWriter(RunFolder(tmp_path), 0, 4) as metrics:
        metrics.write(3, {"valid_loss": 1.25, "valid_rouge2": 7.0})
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "step 3: valid_loss 1.250  valid_rouge2 7.000\n"


def test_a_last_line_cut_off_is_left_out_and_other_damage_refused(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "lo')
    assert [line["step"] for line in read_metrics(path)] == [1]
    path.write_text('{"loss": 2.0}\n{"step": 2}\n')
    with pytest.raises(DataError, match=r"metrics.jsonl:1: not a line of metrics"):
        list(read_metrics(path))
    with pytest.raises(DataError, match="no such file"):
        list(read_metrics(tmp_path / "other.jsonl"))
