"""Training the ranker as the paper does: cross entropy against ROUGE-2 recall, Adagrad, dropout.

Adam is there too: it learns several times as much from the same paragraphs, and its rate falls to 0.

What is random is a function of the seed and the step, so that a resumed run repeats what an
uninterrupted one would have done. The weights with the lowest validation loss are what a run ends
with; without validation, the last ones.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from hiersum.config import Config, RankerTrainingConfig
from hiersum.errors import TrainingError
from hiersum.ranking.neural import NeuralRanker, RankerNetwork, RankerShape
from hiersum.text.tokenizer import Tokenizer
from hiersum.training.interruption import Interruption
from hiersum.training.metrics import MetricsWriter
from hiersum.training.ranker_examples import RankerExamples
from hiersum.training.ranker_start import start_weights
from hiersum.training.ranker_state import RankerState, newest_state, save_state
from hiersum.training.run_folder import RunFolder

_REMEMBERED = {"adagrad": ("sum",), "adam": ("exp_avg", "exp_avg_sq")}
"""What an optimizer keeps for each weight."""


def train_ranker(
    config: Config,
    examples: RankerExamples,
    valid: RankerExamples | None,
    tokenizer: Tokenizer,
    *,
    run: Path,
    out: Path,
) -> None:
    """Train a ranker, or go on with a run, and put it into a model folder.

    Args:
        config: `[ranker_training]`, and the rest to be kept with the run.
        examples: what to learn from.
        valid: what to choose the weights by.
        tokenizer: the tokenizer of the model folder.
        run: where metrics and checkpoints go.
        out: the model folder.

    Raises:
        HiersumError: the run folder does not fit, or the loss is no number any more.
    """
    folder = RunFolder(run)
    folder.begin(config)
    trainer = RankerTrainer(config, examples, valid, tokenizer, folder)
    trainer.run()
    NeuralRanker(trainer.best_network(), tokenizer).save(out, notes=trainer.notes())


class RankerTrainer:
    """A run: a network, its optimizer, its place in the plan of batches."""

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
            for batch in examples.batches(
                self.config.batch_tokens, np.random.default_rng([self.config.seed, epoch])
            )
        ]
        torch.manual_seed(self.config.seed)
        self.shape = RankerShape(
            vocab_size=tokenizer.size, width=self.config.width, max_tokens=self.config.max_tokens
        )
        self.network = RankerNetwork(self.shape, dropout=self.config.dropout)
        self.optimizer = _optimizer(self.network, self.config)
        self.best: dict[str, Tensor] = {}
        self.state = RankerState(examples=examples.fingerprint)
        if not self._resume():
            start_weights(self.network, examples)
            self.best = _copy(self.network.state_dict())

    def run(self) -> None:
        """Train to the last batch.

        Raises:
            TrainingError: the loss is no number any more, or the run was asked to stop.
        """
        num_steps = len(self.plan)
        with (
            Interruption() as interruption,
            MetricsWriter(self.folder, self.state.step, num_steps) as metrics,
        ):
            while self.state.step < num_steps:
                self._update()
                metrics.advance()
                step, is_last = self.state.step, self.state.step == num_steps
                if step % self.config.log_every == 0 or is_last:
                    self._report(metrics)
                if step % self.config.validate_every == 0 or is_last:
                    self._validate(metrics)
                    self._save()
                elif interruption.is_set:
                    self._save()
                if interruption.is_set and not is_last:
                    raise TrainingError(
                        f"stopped after step {step} of {num_steps}; "
                        "the same command goes on from there"
                    )

    def best_network(self) -> RankerNetwork:
        """Return the network with the weights that a run ends with."""
        network = RankerNetwork(self.shape)
        network.load_state_dict(self.best)
        return network

    def notes(self) -> dict[str, object]:
        """Return what is told of this training beside the weights."""
        return {
            "trained_paragraphs": self.state.paragraphs,
            "best_step": self.state.best_step,
            "valid_loss": self.state.best_loss,
            "settings": asdict(self.config),
        }

    def _update(self) -> None:
        """Change the weights once."""
        started = time.perf_counter()
        step = self.state.step + 1
        batch = self.examples.batch(self.plan[self.state.step])
        # What is dropped at a step depends on nothing that came before it.
        torch.manual_seed(self.config.seed + 1_000_003 * step)
        self.network.train()
        logits = self.network(batch.titles, batch.paragraphs, batch.title_of)
        loss = functional.binary_cross_entropy_with_logits(logits, batch.labels)
        value = float(loss.detach())
        if not math.isfinite(value):
            raise TrainingError(
                f"step {step}: the loss is {value}; the last good checkpoint stays in "
                f"{self.folder.root}; lower ranker_training.learning_rate in a new run"
            )
        if self.config.optimizer == "adam":
            share_left = 1 - self.state.step / len(self.plan)
            self.optimizer.param_groups[0]["lr"] = self.config.learning_rate * share_left
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
        """Measure the validation loss and keep the weights if they are the best so far."""
        loss = None if self.valid is None else validation_loss(self.network, self.valid)
        if loss is not None:
            metrics.write(self.state.step, {"valid_loss": loss})
            if self.state.best_loss is not None and loss >= self.state.best_loss:
                return
        self.best = _copy(self.network.state_dict())
        self.state = replace(self.state, best_step=self.state.step, best_loss=loss)

    def _save(self) -> None:
        memory = {
            f"optimizer.{key}": {
                name: self.optimizer.state[parameter][key]
                for name, parameter in self.network.named_parameters()
            }
            for key in _REMEMBERED[self.config.optimizer]
        }
        groups = {"network": self.network.state_dict(), "best": self.best, **memory}
        save_state(self.folder.root, self.state, groups)

    def _resume(self) -> bool:
        """Take over the newest checkpoint; say whether there is one."""
        found = newest_state(self.folder.root)
        if found is None:
            return False
        state, groups = found
        if state.examples != self.state.examples:
            raise TrainingError(
                f"{self.folder.root}: this run learned from other paragraphs than these; "
                "give the clusters it began with, or --out a new folder"
            )
        self.network.load_state_dict(groups["network"])
        for name, parameter in self.network.named_parameters():
            self.optimizer.state[parameter] = {
                key: groups[f"optimizer.{key}"][name] for key in _REMEMBERED[self.config.optimizer]
            } | {"step": torch.tensor(float(state.step))}
        self.best, self.state = groups["best"], state
        return True


def _optimizer(network: RankerNetwork, config: RankerTrainingConfig) -> torch.optim.Optimizer:
    # Fused: one pass over weights and what is remembered instead of several.
    parameters, rate = network.parameters(), config.learning_rate
    if config.optimizer == "adam":
        return torch.optim.Adam(parameters, lr=rate, fused=True)
    sums = config.initial_accumulator
    return torch.optim.Adagrad(parameters, lr=rate, initial_accumulator_value=sums, fused=True)


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
