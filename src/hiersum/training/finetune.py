"""Fine-tune a model on your own clusters: split, prepare, train, with suitable settings."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hiersum.checking.checker import CHECKER_FILES
from hiersum.config import Config, config_to_toml, load_config, read_toml
from hiersum.data.corpora import count_all, read_corpora, write_clusters
from hiersum.data.files import write_atomically
from hiersum.data.prepare import prepare_clusters
from hiersum.data.shards import PreparedSet
from hiersum.errors import DataError, InputError
from hiersum.jobs.progress import tracked
from hiersum.model.folder import read_config
from hiersum.pretrained import recommended_settings
from hiersum.pretrained.hub import fetch
from hiersum.training.trainer import train
from hiersum.types import Cluster

_VALID_SHARE = 0.1
_MAX_VALID = 200
_PADDING = 1.2  # padded tokens per real token in a bucketed batch
# The highest learning rates that do not destroy pretrained weights.
_RATES = {"t5": 3e-4, "paper": 1e-4, "paper-unscaled": 1e-4, "hiersumm": 1e-4}


def finetune(
    corpus: Path,
    out: Path,
    *,
    model: str,
    epochs: float = 3.0,
    overrides: Sequence[str] = (),
    kind: str = "auto",
    skip_bad: bool = False,
    workers: int = 1,
) -> Path:
    """Fine-tune a model on clusters with summaries; return the new model folder.

    A tenth of the clusters is held out for validation. An existing run in `out` is resumed.
    `overrides` (`section.key=value`) win over the settings chosen here.
    """
    if not epochs > 0:
        raise InputError(f"--epochs must be more than 0, got {epochs}")
    folder = fetch(model)
    recommended = recommended_settings(folder)
    config = load_config(None, overrides, recommended=recommended)
    config = replace(config, model=replace(read_config(folder), dropout=config.model.dropout))
    found = read_corpora([corpus], kind, skip_bad=skip_bad, config=config.data)
    clusters = [cluster for _, cluster in tracked(found, "reading", lambda: count_all([corpus]))]
    sets = {}
    for name, part in zip(("train", "valid"), split(clusters, corpus)):
        path = out / "prepared" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_clusters(part, path)
        sets[name] = prepare_clusters(
            [path], path.with_suffix(""), config, model=folder, workers=workers, skip_bad=skip_bad
        )
    suited = [*settings(config, folder, sets, epochs), *overrides]
    chosen = load_config(None, suited, recommended=recommended)
    trained = train(replace(chosen, model=config.model), out)
    if recommended is not None:  # the old model's settings, with the values used here
        with write_atomically(trained / recommended.name) as file:
            file.write(config_to_toml(chosen, only=read_toml(recommended)).encode())
    for name in CHECKER_FILES:
        if (folder / name).exists():
            with write_atomically(trained / name) as file, (folder / name).open("rb") as old:
                shutil.copyfileobj(old, file)
    return trained


def split(clusters: Sequence[Cluster], corpus: Path) -> tuple[list[Cluster], list[Cluster]]:
    """Hold out a tenth of the clusters, at most 200, chosen by a hash of their content."""
    for cluster in clusters:
        if not cluster.summary:
            raise DataError(
                f"{corpus}: cluster {cluster.id} has no summary to learn from; leave it out, or "
                "give it one"
            )
    if len(clusters) < 2:
        raise DataError(f"{corpus}: one cluster is not enough; some are held out for validation")
    order = sorted(range(len(clusters)), key=lambda index: _digest(clusters[index]))
    num_valid = min(_MAX_VALID, max(1, round(_VALID_SHARE * len(clusters))))
    parts = sorted(order[num_valid:]), sorted(order[:num_valid])
    train_part, valid_part = ([clusters[index] for index in part] for part in parts)
    return train_part, valid_part


def settings(
    config: Config, folder: Path, sets: dict[str, PreparedSet], epochs: float
) -> list[str]:
    """Return training settings that fit this model and this many examples, as overrides."""
    totals = sets["train"].manifest.totals
    num_tokens = _PADDING * (totals["source_tokens"] + totals["target_tokens"])
    batch_tokens = 8_000
    steps = max(10, math.ceil(epochs * num_tokens / batch_tokens))
    values = {
        "data": str(sets["train"].folder),
        "valid_data": str(sets["valid"].folder),
        "start": str(folder),
        "steps": steps,
        "batch_tokens": batch_tokens,
        "schedule": "linear",
        "learning_rate": _RATES[config.model.profile],
        "warmup_steps": max(1, steps // 20),
        "max_gradient_norm": 1.0,
        "log_every": max(1, steps // 100),
        "save_every": max(1, steps // 20),
        "validate_every": max(1, steps // 5),
        "max_rouge_examples": 16,
        "keep_best": 2,
    }
    return [f"training.{name}={value}" for name, value in values.items()]


def _digest(cluster: Cluster) -> str:
    text = "\n".join((cluster.title, cluster.summary or "", *(d.text for d in cluster.documents)))
    return hashlib.sha256(text.encode()).hexdigest()
