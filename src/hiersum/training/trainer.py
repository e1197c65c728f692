"""The trainer: from prepared examples to a run folder, resumable at any time.

Randomness depends only on the seed, the step and the process, and the order of batches only on the
seed, so a resumed run gives the same result as an uninterrupted one.
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch

from hiersum.config import Config, ModelConfig
from hiersum.data.batches import BatchStream, collate
from hiersum.data.shards import PreparedSet
from hiersum.errors import ConfigError, TrainingError, check_extra
from hiersum.model.batch import Batch
from hiersum.model.folder import TOKENIZER, from_pretrained, read_config
from hiersum.model.network import Network, build_network
from hiersum.text.tokenizer import Tokenizer
from hiersum.training.objective import (
    Objective,
    Validator,
    freeze,
    learning_rate,
    make_optimizer,
    means,
    moments_of,
    restore_moments,
)
from hiersum.training.run_folder import (
    MOMENTS,
    STATE,
    Interruption,
    MetricsWriter,
    RunFolder,
    TrainerState,
    stopped,
)
from hiersum.writing.neural_model import check_fit

_SUMMED = ("loss", "plain_loss", "plan_loss", "tokens", "predicted", "boundaries", "clusters",
           "gradient_norm")  # fmt: skip


def train(config: Config, out: Path) -> Path:
    """Train a network, or resume a run, and return the final model folder."""
    return Trainer(with_start(config), RunFolder(out)).run()


def with_start(config: Config) -> Config:
    """Take the network's shape from the starting model folder, if there is one.

    Without one, a vocabulary size that is not set is that of the prepared set.
    """
    if not config.training.start:
        if config.training.data and config.model.vocab_size == ModelConfig().vocab_size:
            path = PreparedSet.open(config.training.data).tokenizer_path
            size = Tokenizer.load(path, config.model.profile).size
            return replace(config, model=replace(config.model, vocab_size=size))
        return config
    found = replace(read_config(config.training.start), dropout=config.model.dropout)
    if config.model not in (found, replace(ModelConfig(), dropout=config.model.dropout)):
        raise ConfigError(
            f"{config.training.start}: its network is not the one that [model] describes; "
            "leave [model] out, except for dropout"
        )
    return replace(config, model=found)


def make_accelerator(precision: Literal["fp32", "bf16", "fp16"]) -> Any:
    """Join the processes started by torchrun or accelerate, or run alone."""
    check_extra("training", "train", "accelerate")
    from accelerate import Accelerator

    mixed = "no" if precision == "fp32" else precision
    try:
        return Accelerator(mixed_precision=mixed, cpu=not torch.cuda.is_available())
    except ValueError as error:
        raise ConfigError(f"training.precision {precision}: {error}") from error


class Trainer:
    """A run: network, optimizer and position in the data."""

    def __init__(self, config: Config, run: RunFolder) -> None:
        self.config = config
        self.run_folder = run
        self.accelerator = make_accelerator(config.training.precision)
        prepared, tokenizer = self._open(config.training.data, "training.data")
        self.companions = {path.name: path for path in prepared.ranker_paths}
        self.companions[TOKENIZER] = prepared.tokenizer_path
        if self.accelerator.is_main_process:
            run.begin(config)
            run.prune(config)
        self.accelerator.wait_for_everyone()
        checkpoint = run.newest()
        self.state = checkpoint.state if checkpoint else TrainerState()
        self.network = self._build(checkpoint.folder if checkpoint else None)
        freeze(self.network, config.training.frozen)
        self.optimizer = make_optimizer(self.network, config.training)
        self.objective = Objective(
            self.network,
            smoothing=config.training.label_smoothing,
            with_sources=config.training.source_loss,
        )
        self.parallel, self.parallel_optimizer = self.accelerator.prepare(
            self.objective, self.optimizer
        )
        if checkpoint is not None:
            restore_moments(
                self.network, self.optimizer, checkpoint.moments(), str(checkpoint.folder)
            )
            self._restore_scale()
        self.validator = self._validator(tokenizer)
        self.stream = iter(
            BatchStream(
                prepared,
                batch_tokens=config.training.batch_tokens,
                seed=config.training.seed,
                start=self.state.position,
                part=self.accelerator.process_index,
                num_parts=self.accelerator.num_processes,
            )
        )

    def run(self) -> Path:
        """Train to the last step; return the model folder."""
        steps = self.config.training.steps
        metrics = None
        if self.accelerator.is_main_process:
            metrics = MetricsWriter(self.run_folder, self.state.step, steps)
        with Interruption() as interruption, metrics or nullcontext():
            while self.state.step < steps:
                started = time.perf_counter()
                sums = self._update(was_asked_to_stop=interruption.is_set)
                self.state = self._after(sums, time.perf_counter() - started)
                self._report(metrics)
                self._keep(metrics, must_save=sums["stop"] > 0)
                if sums["stop"] > 0 and self.state.step < steps:
                    raise stopped(self.run_folder.root, self.state.step, steps)
        if self.accelerator.is_main_process:
            write_final_model(self.run_folder, self.config)
        self.accelerator.wait_for_everyone()
        return self.run_folder.model

    def _update(self, *, was_asked_to_stop: bool) -> dict[str, float]:
        """Update the weights once; return sums over all batches of all processes."""
        training = self.config.training
        drawn = [next(self.stream) for _ in range(training.accumulate)]
        self.position = drawn[-1][1]
        batches = [collate(examples).to(self.accelerator.device) for examples, _ in drawn]
        counts = self._sum(
            {
                "tokens": sum(sum(batch.target_lengths) for batch in batches),
                "predicted": sum(map(self.objective.num_predicted, batches)),
                "boundaries": sum(batch.num_boundaries for batch in batches),
                "clusters": sum(map(len, batches)),
                "stop": float(was_asked_to_stop),
            }
        )
        step = self.state.step + 1
        # Seed dropout by step, so that it does not depend on earlier steps.
        torch.manual_seed(training.seed + 1_000_003 * step + 7_919 * self.accelerator.process_index)
        losses = self._gather_gradients(batches, counts["predicted"])
        norm = self.accelerator.clip_grad_norm_(
            self.parallel.parameters(), training.max_gradient_norm or math.inf
        )
        if not math.isfinite(losses["loss"]):
            raise TrainingError(
                f"step {step}: the loss is {losses['loss']}; the last good checkpoint is in "
                f"{self.run_folder.root}; lower training.learning_rate or set "
                "training.max_gradient_norm, in a new run that starts from it"
            )
        rate = learning_rate(training, step, self.config.model.width)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.parallel_optimizer.step()
        self.parallel_optimizer.zero_grad(set_to_none=True)
        return counts | losses | {"learning_rate": rate, "gradient_norm": float(norm or 0.0)}

    def _gather_gradients(self, batches: list[Batch], num_tokens: float) -> dict[str, float]:
        """Accumulate the gradients of all batches, weighting all tokens equally."""
        sums = torch.zeros(3, dtype=torch.float64)
        for number, batch in enumerate(batches, start=1):
            is_last = number == len(batches)
            with nullcontext() if is_last else self.accelerator.no_sync(self.parallel):
                losses = self.parallel(batch)
                # Gradients are averaged over processes, so multiply by their number.
                self.accelerator.backward(
                    losses.total * (self.accelerator.num_processes / num_tokens)
                )
            sums += torch.stack([loss.detach() for loss in losses]).double().cpu()
        names = ("loss", "plain_loss", "plan_loss")
        return self._sum(dict(zip(names, sums.tolist())))

    def _after(self, sums: dict[str, float], seconds: float) -> TrainerState:
        """Return the state one step later."""
        added = {name: sums[name] for name in _SUMMED} | {"seconds": seconds, "steps": 1.0}
        window = {n: self.state.window.get(n, 0.0) + value for n, value in added.items()}
        self.rate = sums["learning_rate"]
        scaler = self.accelerator.scaler
        return TrainerState(
            step=self.state.step + 1,
            position=self.position,
            tokens=self.state.tokens + int(sums["tokens"]),
            seconds=self.state.seconds + seconds,
            window=window,
            scale=None if scaler is None else float(scaler.get_scale()),
        )

    def _report(self, metrics: MetricsWriter | None) -> None:
        """Log metrics every few steps."""
        if metrics is not None:
            metrics.advance()
        if self.state.step % self.config.training.log_every and (
            self.state.step != self.config.training.steps
        ):
            return
        sums = self.state.window
        if metrics is not None:
            values = {
                "loss": sums["loss"] / sums["predicted"],
                "plain_loss": sums["plain_loss"] / sums["tokens"],
                "learning_rate": self.rate,
                "gradient_norm": sums["gradient_norm"] / sums["steps"],
                "clusters": sums["clusters"],
                "tokens": self.state.tokens,
                "tokens_per_second": sums["tokens"] / sums["seconds"],
                "seconds": self.state.seconds,
                "epoch": self.state.position.epoch,
            }
            if sums["boundaries"]:
                values["plan_loss"] = sums["plan_loss"] / sums["boundaries"]
            metrics.write(self.state.step, values)
        self.state = replace(self.state, window={})

    def _keep(self, metrics: MetricsWriter | None, *, must_save: bool) -> None:
        """Validate and save when due."""
        training, step = self.config.training, self.state.step
        is_last = step == training.steps
        if self.validator is not None and (step % training.validate_every == 0 or is_last):
            scores = means(self._sum(self.validator.sums(self.network)))
            self.state = replace(self.state, validation=scores)
            if metrics is not None:
                metrics.write(step, {f"valid_{name}": value for name, value in scores.items()})
            must_save = True
        if (
            must_save or is_last or step % training.save_every == 0
        ) and self.accelerator.is_main_process:
            moments = moments_of(self.network, self.optimizer)
            self.run_folder.save(self.network, moments, self.state, self.config, self.companions)
        self.accelerator.wait_for_everyone()

    def _sum(self, values: Mapping[str, float]) -> dict[str, float]:
        """Sum each value over all processes."""
        if self.accelerator.num_processes == 1:
            return dict(values)
        tensor = torch.tensor(list(values.values()), dtype=torch.float64)
        total = self.accelerator.reduce(tensor.to(self.accelerator.device), reduction="sum")
        return dict(zip(values, total.tolist()))

    def _restore_scale(self) -> None:
        """Restore the fp16 loss scale."""
        scaler = self.accelerator.scaler
        if scaler is not None and self.state.scale is not None:
            scaler.load_state_dict(scaler.state_dict() | {"scale": self.state.scale})

    def _open(self, folder: str, setting: str) -> tuple[PreparedSet, Tokenizer]:
        if not folder:
            raise ConfigError(
                f"{setting} is not set; give a folder that hiersum prepare wrote, "
                f"in the file or with --set {setting}=DIR"
            )
        prepared = PreparedSet.open(folder)
        tokenizer = Tokenizer.load(prepared.tokenizer_path, self.config.model.profile)
        check_fit(tokenizer, self.config.model, prepared.tokenizer_path)
        if self.config.model.graph_head is not None and not prepared.manifest.config.get("graph"):
            raise ConfigError(
                f"{folder}: prepared without graphs, but model.graph_head needs them; "
                "prepare it with the same model.graph_head"
            )
        return prepared, tokenizer

    def _build(self, checkpoint: Path | None) -> Network:
        start = checkpoint or self.config.training.start
        if start:
            network = from_pretrained(start, dropout=self.config.model.dropout)
        else:
            torch.manual_seed(self.config.training.seed)
            network = build_network(self.config.model)
        return network.to(self.accelerator.device).train()

    def _validator(self, tokenizer: Tokenizer) -> Validator | None:
        if not self.config.training.valid_data:
            return None
        prepared, other = self._open(self.config.training.valid_data, "training.valid_data")
        if other.fingerprint != tokenizer.fingerprint:
            raise ConfigError(
                f"{self.config.training.valid_data}: prepared with another tokenizer than "
                f"{self.config.training.data}; prepare both with one"
            )
        return Validator(
            prepared,
            tokenizer,
            self.config,
            part=self.accelerator.process_index,
            num_parts=self.accelerator.num_processes,
        )


def write_final_model(run: RunFolder, config: Config) -> None:
    """Write RUN/model from the best checkpoint, or from the newest if none was validated."""
    chosen = (run.best(config) or run.checkpoints()[-1:])[0]
    partial = run.model.with_name(f".{run.model.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(chosen.folder, partial, ignore=shutil.ignore_patterns(MOMENTS, STATE))
    shutil.rmtree(run.model, ignore_errors=True)
    partial.rename(run.model)
