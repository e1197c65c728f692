"""How good a trained ranker is beside similarity, on clusters whose summary is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from hiersum import __version__
from hiersum.commands.model_folder import tokenizer_of, with_network_of
from hiersum.commands.targets import clusters_with_targets, count_all
from hiersum.config import Config
from hiersum.errors import DataError
from hiersum.evaluation.ranking import CUTS, PAPER, interval, recalls_at
from hiersum.progress import tracked
from hiersum.ranking.choice import choose_ranker
from hiersum.ranking.ranker import Ranker, best_first
from hiersum.ranking.similarity import SimilarityRanker
from hiersum.training.ranker_examples import read_unseen
from hiersum.types import Cluster


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
    clusters = clusters_with_targets(corpora, config.data, kind=kind, skip_bad=skip_bad)
    recalls = np.stack(
        [
            _recalls(cluster, [SimilarityRanker(), ranker], config)
            for cluster in tracked(clusters, "ranking", lambda: count_all(corpora))
        ]
    )
    if np.isnan(recalls).all():
        raise DataError(
            f"{corpora[0]}: every cluster has {2 * CUTS[0]} paragraphs or fewer, "
            "so there is nothing to choose from"
        )
    return {
        "signature": f"rougeL recall|stem:yes|whole text|clusters:{len(recalls)}|paragraphs:>2x cut"
        f"|bootstrap:95 %, 1000|ranker:{(ranker.fingerprint or '')[:8]}|v:{__version__}",
        "clusters": len(recalls),
        "cuts": [_row(cut, recalls[:, :, column]) for column, cut in enumerate(CUTS)],
    }


def _recalls(cluster: Cluster, rankers: Sequence[Ranker], config: Config) -> np.ndarray[Any, Any]:
    paragraphs = read_unseen(cluster, config)
    rankings = [
        [paragraphs[i].text for i in best_first(ranker.scores(cluster.title, paragraphs))]
        for ranker in rankers
    ]
    return recalls_at(cluster.summary or "", rankings)


def _row(cut: int, recalls: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Describe one cut; None for what cannot be measured because all clusters are too small."""
    recalls = recalls[~np.isnan(recalls[:, 0])]
    similarity, ranker = recalls.T
    columns = {"similarity": similarity, "ranker": ranker, "difference": ranker - similarity}
    return {
        "paragraphs": cut,
        "clusters": len(recalls),
        **{n: asdict(interval(values)) if len(values) else None for n, values in columns.items()},
        "paper": dict(zip(("similarity", "ranker"), PAPER[cut])),
    }
