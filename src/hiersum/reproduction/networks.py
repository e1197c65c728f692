"""Train the networks of an experiment within its budget, and let them write.

With a budget of tokens, source and target tokens count, padding does not: a network that reads less
of each cluster sees more clusters. With a budget of clusters, all see the same ones.
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
from hiersum.data.batches import BatchStream, bucket
from hiersum.data.files import write_atomically
from hiersum.data.partial_results import PartialResults
from hiersum.data.shards import PreparedSet, Rows
from hiersum.errors import TrainingError
from hiersum.jobs.progress import tracked
from hiersum.reproduction.experiment import RunSettings
from hiersum.text.penn import from_penn

PLAN = {"made by": "hiersum reproduce"}
"""Of result files; the stage's note records the inputs."""
_LOGS = 200  # lines of metrics per run
_SAVES = 4  # resumable checkpoints between two validations,
_LEAST = 25  # unless they would follow each other within so many updates


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget of tokens or clusters, in terms of one prepared set."""

    updates: int
    tokens_per_update: float
    clusters_per_update: float
    tokens_per_epoch: int


def plan_updates(prepared: PreparedSet, training: TrainingConfig, settings: RunSettings) -> Budget:
    """Return how many updates the budget allows."""
    totals = prepared.manifest.totals
    tokens = totals["source_tokens"] + totals["target_tokens"]
    stream = BatchStream(prepared, batch_tokens=training.batch_tokens, seed=training.seed)
    share = training.accumulate * settings.processes / stream.count_batches()
    tokens_per_update, clusters_per_update = tokens * share, len(prepared) * share
    if settings.clusters:
        updates = settings.clusters / clusters_per_update
    else:
        updates = 1e6 * settings.million_tokens / tokens_per_update
    return Budget(max(1, round(updates)), tokens_per_update, clusters_per_update, tokens)


def training_config(config: Config, data: Path, settings: RunSettings) -> tuple[Config, Budget]:
    """Return the config of a run on the prepared sets in a folder, and its budget."""
    budget = plan_updates(PreparedSet.open(data / "train"), config.training, settings)
    between = max(1, budget.updates // settings.validations)
    training = replace(
        config.training,
        data=str(data / "train"),
        valid_data=str(data / "valid"),
        steps=budget.updates,
        validate_every=between,
        save_every=max(min(between, _LEAST), between // _SAVES),
        log_every=max(1, budget.updates // _LOGS),
        keep_best=settings.checkpoints,
    )
    return replace(config, training=training), budget


def best_checkpoints(run: Path, number: int) -> list[dict[str, Any]]:
    """Return the best checkpoints by validation: step, folder within the run, scores."""
    best: list[dict[str, Any]] = json.loads((run / "best.json").read_bytes())
    return best[:number]


def describe_training(run: Path, budget: Budget, settings: RunSettings) -> dict[str, Any]:
    from hiersum.model.folder import from_pretrained
    from hiersum.training.run_folder import read_metrics

    lines = list(read_metrics(run / "metrics.jsonl"))
    last = next(line for line in reversed(lines) if "tokens" in line)
    best = best_checkpoints(run, settings.checkpoints)
    tokens = budget.updates * budget.tokens_per_update
    return {
        "updates": budget.updates,
        "million_tokens": tokens / 1e6,
        "clusters": round(budget.updates * budget.clusters_per_update),
        "epochs": tokens / budget.tokens_per_epoch,
        "seconds": last["seconds"],
        "parameters": sum(p.numel() for p in from_pretrained(run / "model").parameters()),
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


def train_in_processes(config: Config, run: Path, number: int) -> None:
    """Train with torchrun, one process per GPU; they end with this process."""
    run.parent.mkdir(parents=True, exist_ok=True)
    path = run.with_suffix(".toml")
    with write_atomically(path) as file:
        file.write(config_to_toml(config).encode())
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command = [*torchrun, "--nproc-per-node", str(number), "-m", "hiersum", "train", str(path)]
    completed = subprocess.run(
        [*command, "--out", str(run)], stdout=subprocess.DEVNULL, preexec_fn=_end_with_parent
    )
    if completed.returncode:
        raise TrainingError(
            f"{run}: training in {number} processes ended with {completed.returncode}; see the "
            "error above. The same command resumes from the last checkpoint"
        )


def _end_with_parent() -> None:
    """Ask the kernel to kill this process when its parent dies (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def write_summaries(
    prepared: Path, out: Path, model: Path, config: Config, *, is_prose: bool = True
) -> None:
    """Write a network's summary of each example in a prepared set.

    Unless the targets are prose, those of a released network stay in lower case, with spaces around
    punctuation, as the authors score them.
    """
    import torch

    from hiersum.writing.neural_model import NeuralModel

    if out.exists():
        return
    device = "cuda" if torch.cuda.is_available() else "cpu"
    system = NeuralModel.load(model, config.decoding, device=device)
    test = PreparedSet.open(prepared)
    rows = Rows.join([test.load(shard) for shard in test.manifest.shards])
    out.parent.mkdir(parents=True, exist_ok=True)
    with PartialResults.open(out, PLAN) as results:
        batches = bucket(rows.shapes(is_flat=test.is_flat), config.decoding.batch_tokens)
        # A resumed run repeats whole batches: different padding changes rounding, which can change
        # a summary.
        rest = [batch for batch in batches if any(n not in results for n in batch.tolist())]
        for batch in tracked(rest, "writing", len(rest)):
            examples = rows.examples(batch)
            texts = system.write_texts(examples, config.decoding)
            for number, example, text in zip(batch.tolist(), examples, texts):
                written = from_penn(text) if is_prose and system.tokenizer.profile.is_penn else text
                results.add(number, {"id": example.id, "summary": written})
        results.finish()
