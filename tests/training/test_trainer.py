"""A run can be stopped anywhere and resumed, and nothing of it changes by that."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from hiersum.config import Config, ModelConfig, config_to_toml
from hiersum.data.shards import PreparedSet
from hiersum.errors import (
    CheckpointError,
    ConfigError,
    DataError,
    MissingDependencyError,
    TrainingError,
)
from hiersum.model.folder import from_pretrained
from hiersum.training.run_folder import RunFolder, read_metrics
from hiersum.training.trainer import Trainer, make_accelerator, train, with_start

Settings = Callable[..., Config]
TIMES = ("seconds", "tokens_per_second")


def losses(run: Path) -> list[dict[str, float]]:
    """Return the metrics of a run but for what clocks say."""
    lines = read_metrics(run / "metrics.jsonl")
    return [{k: v for k, v in line.items() if k not in TIMES} for line in lines]


def test_loss_falls_and_the_run_folder_is_complete(settings: Settings, tmp_path: Path) -> None:
    run = tmp_path / "run"
    model = train(settings(steps=30, validate_every=10, log_every=10), run)
    lines = losses(run)
    trained = [line["plain_loss"] for line in lines if "loss" in line]
    assert trained[-1] < 0.95 * trained[0]
    validated = [line["valid_loss"] for line in lines if "valid_loss" in line]
    assert validated[-1] < validated[0]
    best = json.loads((run / "best.json").read_text())
    assert best[0]["loss"] == min(line["loss"] for line in best) == min(validated)
    assert (run / "config.toml").exists()
    assert any((run / "events").iterdir())
    assert (model / "tokenizer.model").exists()
    assert not (model / "trainer.safetensors").exists()
    kept = load_file(run / best[0]["folder"] / "model.safetensors")
    assert all(torch.equal(kept[n], t) for n, t in load_file(model / "model.safetensors").items())


def test_a_resumed_run_has_the_losses_of_an_uninterrupted_one(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dropout is on, the crash comes between a checkpoint and the next."""
    config = settings(steps=8, save_every=3, log_every=2, validate_every=5)
    train(config, tmp_path / "whole")
    crashing = Trainer(config, RunFolder(tmp_path / "parts"))
    update = crashing._update

    def crash(**options: bool) -> dict[str, float]:
        if crashing.state.step == 4:
            raise KeyboardInterrupt
        return update(**options)

    monkeypatch.setattr(crashing, "_update", crash)
    with pytest.raises(KeyboardInterrupt):
        crashing.run()
    assert len(losses(tmp_path / "parts")) == 2
    train(config, tmp_path / "parts")
    assert losses(tmp_path / "parts") == losses(tmp_path / "whole")
    weights = [load_file(tmp_path / n / "model/model.safetensors") for n in ("whole", "parts")]
    assert all(torch.equal(tensor, weights[1][name]) for name, tensor in weights[0].items())


