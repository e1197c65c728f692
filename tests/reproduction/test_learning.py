"""Every network gets the same budget of tokens, whatever its batches hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from prepared_sets import made_up_examples, write_set

from hiersum.config import Config, TrainingConfig
from hiersum.data.stream import BatchStream
from hiersum.errors import TrainingError
from hiersum.reproduction import learning
from hiersum.reproduction.experiment import RunSettings
from hiersum.reproduction.learning import best_checkpoints, plan_updates, training_config


@pytest.mark.parametrize("architecture", ["ht", "ft"])
@pytest.mark.parametrize(("accumulate", "processes"), [(1, 1), (2, 1), (2, 4)])
def test_the_updates_hold_the_budget(
    tmp_path: Path, architecture: str, accumulate: int, processes: int
) -> None:
    """Counted by hand over an epoch of batches as training draws them."""
    examples = made_up_examples(120)
    prepared = write_set(tmp_path / "set", examples, shard_size=50, architecture=architecture)
    training = TrainingConfig(batch_tokens=700, window=64, accumulate=accumulate)
    settings = RunSettings(million_tokens=0.05, processes=processes)
    budget = plan_updates(prepared, training, settings)
    stream = BatchStream(prepared, batch_tokens=700, window=64, seed=1, epochs=1)
    batches = [batch for batch, _ in stream]
    tokens = sum(len(ids) for e in examples for ids in e.paragraph_ids)
    tokens += sum(len(e.target_ids or ()) for e in examples)
    assert budget.tokens_per_epoch == tokens
    assert budget.tokens_per_update == pytest.approx(tokens / len(batches) * accumulate * processes)
    learned = budget.updates * budget.tokens_per_update
    assert learned == pytest.approx(50_000, abs=budget.tokens_per_update)


def test_a_run_is_validated_and_saved_as_often_as_asked(tmp_path: Path) -> None:
    write_set(tmp_path / "train", made_up_examples(60), shard_size=50)
    config = replace(Config(), training=TrainingConfig(batch_tokens=700, warmup_steps=7))
    settings = RunSettings(million_tokens=0.5, validations=5, checkpoints=3)
    chosen, budget = training_config(config, tmp_path, settings)
    training = chosen.training
    assert training.steps == budget.updates > 100
    assert training.steps // training.validate_every == 5
    assert training.validate_every // training.save_every == 4
    assert (training.keep_best, training.warmup_steps) == (3, 7)
    assert (training.data, training.valid_data) == (
        str(tmp_path / "train"),
        str(tmp_path / "valid"),
    )


def test_the_best_checkpoints_come_first(tmp_path: Path) -> None:
    rows = [{"step": n, "folder": f"checkpoints/step-{n}", "loss": 1.0} for n in (30, 10, 20)]
    (tmp_path / "best.json").write_text(json.dumps(rows))
    assert [row["step"] for row in best_checkpoints(tmp_path, 2)] == [30, 10]


def test_processes_that_fail_end_the_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several processes train apart; whatever ends them must not look like a trained network."""
    monkeypatch.setattr(learning.sys, "executable", "false")
    with pytest.raises(
        TrainingError, match="training in 2 processes ended with 1; what went wrong"
    ):
        learning._train_in_processes(Config(), tmp_path / "run", 2)
