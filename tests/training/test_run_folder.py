"""A run folder is complete at every moment, and never mixes two runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from networks import build

from hiersum.config import Config
from hiersum.errors import CheckpointError, InputError, TrainingError
from hiersum.training import run_folder
from hiersum.training.run_folder import RunFolder, TrainerState


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
    assert torch.equal(newest.memory()["a"], torch.ones(2))
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
    with pytest.raises(InputError, match="is not empty and holds no run"):
        RunFolder(tmp_path).begin(Config())
    file = write("file", "x")
    with pytest.raises(InputError, match="cannot be made"):
        RunFolder(file / "run").begin(Config())


def test_damage_is_named(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    save(run, 3)
    folder = tmp_path / "checkpoints" / "step-3"
    (folder / "trainer.safetensors").write_bytes(b"\0" * 20)
    newest = run.newest()
    assert newest is not None
    with pytest.raises(CheckpointError, match=r"trainer.safetensors: cannot be read"):
        newest.memory()
    (folder / "trainer.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"trainer.json: damaged .*; remove its folder"):
        run.newest()