def test_a_clock_that_jumps_changes_no_loss_and_no_estimate(
    settings: Settings,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    train(settings(steps=6), tmp_path / "whole")
    request.getfixturevalue("jumping_clock")
    monkeypatch.setattr("hiersum.jobs.progress.LOG_SECONDS", 0.0)
    caplog.set_level("INFO", "hiersum.jobs.progress")
    train(settings(steps=3), tmp_path / "parts")
    train(settings(steps=6), tmp_path / "parts")
    assert losses(tmp_path / "parts") == losses(tmp_path / "whole")
    lines = read_metrics(tmp_path / "parts" / "metrics.jsonl")
    assert all(0 <= line["seconds"] < 600 for line in lines if "seconds" in line)
    assert all(line["tokens_per_second"] > 0 for line in lines if "tokens_per_second" in line)
    left = re.findall(r"about (\S+ \S+) left", caplog.text)
    assert left
    assert all(re.fullmatch(r"\d+ (s|min)", each) for each in left), left


def start(config: Path, run: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hiersum", "train", str(config), "--out", str(run), *options],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_as_if_nothing_was(
    settings: Settings, tmp_path: Path
) -> None:
    """Three real kill -9, each a random while after the run shows progress."""
    config = settings(steps=60, save_every=1, log_every=3, validate_every=10)
    path = tmp_path / "c.toml"
    path.write_text(config_to_toml(config))
    train(config, tmp_path / "whole")
    draw = random.Random(3)
    run = tmp_path / "killed"
    num_killed = 0
    for _ in range(3):
        process = start(path, run)
        seen = set(run.glob("checkpoints/step-*"))
        while process.poll() is None and set(run.glob("checkpoints/step-*")) <= seen:
            time.sleep(0.005)
        time.sleep(draw.uniform(0, 0.3))
        num_killed += process.poll() is None
        process.kill()
        process.communicate()
    assert num_killed >= 2
    process = start(path, run)
    _, stderr = process.communicate()
    assert process.returncode == 0, stderr
    assert losses(run) == losses(tmp_path / "whole")
    weights = [load_file(f / "model/model.safetensors") for f in (run, tmp_path / "whole")]
    assert all(torch.equal(tensor, weights[1][name]) for name, tensor in weights[0].items())


def test_asked_to_stop_it_saves_and_says_how_to_go_on(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(config_to_toml(settings(steps=100_000, save_every=100_000, valid_data="")))
    process = start(path, tmp_path / "run")
    metrics = tmp_path / "run" / "metrics.jsonl"
    while process.poll() is None and not (metrics.exists() and metrics.read_text()):
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    newest = RunFolder(tmp_path / "run").newest()
    assert newest is not None
    assert stderr.splitlines()[-2:] == [
        "stopping after this step; once more stops now, at the last checkpoint",
        f"interrupted; step {newest.state.step:,} of 100,000 is kept in {tmp_path / 'run'}: "
        "run the same command again to resume",
    ]


@pytest.mark.slow
def test_two_processes_learn_what_one_does(settings: Settings, tmp_path: Path) -> None:
    """torchrun with gloo, no dropout: the losses of one process that accumulates two batches."""
    config = settings(steps=5, accumulate=2)
    config = replace(config, model=replace(config.model, dropout=0.0))
    train(config, tmp_path / "one")
    path = tmp_path / "c.toml"
    path.write_text(
        config_to_toml(replace(config, training=replace(config.training, accumulate=1)))
    )
    command = "-m torch.distributed.run --nproc-per-node 2 --master-port 29611 -m hiersum train"
    completed = subprocess.run(
        [sys.executable, *command.split(), str(path), "--out", str(tmp_path / "two")],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr
    one, two = losses(tmp_path / "one"), losses(tmp_path / "two")
    assert [line["step"] for line in one] == [line["step"] for line in two]
    for name in ("loss", "plain_loss", "valid_loss", "valid_rouge2"):
        values = [[line[name] for line in lines if name in line] for lines in (one, two)]
        assert values[0]
        assert values[1] == pytest.approx(values[0], rel=1e-4)


def test_accumulated_batches_are_one_batch(settings: Settings, tmp_path: Path) -> None:
    """Every token weighs the same, however batches are cut: all 12 examples in each update."""
    results = []
    for batch_tokens, accumulate in ((10_000, 1), (1, 12)):
        config = settings(steps=3, batch_tokens=batch_tokens, accumulate=accumulate, valid_data="")
        config = replace(config, model=replace(config.model, dropout=0.0))
        run = tmp_path / f"run{accumulate}"
        train(config, run)
        results.append([line["loss"] for line in losses(run)])
    assert results[0] == pytest.approx(results[1], rel=1e-4)


@pytest.mark.slow
def test_it_learns_four_clusters_by_heart(
    prepare: Callable[..., PreparedSet], settings: Settings, tmp_path: Path
) -> None:
    """Trained long enough on four clusters, search gives their exact targets back."""
    folder = str(prepare("four", 4).folder)
    config = settings(
        data=folder,
        valid_data=folder,
        steps=300,
        batch_tokens=10_000,
        warmup_steps=50,
        label_smoothing=0.0,
        save_every=1_000,
        validate_every=300,
        max_rouge_examples=4,
    )
    config = replace(
        config,
        model=replace(config.model, dropout=0.0),
        decoding=replace(config.decoding, max_length=60),
    )
    train(config, tmp_path / "run")
    last = losses(tmp_path / "run")[-1]
    assert last["valid_rouge1"] == last["valid_rouge2"] == last["valid_rougeL"] == 100


def test_a_loss_that_is_no_number_ends_the_run_and_keeps_the_last_good_state(
    settings: Settings, tmp_path: Path
) -> None:
    config = settings(steps=6, save_every=2, valid_data="")
    trainer = Trainer(config, RunFolder(tmp_path / "run"))
    update = trainer._update

    def poison(**options: bool) -> dict[str, float]:
        if trainer.state.step == 3:
            with torch.no_grad():
                next(trainer.network.parameters()).fill_(float("nan"))
        return update(**options)

    trainer._update = poison  # type: ignore[method-assign]
    with pytest.raises(TrainingError, match=r"step 4: the loss is nan; the last good checkpoint"):
        trainer.run()
    newest = RunFolder(tmp_path / "run").newest()
    assert newest is not None
    assert newest.state.step == 2
    weights = from_pretrained(newest.folder).state_dict()
    assert all(tensor.isfinite().all() for tensor in weights.values())


def test_frozen_parts_keep_their_weights_and_the_rest_learns(
    settings: Settings, tmp_path: Path
) -> None:
    config = settings(frozen=("source_words", "encoder.layers.0."), valid_data="")
    torch.manual_seed(config.training.seed)
    trainer = Trainer(config, RunFolder(tmp_path / "run"))
    before = {name: tensor.clone() for name, tensor in trainer.network.state_dict().items()}
    model = trainer.run()
    after = load_file(model / "model.safetensors")
    unchanged = {name for name, tensor in after.items() if torch.equal(tensor, before[name])}
    assert unchanged == {
        name for name in after if name.startswith(("source_words", "encoder.layers.0."))
    }


def test_a_run_starts_from_a_model_folder(settings: Settings, tmp_path: Path) -> None:
    first = train(settings(), tmp_path / "first")
    config = settings(start=str(first))
    config = replace(config, model=ModelConfig(dropout=0.0))
    trainer = Trainer(
        replace(config, model=from_pretrained(first, dropout=0.0).config), RunFolder(tmp_path / "x")
    )
    weights = load_file(first / "model.safetensors")
    assert all(torch.equal(t, weights[n]) for n, t in trainer.network.state_dict().items())
    second = train(config, tmp_path / "second")
    assert from_pretrained(second).config.dropout == 0
    other = replace(config, model=ModelConfig(width=64))
    with pytest.raises(ConfigError, match=r"its network is not the one that \[model\] describes"):
        train(other, tmp_path / "third")


def test_only_the_best_and_the_newest_checkpoints_stay(settings: Settings, tmp_path: Path) -> None:
    config = settings(steps=9, validate_every=2, save_every=1, keep_best=2)
    train(config, tmp_path / "run")
    run = RunFolder(tmp_path / "run")
    kept = {c.state.step for c in run.checkpoints()}
    assert kept == {c.state.step for c in run.best(config)} | {9}
    resumable = [c for c in run.checkpoints() if (c.folder / "trainer.safetensors").exists()]
    assert [c.state.step for c in resumable] == [9]


def test_more_steps_may_be_asked_of_a_run_but_no_other_settings(
    settings: Settings, tmp_path: Path
) -> None:
    train(settings(), tmp_path / "run")
    with pytest.raises(ConfigError, match=r"its run has training.learning_rate = 1.0, not 0.5"):
        train(settings(learning_rate=0.5), tmp_path / "run")
    train(settings(steps=8), tmp_path / "run")
    assert losses(tmp_path / "run")[-1]["step"] == 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": ""}, "training.data is not set"),
        ({"data": "nowhere"}, "nowhere: not a prepared set"),
        ({"frozen": ("encodr",)}, "training.frozen: no parameter starts with 'encodr'; parts are"),
        ({"frozen": ("",)}, "training.frozen names every parameter"),
        ({"start": "nowhere"}, "nowhere"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_trained(
    settings: Settings, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises((ConfigError, CheckpointError, DataError), match=message):
        train(settings(**changes), tmp_path / "run")


def test_train_takes_the_vocabulary_size_of_the_prepared_set(settings: Settings) -> None:
    config = settings()
    config = replace(config, model=replace(config.model, vocab_size=ModelConfig().vocab_size))
    assert with_start(config).model.vocab_size == 200


def test_a_tokenizer_of_another_size_is_refused(settings: Settings, tmp_path: Path) -> None:
    config = settings()
    config = replace(config, model=replace(config.model, vocab_size=210))
    with pytest.raises(CheckpointError, match="has 200 pieces, but the network knows 210"):
        train(config, tmp_path / "run")


def test_a_set_without_graphs_is_refused_for_a_graph_head(
    settings: Settings, tmp_path: Path
) -> None:
    config = settings()
    config = replace(config, model=replace(config.model, graph_head=0))
    manifest = Path(config.training.data) / "manifest.json"
    record = json.loads(manifest.read_text())
    record["config"]["graph"] = None
    manifest.write_text(json.dumps(record))
    with pytest.raises(ConfigError, match="prepared without graphs, but model.graph_head needs"):
        train(config, tmp_path / "run")


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has fp16")
def test_fp16_needs_a_gpu() -> None:
    with pytest.raises(ConfigError, match="training.precision fp16: "):
        make_accelerator("fp16")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'hiersum\[train\]'"):
        make_accelerator("fp32")
