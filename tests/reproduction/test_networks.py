"""Equal budgets, in tokens or clusters, and summaries that survive interruption."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from prepared_sets import made_up_examples, write_set
from support import small_vocabulary

from hiersum.config import Config, SearchConfig, TrainingConfig, config_to_dict
from hiersum.data.batches import BatchStream
from hiersum.data.shards import Manifest, write_shard
from hiersum.errors import TrainingError
from hiersum.reproduction import networks
from hiersum.reproduction.experiment import RunSettings
from hiersum.reproduction.networks import (
    best_checkpoints,
    plan_updates,
    train_in_processes,
    training_config,
    write_summaries,
)
from hiersum.types import Example
from hiersum.writing import neural_model


@pytest.mark.parametrize("architecture", ["ht", "ft"])
@pytest.mark.parametrize(("accumulate", "processes"), [(1, 1), (2, 1), (2, 4)])
def test_plan_updates_keeps_the_budget(
    tmp_path: Path, architecture: str, accumulate: int, processes: int
) -> None:
    """Counted by hand over an epoch of batches as training draws them."""
    examples = made_up_examples(120)
    prepared = write_set(tmp_path / "set", examples, shard_size=50, architecture=architecture)
    training = TrainingConfig(batch_tokens=700, accumulate=accumulate)
    settings = RunSettings(million_tokens=0.05, processes=processes)
    budget = plan_updates(prepared, training, settings)
    stream = BatchStream(prepared, batch_tokens=700, seed=1, epochs=1)
    batches = [batch for batch, _ in stream]
    tokens = sum(len(ids) for e in examples for ids in e.paragraph_ids)
    tokens += sum(len(e.target_ids or ()) for e in examples)
    assert budget.tokens_per_epoch == tokens
    assert budget.tokens_per_update == pytest.approx(tokens / len(batches) * accumulate * processes)
    learned = budget.updates * budget.tokens_per_update
    assert learned == pytest.approx(50_000, abs=budget.tokens_per_update)


@pytest.mark.parametrize("architecture", ["ht", "ft"])
def test_plan_updates_keeps_a_budget_of_clusters(tmp_path: Path, architecture: str) -> None:
    """However much of a cluster a network reads, it learns from as many."""
    examples = made_up_examples(120)
    prepared = write_set(tmp_path / "set", examples, shard_size=50, architecture=architecture)
    training = TrainingConfig(batch_tokens=700, accumulate=2)
    budget = plan_updates(prepared, training, RunSettings(clusters=300))
    batches = [batch for batch, _ in BatchStream(prepared, batch_tokens=700, seed=1, epochs=1)]
    assert budget.clusters_per_update == pytest.approx(2 * 120 / len(batches))
    assert budget.updates * budget.clusters_per_update == pytest.approx(300, rel=0.03)


def test_training_config_sets_validations_and_saves(tmp_path: Path) -> None:
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


def test_short_trainings_are_saved_only_when_validated(tmp_path: Path) -> None:
    write_set(tmp_path / "train", made_up_examples(60), shard_size=50)
    config = replace(Config(), training=TrainingConfig(batch_tokens=700))
    settings = RunSettings(clusters=120, validations=2, checkpoints=1)
    training = training_config(config, tmp_path, settings)[0].training
    assert training.save_every == training.validate_every < training.steps


def test_best_checkpoints_come_best_first(tmp_path: Path) -> None:
    rows = [{"step": n, "folder": f"checkpoints/step-{n}", "loss": 1.0} for n in (30, 10, 20)]
    (tmp_path / "best.json").write_text(json.dumps(rows))
    assert [row["step"] for row in best_checkpoints(tmp_path, 2)] == [30, 10]


def test_train_in_processes_raises_if_they_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several processes train apart; whatever ends them must not look like a trained network."""
    monkeypatch.setattr(networks.sys, "executable", "false")
    with pytest.raises(TrainingError, match="training in 2 processes ended with 1; see the error"):
        train_in_processes(Config(), tmp_path / "run", 2)


class Writer:
    """Stands for a network: notes which examples it was given together, and can be killed."""

    tokenizer = SimpleNamespace(profile=SimpleNamespace(is_penn=False))

    def __init__(self, killed_after: int = 99) -> None:
        self.batches: list[list[str]] = []
        self.killed_after = killed_after

    def write_texts(self, examples: Sequence[Example], search: SearchConfig) -> list[str]:
        if len(self.batches) == self.killed_after:
            raise KeyboardInterrupt
        self.batches.append([example.id for example in examples])
        return [f"About {example.id}." for example in examples]


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """Eleven clusters of six shapes."""
    folder = tmp_path / "prepared"
    folder.mkdir()
    (folder / "tokenizer.model").write_bytes(small_vocabulary("paper"))
    examples = [
        Example(
            id=f"c{number}",
            title="",
            paragraph_ids=((5,) * (3 + number % 6),) * 2,
            documents=(0, 0),
            positions=(0, 1),
            scores=(1.0, 0.5),
            target_ids=(6, 7),
            target="a b",
        )
        for number in range(11)
    ]
    manifest = Manifest(config=config_to_dict(Config()), tokenizer="", ranker=None, sources=[])
    shards = [write_shard(folder, "part-00000.parquet", examples, skipped=0)]
    manifest.with_shards(shards, complete=True).write(folder)
    return folder


def test_write_summaries_resumes_with_the_same_batches(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other batches are padded otherwise, and rounding may then turn a search."""
    config = Config(decoding=SearchConfig(batch_tokens=40))

    def write(out: Path, writer: Writer) -> list[list[str]]:
        monkeypatch.setattr(neural_model.NeuralModel, "load", lambda *_, **__: writer)
        write_summaries(prepared, out, tmp_path, config)
        return writer.batches

    whole = write(tmp_path / "whole.jsonl", Writer())
    assert len(whole) >= 4
    for killed_after in range(1, len(whole)):
        out = tmp_path / f"{killed_after}.jsonl"
        with pytest.raises(KeyboardInterrupt):
            write(out, Writer(killed_after))
        partial = out.with_name(f"{out.name}.partial")
        lines = partial.read_bytes().splitlines(keepends=True)
        partial.write_bytes(b"".join(lines[:-1]))  # killed in the middle of a batch's results
        assert write(out, Writer()) == whole[killed_after - 1 :]
        assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    ids = [json.loads(line)["id"] for line in (tmp_path / "whole.jsonl").read_text().splitlines()]
    assert ids == [f"c{number}" for number in range(11)]
