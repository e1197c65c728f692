"""The ranker learns what paragraphs are worth, and a run can be stopped anywhere and resumed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from support import small_vocabulary

from hiersum.config import Config, config_from_dict
from hiersum.data.corpora import write_clusters
from hiersum.errors import CheckpointError, ConfigError, TrainingError
from hiersum.ranking.neural import NeuralRanker, RankerNetwork
from hiersum.text.tokenizer import Tokenizer
from hiersum.training import ranker_trainer
from hiersum.training.ranker_corpora import SEED, RankerExamples, label_clusters
from hiersum.training.ranker_trainer import RankerTrainer, train_ranker
from hiersum.training.run_folder import RunFolder, read_metrics
from hiersum.types import Cluster, Document, Paragraph

torch.set_num_threads(1)
TOKENIZER = Tokenizer(small_vocabulary("paper"), "paper")
TINY = {
    "ranker_training": {
        "width": 16,
        "epochs": 4,
        "validate_every": 3,
    }
}
GOOD = "the harbour bridge reopened to traffic on monday"
BAD = "ferries carried people while it was closed"
CLOCKS = ("paragraphs_per_second",)


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (ranker_trainer.BATCH_TOKENS, ranker_trainer.LOG_EVERY) == (8_192, 20)
    monkeypatch.setattr(ranker_trainer, "BATCH_TOKENS", 300)
    monkeypatch.setattr(ranker_trainer, "LOG_EVERY", 2)


def made_up_clusters(number: int, seed: int = 0) -> list[Cluster]:
    """Clusters in which paragraphs about the bridge have what the summary says, others nothing."""
    draw = random.Random(seed)
    clusters = []
    for index in range(number):
        texts = [
            " ".join(
                [draw.choice((GOOD, BAD)), *draw.sample("city said two months old".split(), 3)]
            )
            for _ in range(6)
        ]
        document = Document.from_paragraphs([text + f" {n}." for n, text in enumerate(texts)])
        summary = f"{GOOD} and much else that no source has to say here today."
        clusters.append(Cluster("Harbour bridge", (document,), summary, f"c{index}"))
    return clusters


def settings(**changes: object) -> Config:
    config = config_from_dict(TINY)
    return replace(config, ranker_training=replace(config.ranker_training, **changes))  # type: ignore[arg-type]


def examples(number: int = 12, seed: int = 0) -> RankerExamples:
    return label_clusters(made_up_clusters(number, seed), TOKENIZER, settings())


def run(config: Config, folder: Path, *, valid: bool = True) -> Path:
    out = folder / "model"
    out.mkdir(parents=True, exist_ok=True)
    held_out = examples(4, seed=1) if valid else None
    train_ranker(config, examples(), held_out, TOKENIZER, run=folder / "run", out=out)
    return out


def losses(folder: Path) -> list[dict[str, float]]:
    """Return the metrics of a run but for what clocks say."""
    lines = read_metrics(folder / "run" / "metrics.jsonl")
    return [{k: v for k, v in line.items() if k not in CLOCKS} for line in lines]


def same_ranker(one: Path, other: Path) -> bool:
    return (one / "ranker.safetensors").read_bytes() == (other / "ranker.safetensors").read_bytes()


def test_it_learns_which_paragraphs_have_what_the_summary_says(tmp_path: Path) -> None:
    out = run(settings(epochs=20), tmp_path)
    lines = losses(tmp_path)
    validated = [line["valid_loss"] for line in lines if "valid_loss" in line]
    assert validated[-1] < validated[0]
    ranker = NeuralRanker.load(out, TOKENIZER)
    good, bad = ranker.scores("Harbour bridge", [Paragraph(GOOD, 0, 0), Paragraph(BAD, 0, 1)])
    assert good > 2 * bad


def test_the_ranker_is_the_one_with_the_lowest_validation_loss(tmp_path: Path) -> None:
    out = run(settings(epochs=10), tmp_path)
    validated = {
        line["step"]: line["valid_loss"] for line in losses(tmp_path) if "valid_loss" in line
    }
    notes = json.loads((out / "ranker.json").read_text())["notes"]
    assert notes["valid_loss"] == min(validated.values()) == validated[notes["best_step"]]
    assert notes["settings"]["optimizer"] == "adagrad"


def test_it_begins_with_scores_as_low_as_the_labels(tmp_path: Path) -> None:
    trainer = RankerTrainer(settings(), examples(), None, TOKENIZER, RunFolder(tmp_path))
    batch = examples().batch(np.arange(len(examples())))
    with torch.no_grad():
        logits = trainer.network.eval()(batch.titles, batch.paragraphs, batch.title_of)
    assert float(logits.sigmoid().mean()) == pytest.approx(examples().labels.mean(), rel=1e-3)


@pytest.mark.parametrize(
    ("optimizer", "rate"), [("adagrad", 0.15), ("adagrad-random", 0.15), ("adam", 3e-4)]
)
def test_ranker_trainer_has_the_papers_dropout_and_a_rate_for_each_optimizer(
    optimizer: str, rate: float, tmp_path: Path
) -> None:
    config = settings(optimizer=optimizer)
    trainer = RankerTrainer(config, examples(), None, TOKENIZER, RunFolder(tmp_path))
    assert trainer.optimizer.param_groups[0]["lr"] == rate
    assert trainer.network.dropout == 0.2
    assert trainer.shape.max_tokens == 256


def test_without_validation_it_is_the_last_one(tmp_path: Path) -> None:
    out = run(settings(epochs=1), tmp_path, valid=False)
    notes = json.loads((out / "ranker.json").read_text())["notes"]
    assert notes["valid_loss"] is None
    assert notes["best_step"] == losses(tmp_path)[-1]["step"]
    assert notes["trained_paragraphs"] == len(examples())


def test_same_seed_same_ranker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert same_ranker(run(settings(), tmp_path / "a"), run(settings(), tmp_path / "b"))
    monkeypatch.setattr(ranker_trainer, "SEED", 2)
    assert not same_ranker(tmp_path / "a/model", run(settings(), tmp_path / "c"))


@pytest.mark.parametrize("optimizer", ["adagrad", "adam"])
def test_a_resumed_run_is_as_if_it_had_not_been_interrupted(
    optimizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dropout is on, the crash comes between a checkpoint and the next."""
    config = settings(optimizer=optimizer)
    whole = run(config, tmp_path / "whole")
    update = RankerTrainer._update

    def crash(trainer: RankerTrainer) -> None:
        if trainer.state.step == 5:
            raise KeyboardInterrupt
        update(trainer)

    with monkeypatch.context() as patch:
        patch.setattr(RankerTrainer, "_update", crash)
        with pytest.raises(KeyboardInterrupt):
            run(config, tmp_path / "parts")
    parts = run(config, tmp_path / "parts")
    assert losses(tmp_path / "parts") == losses(tmp_path / "whole")
    assert same_ranker(parts, whole)


