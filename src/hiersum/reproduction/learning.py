"""A network learns from a budget of tokens that is the same for every network of an experiment.

A token is one of a source or of a target that the network really reads or learns to write; padding does
not count. How many updates the budget is, the prepared set says by its tokens and its batches. Networks
that read less of each cluster see more clusters for the same budget; their time is of the same order,
as in the paper ("training time for all models approximately consistent"), but not equal.
"""

from __future__ import annotations

import ctypes
import json
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hiersum.config import Config, TrainingConfig, config_to_toml
from hiersum.data.files import write_atomically
from hiersum.data.shards import PreparedSet
from hiersum.data.stream import BatchStream
from hiersum.errors import TrainingError
from hiersum.reproduction.experiment import RunSettings

_LOGS = 200  # lines of metrics in a run
_SAVES = 4  # checkpoints to resume from, between two validations


@dataclass(frozen=True, slots=True)
class Budget:
    """What a budget of tokens means for one prepared set."""

    updates: int
    tokens_per_update: float
    tokens_per_epoch: int


def plan_updates(prepared: PreparedSet, training: TrainingConfig, settings: RunSettings) -> Budget:
    """Return how many updates the budget is."""
    totals = prepared.manifest.totals
    tokens = totals["source_tokens"] + totals["target_tokens"]
    batches = BatchStream(
        prepared,
        batch_tokens=training.batch_tokens,
        window=training.window,
        seed=training.seed,
    ).count_batches()
    per_update = tokens / batches * training.accumulate * settings.processes
    return Budget(max(1, round(1e6 * settings.million_tokens / per_update)), per_update, tokens)


def training_config(config: Config, data: Path, settings: RunSettings) -> tuple[Config, Budget]:
    """Return the config of a run on the prepared sets of a folder, and its budget."""
    prepared = PreparedSet.open(data / "train")
    budget = plan_updates(prepared, config.training, settings)
    between = max(1, budget.updates // settings.validations)
    training = replace(
        config.training,
        data=str(data / "train"),
        valid_data=str(data / "valid"),
        steps=budget.updates,
        validate_every=between,
        save_every=max(1, between // _SAVES),
        log_every=max(1, budget.updates // _LOGS),
        keep_best=settings.checkpoints,
    )
    return replace(config, training=training), budget


def train_system(config: Config, data: Path, run: Path, settings: RunSettings) -> dict[str, Any]:
    """Train a network, or go on with it; return what the report says of its training.

    Raises:
        HiersumError: it cannot be trained, or was asked to stop.
    """
    config, budget = training_config(config, data.resolve(), settings)
    if settings.processes > 1:
        _train_in_processes(config, run, settings.processes)
    else:
        from hiersum.training.trainer import train

        train(config, run)
    return describe_training(run, budget, settings)


def describe_training(run: Path, budget: Budget, settings: RunSettings) -> dict[str, Any]:
    """Return what a finished run measured of itself."""
    from hiersum.model.checkpoint import from_pretrained
    from hiersum.training.metrics import read_metrics

    lines = list(read_metrics(run / "metrics.jsonl"))
    last = next(line for line in reversed(lines) if "tokens" in line)
    best = best_checkpoints(run, settings.checkpoints)
    network = from_pretrained(run / "model")
    return {
        "updates": budget.updates,
        "million_tokens": budget.updates * budget.tokens_per_update / 1e6,
        "million_target_tokens": last["tokens"] / 1e6,
        "epochs": budget.updates * budget.tokens_per_update / budget.tokens_per_epoch,
        "seconds": last["seconds"],
        "parameters": sum(p.numel() for p in network.parameters()),
        "best": best,
        "validation_loss": sum(row["loss"] for row in best) / len(best),
        "curve": [
            {
                "million_tokens": line["step"] * budget.tokens_per_update / 1e6,
                "loss": line["valid_loss"],
            }
            for line in lines
            if "valid_loss" in line
        ],
    }


def best_checkpoints(run: Path, number: int) -> list[dict[str, Any]]:
    """Return the best checkpoints of a run by validation: step, folder within the run, scores."""
    best: list[dict[str, Any]] = json.loads((run / "best.json").read_bytes())
    return best[:number]


def _train_in_processes(config: Config, run: Path, number: int) -> None:
    """Let torchrun train, so that each GPU has its process; they end when this one does."""
    run.parent.mkdir(parents=True, exist_ok=True)
    path = run.with_suffix(".toml")
    with write_atomically(path) as file:
        file.write(config_to_toml(config).encode())
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command = [*torchrun, "--nproc-per-node", str(number), "-m", "hiersum", "train", str(path)]
    completed = subprocess.run(
        [*command, "--out", str(run)], stdout=subprocess.DEVNULL, preexec_fn=_follow_parent
    )
    if completed.returncode:
        raise TrainingError(
            f"{run}: training in {number} processes ended with {completed.returncode}; what went "
            "wrong stands above, and the same command goes on from the last checkpoint"
        )


def _follow_parent() -> None:
    """Be ended with the parent, also when it is killed outright (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
