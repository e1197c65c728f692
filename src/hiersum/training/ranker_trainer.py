"""Train the ranker as in the paper: cross entropy against ROUGE-2 recall, Adagrad, dropout.

Adam is also available: it needs several times less data, and its rate falls to 0.

All randomness depends only on the seed and the step, so a resumed run gives the same result as an
uninterrupted one. A run ends with the weights of the lowest validation loss, or the last ones
without validation. Checkpoints hold the tensors as GROUP/NAME (ranker.safetensors) and the progress
of the run (ranker.json).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save_file
from torch import Tensor
from torch.nn import functional

from hiersum.config import Config, RankerTrainingConfig
from hiersum.data.model_folder import tokenizer_of, with_network_of
from hiersum.errors import CheckpointError, TrainingError
from hiersum.ranking.neural import NeuralRanker, RankerNetwork, RankerShape
from hiersum.text.tokenizer import Tokenizer
from hiersum.training.objective import moments_of, restore_moments
from hiersum.training.ranker_corpora import MAX_TOKENS, SEED, Corpora, RankerExamples
from hiersum.training.ranker_start import start_weights
from hiersum.training.run_folder import (
    Interruption,
    MetricsWriter,
    RunFolder,
    checkpoint_folders,
    new_checkpoint,
    remove_checkpoint,
    stopped,
)

STATE, TENSORS = "ranker.json", "ranker.safetensors"
Groups = Mapping[str, Mapping[str, Tensor]]
BATCH_TOKENS = 8_192
"""Maximum padded size of a batch: paragraphs x longest one."""
LOG_EVERY = 20
"""Updates between lines of metrics.jsonl."""
DROPOUT = 0.2
MAX_VALID_CLUSTERS = 150
"""Maximum clusters in the validation loss."""
LEARNING_RATES = {"adagrad": 0.15, "adagrad-random": 0.15, "adam": 3e-4}
"""Adagrad's is the paper's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankerState:
    """The progress of a run, besides its weights."""

    examples: str
    """Fingerprint of the training examples."""
    step: int = 0
    paragraphs: int = 0
    best_step: int = 0
    best_loss: float | None = None
    window_loss: float = 0.0
    """Sums since the last metrics line."""
    window_paragraphs: int = 0
    window_seconds: float = 0.0


def train_ranker_on(
    corpora: Corpora, valid: Corpora | None, config: Config, *, model: Path, run: Path | None
) -> Path:
    """Train a ranker, or resume a run; write the ranker into the model folder and return that.

    `valid` chooses the best weights. Metrics and checkpoints go to the folder `run`, by default
    `ranker-run` in the model folder.
    """
    config = with_network_of(model, config)
    tokenizer = tokenizer_of(model, config)
    settings = config.ranker_training
    whole = replace(config, ranker_training=replace(settings, max_paragraphs=0))
    train_ranker(
        config,
        corpora.examples(model, config, limit=settings.max_clusters),
        None if valid is None else valid.examples(model, whole, limit=MAX_VALID_CLUSTERS),
        tokenizer,
        run=run or model / "ranker-run",
        out=model,
    )
    return model


def train_ranker(
    config: Config,
    examples: RankerExamples,
    valid: RankerExamples | None,
    tokenizer: Tokenizer,
    *,
    run: Path,
    out: Path,
) -> None:
    """Train a ranker, or resume a run, and save it in the model folder `out`.

    The weights with the lowest loss on `valid` are kept; metrics and checkpoints go to `run`.
    """
    folder = RunFolder(run)
    folder.begin(config)
    trainer = RankerTrainer(config, examples, valid, tokenizer, folder)
    trainer.run()
    NeuralRanker(trainer.best_network(), tokenizer).save(out, notes=trainer.notes())