def test_a_finished_run_is_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = run(settings(), tmp_path)
    (out / "ranker.safetensors").unlink()
    monkeypatch.setattr(RankerTrainer, "_update", None)
    run(settings(), tmp_path)
    assert (out / "ranker.safetensors").exists()


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = RankerExamples.batch
    numbers = iter(range(100))

    def poisoned(examples: RankerExamples, indices: np.ndarray) -> object:
        made = batch(examples, indices)
        bad = next(numbers) == 6  # the first is looked at before learning, the fifth in validation
        return replace(made, labels=made.labels * float("nan")) if bad else made

    monkeypatch.setattr(RankerExamples, "batch", poisoned)
    message = r"step 5: the loss is nan; the last good checkpoint is in .*optimizer"
    with pytest.raises(TrainingError, match=message):
        run(settings(), tmp_path)
    checkpoint = tmp_path / "run/checkpoints/step-3"
    tensors = load_file(checkpoint / "ranker.safetensors")
    assert all(tensor.isfinite().all() for tensor in tensors.values())
    assert not (tmp_path / "model/ranker.json").exists()


def test_a_run_goes_on_only_with_its_settings_and_its_paragraphs(tmp_path: Path) -> None:
    run(settings(), tmp_path)
    with pytest.raises(ConfigError, match=r"its run has ranker_training\.width = 16, not 8"):
        run(settings(width=8), tmp_path)
    with pytest.raises(TrainingError, match="this run was trained on other paragraphs"):
        train_ranker(
            settings(), examples(3), None, TOKENIZER, run=tmp_path / "run", out=tmp_path / "model"
        )


