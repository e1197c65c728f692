"""How good a trained ranker is beside similarity, on clusters whose summary is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from hiersum import __version__
from hiersum.commands.model_folder import tokenizer_of, with_network_of
from hiersum.commands.targets import clusters_with_targets, count_all
from hiersum.config import Config
from hiersum.errors import DataError
from hiersum.evaluation.rouge import CUTS, Floats, recalls_at
from hiersum.evaluation.rouge import TABLE_1 as PAPER
from hiersum.evaluation.rouge import recall_interval as interval
from hiersum.progress import tracked
from hiersum.ranking.choice import choose_ranker
from hiersum.ranking.ranker import Ranker, best_first
from hiersum.ranking.similarity import SimilarityRanker
from hiersum.training.ranker_examples import read_unseen
from hiersum.types import Cluster


class NothingToChooseError(DataError):
    """All clusters are so small that every ranker keeps most of their paragraphs."""


def evaluate_ranker(
    corpora: Sequence[Path],
    config: Config,
    *,
    model: Path,
    kind: str = "auto",
    skip_bad: bool = False,
) -> dict[str, Any]:
    """Measure the paper's Table 1 for similarity and for the trained ranker of a model folder.

    Raises:
        CheckpointError: the folder has no tokenizer or no ranker, or they do not fit.
        DataError: a cluster cannot be used, or all are too small.
    """
    config = with_network_of(model, config)
    ranker = choose_ranker("neural", model, tokenizer_of(model, config))
    rankers = {"similarity": SimilarityRanker(), "ranker": ranker}
    return compare_rankers(corpora, config, rankers, kind=kind, skip_bad=skip_bad)


def compare_rankers(
    corpora: Sequence[Path],
    config: Config,
    rankers: Mapping[str, Ranker],
    *,
    kind: str = "auto",
    skip_bad: bool = False,
) -> dict[str, Any]:
    """Measure rankers on the same clusters: the recall of each, and all paired differences.

    Raises:
        DataError: a cluster cannot be used, or all are too small.
    """
    clusters = clusters_with_targets(corpora, config.data, kind=kind, skip_bad=skip_bad)
    rows = [
        _recalls(cluster, list(rankers.values()), config)
        for cluster in tracked(clusters, "ranking", lambda: count_all(corpora))
    ]
    recalls = np.stack(rows)
    if np.isnan(recalls).all():
        raise NothingToChooseError(
            f"{corpora[0]}: every cluster has {2 * CUTS[0]} paragraphs or fewer, "
            "so there is nothing to choose from"
        )
    learned = [ranker.fingerprint[:8] for ranker in rankers.values() if ranker.fingerprint]
    return {
        "signature": f"rougeL recall|stem:yes|whole text|clusters:{len(recalls)}"
        f"|bootstrap:95 %, 1000|ranker:{','.join(learned)}|v:{__version__}",
        "clusters": len(recalls),
        "cuts": [
            _row(cut, dict(zip(rankers, recalls[:, :, column].T)))
            for column, cut in enumerate(CUTS)
        ],
    }


def _recalls(cluster: Cluster, rankers: Sequence[Ranker], config: Config) -> Floats:
    """Return a row per ranker and a column per cut."""
    paragraphs = read_unseen(cluster, config)
    rankings = [
        [paragraphs[i].text for i in best_first(ranker.scores(cluster.title, paragraphs))]
        for ranker in rankers
    ]
    return recalls_at(cluster.summary or "", rankings)


def _row(cut: int, recalls: Mapping[str, Floats]) -> dict[str, Any]:
    """Describe one cut; None for what cannot be measured because all clusters are too small."""
    kept = {name: values[~np.isnan(values)] for name, values in recalls.items()}
    differences = {f"{b} - {a}": kept[b] - kept[a] for a, b in combinations(kept, 2)}
    num_clusters = len(next(iter(kept.values())))
    return {
        "paragraphs": cut,
        "clusters": num_clusters,
        **{
            name: asdict(interval(values)) if num_clusters else None
            for name, values in (kept | differences).items()
        },
        "paper": dict(zip(("similarity", "ranker"), PAPER[cut])),
    }