class RankerTrainer:
    """A run: network, optimizer and position in the batches."""

    def __init__(
        self,
        config: Config,
        examples: RankerExamples,
        valid: RankerExamples | None,
        tokenizer: Tokenizer,
        folder: RunFolder,
    ) -> None:
        self.config = config.ranker_training
        self.examples, self.valid = examples, valid
        self.folder = folder
        self.plan = [
            batch
            for epoch in range(self.config.epochs)
            for batch in examples.batches(BATCH_TOKENS, np.random.default_rng([SEED, epoch]))
        ]
        torch.manual_seed(SEED)
        self.shape = RankerShape(
            vocab_size=tokenizer.size, width=self.config.width, max_tokens=MAX_TOKENS
        )
        self.network = RankerNetwork(self.shape, dropout=DROPOUT)
        self.optimizer = _optimizer(self.network, self.config)
        self.best: dict[str, Tensor] = {}
        self.state = RankerState(examples=examples.fingerprint)
        if not self._resume():
            if self.config.optimizer != "adagrad-random":
                start_weights(self.network, examples)
            self.best = _copy(self.network.state_dict())

    def run(self) -> None:
        """Train to the last batch; asked to stop, it saves and raises KeyboardInterrupt."""
        num_steps = len(self.plan)
        with (
            Interruption() as interruption,
            MetricsWriter(self.folder, self.state.step, num_steps) as metrics,
        ):
            while self.state.step < num_steps:
                self._update()
                metrics.advance()
                step, is_last = self.state.step, self.state.step == num_steps
                if step % LOG_EVERY == 0 or is_last:
                    self._report(metrics)
                is_due = step % self.config.validate_every == 0 or is_last
                if is_due:
                    self._validate(metrics)
                if is_due or interruption.is_set:
                    self._save()
                if interruption.is_set and not is_last:
                    raise stopped(self.folder.root, step, num_steps)

    def best_network(self) -> RankerNetwork:
        """Return the network with the run's final weights."""
        network = RankerNetwork(self.shape)
        network.load_state_dict(self.best)
        return network

    def notes(self) -> dict[str, object]:
        """Return the notes to store with the weights."""
        return {
            "trained_paragraphs": self.state.paragraphs,
            "best_step": self.state.best_step,
            "valid_loss": self.state.best_loss,
            "settings": asdict(self.config),
        }

    def _update(self) -> None:
        """Update the weights once."""
        started = time.perf_counter()
        step = self.state.step + 1
        batch = self.examples.batch(self.plan[self.state.step])
        # Seed dropout by step, so that it does not depend on earlier steps.
        torch.manual_seed(SEED + 1_000_003 * step)
        self.network.train()
        logits = self.network(batch.titles, batch.paragraphs, batch.title_of)
        loss = functional.binary_cross_entropy_with_logits(logits, batch.labels)
        value = float(loss.detach())
        if not math.isfinite(value):
            raise TrainingError(
                f"step {step}: the loss is {value}; the last good checkpoint is in "
                f"{self.folder.root}; try another ranker_training.optimizer in a new run"
            )
        if self.config.optimizer == "adam":
            share_left = 1 - self.state.step / len(self.plan)
            self.optimizer.param_groups[0]["lr"] = LEARNING_RATES["adam"] * share_left
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.state = replace(
            self.state,
            step=step,
            paragraphs=self.state.paragraphs + len(batch),
            window_loss=self.state.window_loss + value * len(batch),
            window_paragraphs=self.state.window_paragraphs + len(batch),
            window_seconds=self.state.window_seconds + time.perf_counter() - started,
        )

    def _report(self, metrics: MetricsWriter) -> None:
        state = self.state
        values = {
            "loss": state.window_loss / state.window_paragraphs,
            "paragraphs": state.paragraphs,
            "paragraphs_per_second": state.window_paragraphs / state.window_seconds,
        }
        metrics.write(state.step, values)
        self.state = replace(state, window_loss=0.0, window_paragraphs=0, window_seconds=0.0)

    def _validate(self, metrics: MetricsWriter) -> None:
        """Compute the validation loss, and keep the weights if they are the best so far."""
        loss = None if self.valid is None else validation_loss(self.network, self.valid)
        if loss is not None:
            metrics.write(self.state.step, {"valid_loss": loss})
            if self.state.best_loss is not None and loss >= self.state.best_loss:
                return
        self.best = _copy(self.network.state_dict())
        self.state = replace(self.state, best_step=self.state.step, best_loss=loss)

    def _save(self) -> None:
        groups = {
            "network": self.network.state_dict(),
            "best": self.best,
            "optimizer": moments_of(self.network, self.optimizer),
        }
        save_state(self.folder.root, self.state, groups)

    def _resume(self) -> bool:
        """Load the newest checkpoint; return whether there is one."""
        found = newest_state(self.folder.root)
        if found is None:
            return False
        state, groups = found
        if state.examples != self.state.examples:
            raise TrainingError(
                f"{self.folder.root}: this run was trained on other paragraphs; "
                "give the clusters it began with, or --out a new folder"
            )
        self.network.load_state_dict(groups["network"])
        restore_moments(self.network, self.optimizer, groups["optimizer"], str(self.folder.root))
        self.best, self.state = groups["best"], state
        return True


def _optimizer(network: RankerNetwork, config: RankerTrainingConfig) -> torch.optim.Optimizer:
    parameters, rate = network.parameters(), LEARNING_RATES[config.optimizer]
    if config.optimizer == "adam":
        return torch.optim.Adam(parameters, lr=rate, fused=True)
    return torch.optim.Adagrad(parameters, lr=rate, initial_accumulator_value=0.01, fused=True)


@torch.inference_mode()
def validation_loss(network: RankerNetwork, examples: RankerExamples) -> float:
    """Return the mean cross entropy per paragraph."""
    network.eval()
    total = 0.0
    for indices in examples.batches(batch_tokens=16_384, generator=np.random.default_rng(0)):
        batch = examples.batch(indices)
        logits = network(batch.titles, batch.paragraphs, batch.title_of)
        total += float(
            functional.binary_cross_entropy_with_logits(logits, batch.labels, reduction="sum")
        )
    return total / len(examples)


def _copy(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in tensors.items()}


def save_state(root: Path, state: RankerState, groups: Groups) -> None:
    """Write a checkpoint, then remove the previous one."""
    tensors = {f"{group}/{n}": t.contiguous() for group in groups for n, t in groups[group].items()}
    with new_checkpoint(root, state.step) as folder:
        save_file(tensors, folder / TENSORS)
        (folder / STATE).write_text(json.dumps(asdict(state), indent=2) + "\n")
    for other in checkpoint_folders(root)[:-1]:
        remove_checkpoint(other)


def newest_state(root: Path) -> tuple[RankerState, dict[str, dict[str, Tensor]]] | None:
    """Return the checkpoint to resume from, None if there is none."""
    folders = checkpoint_folders(root)
    if not folders:
        return None
    try:
        state = RankerState(**json.loads((folders[-1] / STATE).read_bytes()))
        tensors = load((folders[-1] / TENSORS).read_bytes())
    except (OSError, ValueError, TypeError, SafetensorError) as error:
        raise CheckpointError(
            f"{folders[-1]}: damaged ({error}); remove this folder to start over"
        ) from error
    groups: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        group, _, key = name.partition("/")
        groups.setdefault(group, {})[key] = tensor
    return state, groups
