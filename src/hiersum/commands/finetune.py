"""Fine-tuning in one go: one's own clusters are split, prepared and learned from, with settings that
suit the model and the machine.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from hiersum.bundled import recommended_settings
from hiersum.commands.counting import counted, report_count
from hiersum.commands.prepare import prepare_clusters
from hiersum.config import Config, config_to_toml, load_config, read_toml
from hiersum.data.corpora import read_corpus, write_clusters
from hiersum.data.files import write_atomically
from hiersum.data.records import BadRecords
from hiersum.data.shards import PreparedSet
from hiersum.errors import DataError, InputError
from hiersum.model.checkpoint import fetch, read_config
from hiersum.types import Cluster

_VALID_SHARE = 0.1
_MAX_VALID = 200
_PADDING = 1.2  # what a bucketed batch holds besides real tokens, about
# Highest rates that move pretrained weights without breaking them.
_RATES = {"t5": 3e-4, "paper": 1e-4, "hiersumm": 1e-4}


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
    """Train a model further on clusters with summaries; return the new model folder.

    Args:
        corpus: the clusters; some of them are set apart for validation.
        out: the run folder; the same one resumes.
        model: a model folder, or `owner/name` on the hub.
        epochs: how often each cluster is learned from.
        overrides: settings as `section.key=value`, in place of those chosen here.
        kind: the kind of the corpus.
        skip_bad: count and skip clusters that cannot be used.
        workers: processes that prepare.

    Raises:
        HiersumError: the clusters or the model cannot be used.
    """
    from hiersum.training.trainer import train

    if not epochs > 0:
        raise InputError(f"--epochs must be more than 0, got {epochs}")
    folder = fetch(model)
    recommended = recommended_settings(folder)
    config = load_config(None, overrides, recommended=recommended)
    config = replace(config, model=replace(read_config(folder), dropout=config.model.dropout))
    bad = BadRecords(skip=skip_bad)
    clusters = list(
        counted(read_corpus(corpus, kind, bad=bad, config=config.data), corpus, "reading")
    )
    report_count(corpus, len(clusters), bad)
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
    if recommended is not None:
        _hand_on(recommended, chosen, trained)
    return trained


def _hand_on(recommended: Path, config: Config, trained: Path) -> None:
    """Write what a model recommends as it was used here."""
    with write_atomically(trained / recommended.name) as file:
        file.write(config_to_toml(config, only=read_toml(recommended)).encode())


def split(clusters: Iterable[Cluster], corpus: Path) -> tuple[list[Cluster], list[Cluster]]:
    """Set a tenth of the clusters apart, at most 200; which ones, only their content decides.

    Raises:
        DataError: a cluster has no summary, or there are fewer than two clusters.
    """
    clusters = list(clusters)
    for cluster in clusters:
        if not cluster.summary:
            raise DataError(
                f"{corpus}: cluster {cluster.id} has no summary to learn from; leave it out, or "
                "give it one"
            )
    if len(clusters) < 2:
        raise DataError(f"{corpus}: one cluster is not enough; some are set apart to validate")
    order = sorted(range(len(clusters)), key=lambda index: _digest(clusters[index]))
    num_valid = min(_MAX_VALID, max(1, round(_VALID_SHARE * len(clusters))))
    valid = set(order[:num_valid])
    return (
        [cluster for index, cluster in enumerate(clusters) if index not in valid],
        [cluster for index, cluster in enumerate(clusters) if index in valid],
    )


def settings(
    config: Config, folder: Path, sets: dict[str, PreparedSet], epochs: float
) -> list[str]:
    """Return settings for this model, this many examples and this machine, as overrides."""
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
        "optimizer": "adamw",
        "schedule": "linear",
        "learning_rate": _RATES[config.model.profile],
        "warmup_steps": max(1, steps // 20),
        "beta2": 0.999,
        "epsilon": 1e-8,
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
