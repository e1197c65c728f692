"""A run folder is complete at every moment, and never mixes two runs."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from networks import build

from hiersum.config import Config
from hiersum.errors import CheckpointError, DataError, InputError, TrainingError
from hiersum.training import run_folder
from hiersum.training.run_folder import (
    Interruption,
    MetricsWriter,
    RunFolder,
    TrainerState,
    read_metrics,
)


def save(
    run: RunFolder, step: int, loss: float | None = None, config: Config | None = None
) -> None:
    scores = None if loss is None else {"loss": loss, "rouge2": 10 - loss}
    state = TrainerState(step=step, validation=scores)
    run.save(build("ht"), {"a": torch.ones(2)}, state, config or Config(), {})


def test_the_newest_is_resumed_and_the_best_are_kept(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    for step, loss in enumerate([5.0, 2.0, 3.0, 1.0, 4.0, 6.0, 7.0], start=1):
        save(run, step, loss)
    newest = run.newest()
    assert newest is not None
    assert newest.state.step == 7
    assert torch.equal(newest.moments()["a"], torch.ones(2))
    assert [c.state.step for c in run.best(Config())] == [4, 2, 3, 5, 1]
    assert {c.state.step for c in run.checkpoints()} == {1, 2, 3, 4, 5, 7}


def test_what_a_kill_left_half_done_is_not_a_checkpoint(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.begin(Config())
    save(run, 1)
    partial = tmp_path / "checkpoints" / ".step-2.partial"
    partial.mkdir()
    (partial / "model.safetensors").write_bytes(b"half")
    newest = run.newest()
    assert newest is not None
    assert newest.state.step == 1
    run.begin(Config())
    assert not partial.exists()


def test_a_kill_between_a_checkpoint_and_the_list_of_the_best_is_mended(tmp_path: Path) -> None:
    """A last checkpoint that is in no list would never be tested."""
    run = RunFolder(tmp_path)
    save(run, 1, 2.0)
    earlier = (tmp_path / "best.json").read_bytes()
    save(run, 2, 1.0)
    whole = (tmp_path / "best.json").read_bytes()
    (tmp_path / "best.json").write_bytes(earlier)
    run.prune(Config())
    assert (tmp_path / "best.json").read_bytes() == whole


def test_a_full_disk_leaves_the_earlier_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunFolder(tmp_path)
    save(run, 1)

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_folder, "save_file", full)
    with pytest.raises(TrainingError, match=r"step-2: cannot be written \(No space left on device"):
        save(run, 2)
    assert [c.state.step for c in run.checkpoints()] == [1]
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step-1"]


def test_a_folder_of_something_else_is_refused(write: Callable[..., Path], tmp_path: Path) -> None:
    write("thesis.txt", "years of work")
    with pytest.raises(InputError, match="is not empty, and is not the folder of a run"):
        RunFolder(tmp_path).begin(Config())
    file = write("file", "x")
    with pytest.raises(InputError, match="cannot be made"):
        RunFolder(file / "run").begin(Config())


def test_a_run_of_a_version_with_other_settings_is_resumed(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.begin(Config())
    path = tmp_path / "config.toml"
    text = path.read_text().replace("[training]\n", "[training]\nmomentum = 3\n")
    path.write_text(f"{text}\n[gone]\nx = 1\n")
    run.begin(Config())
    assert "momentum" not in path.read_text()


def test_damage_is_named(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    save(run, 3)
    folder = tmp_path / "checkpoints" / "step-3"
    (folder / "trainer.safetensors").write_bytes(b"\0" * 20)
    newest = run.newest()
    assert newest is not None
    with pytest.raises(CheckpointError, match=r"trainer.safetensors: cannot be read"):
        newest.moments()
    path = folder / "trainer.json"
    sound = json.loads(path.read_text())
    for changes in (
        {"step": "3"}, {"tokens": -1}, {"position": {"window": None}}, {"seconds": "x"},
        {"window": []}, {"window": {"loss": None}}, {"validation": {}}, {"scale": [1]}, {"x": 1},
    ):  # fmt: skip
        path.write_text(json.dumps(sound | changes))
        with pytest.raises(CheckpointError, match=r"trainer.json: damaged .*; remove its folder"):
            run.newest()
    path.write_text("{")
    with pytest.raises(CheckpointError, match=r"trainer.json: damaged .*; remove its folder"):
        run.newest()
    folder.rename(folder.with_name("step-back"))
    assert run.newest() is None


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


def test_validation_is_told_to_the_person(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "hiersum.jobs.progress")
    with MetricsWriter(RunFolder(tmp_path), 0, 4) as metrics:
        metrics.write(3, {"valid_loss": 1.25, "valid_rouge2": 7.0})
    assert caplog.messages == ["step 3: valid_loss 1.250  valid_rouge2 7.000"]


def test_a_last_line_cut_off_is_left_out_and_other_damage_refused(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "lo')
    assert [line["step"] for line in read_metrics(path)] == [1]
    path.write_text('{"loss": 2.0}\n{"step": 2}\n')
    with pytest.raises(DataError, match=r"metrics.jsonl:1: not a line of metrics"):
        list(read_metrics(path))
    with pytest.raises(DataError, match="no such file"):
        list(read_metrics(tmp_path / "other.jsonl"))


@pytest.fixture
def _signals_as_in_a_terminal() -> Iterator[None]:
    """What a shell starts in the background is told to ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_signals_as_in_a_terminal")
def test_a_first_signal_asks_and_a_second_ends() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        assert not interruption.is_set
        signal.raise_signal(signal.SIGINT)
        assert interruption.is_set
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