def test_ranker_trainer_starts_from_random_weights_if_asked(tmp_path: Path) -> None:
    """Drawn as PyTorch draws them, instead of a detector of shared words."""
    trainers = {
        name: RankerTrainer(
            settings(optimizer=name), examples(), None, TOKENIZER, RunFolder(tmp_path / name)
        )
        for name in ("adagrad", "adagrad-random")
    }
    torch.manual_seed(SEED)
    drawn = RankerNetwork(trainers["adagrad"].shape).state_dict()
    for name, trainer in trainers.items():
        is_random = all(torch.equal(trainer.network.state_dict()[n], drawn[n]) for n in drawn)
        assert is_random == (name == "adagrad-random")


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    run(settings(), tmp_path)
    (path,) = (tmp_path / "run/checkpoints").glob("step-*/ranker.json")
    path.write_text("{")
    with pytest.raises(CheckpointError, match=r"step-\d+: damaged .*remove this folder"):
        RankerTrainer(settings(), examples(), None, TOKENIZER, RunFolder(tmp_path / "run"))


def start(clusters: Path, folder: Path) -> subprocess.Popen[str]:
    overrides = {**TINY["ranker_training"], "epochs": 40, "validate_every": 1}
    return subprocess.Popen(
        [sys.executable, "-m", "hiersum", "train-ranker", str(clusters), "--workers", "1",
         "--model", str(folder / "model"), "--out", str(folder / "run"), "--valid", str(clusters),
         *(x for name, value in overrides.items() for x in ("--set", f"ranker_training.{name}={value}"))],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Clusters on disk, and two folders with a tokenizer."""
    write_clusters(made_up_clusters(12), tmp_path / "clusters.jsonl")
    for name in ("whole", "parts"):
        (tmp_path / name / "model").mkdir(parents=True)
        (tmp_path / name / "model/tokenizer.model").write_bytes(TOKENIZER.model)
    return tmp_path / "clusters.jsonl", tmp_path / "whole", tmp_path / "parts"


def wait_for_a_checkpoint(process: subprocess.Popen[str], folder: Path) -> None:
    seen = set(folder.glob("run/checkpoints/step-*"))
    while process.poll() is None and set(folder.glob("run/checkpoints/step-*")) <= seen:
        time.sleep(0.005)


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_as_if_nothing_was(places: tuple[Path, Path, Path]) -> None:
    """Two real kill -9, each a random while after the run shows progress."""
    clusters, whole, parts = places
    _, stderr = (process := start(clusters, whole)).communicate()
    assert process.returncode == 0, stderr
    draw = random.Random(3)
    num_killed = 0
    for _ in range(2):
        process = start(clusters, parts)
        wait_for_a_checkpoint(process, parts)
        time.sleep(draw.uniform(0, 0.2))
        num_killed += process.poll() is None
        process.kill()
        process.communicate()
    assert num_killed
    stdout, stderr = (process := start(clusters, parts)).communicate()
    assert process.returncode == 0, stderr
    assert stdout == f"{parts / 'model'}\n"
    assert losses(parts) == losses(whole)
    assert same_ranker(parts / "model", whole / "model")


def test_asked_to_stop_it_saves_and_says_how_to_go_on(places: tuple[Path, Path, Path]) -> None:
    clusters, _, parts = places
    process = start(clusters, parts)
    wait_for_a_checkpoint(process, parts)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert "run the same command again to resume" in stderr
