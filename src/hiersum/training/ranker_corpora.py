"""Train the ranker on corpora of clusters, and measure its recall (the paper's Table 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import combinations, count, islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from hiersum import __version__
from hiersum.config import Config
from hiersum.data.corpora import clusters_with_targets, count_all
from hiersum.data.model_folder import tokenizer_of, with_network_of
from hiersum.errors import DataError
from hiersum.evaluation.rouge import CUTS, Floats, recalls_at
from hiersum.evaluation.rouge import TABLE_1 as PAPER
from hiersum.evaluation.rouge import recall_interval as interval
from hiersum.parallel import in_order, in_processes
from hiersum.progress import tracked
from hiersum.ranking.choice import choose_ranker
from hiersum.ranking.ranker import Ranker, SimilarityRanker, best_first
from hiersum.training.ranker_examples import RankerExamples, label_clusters, read_unseen
from hiersum.training.ranker_trainer import train_ranker
from hiersum.types import Cluster

_PART_CLUSTERS = 32
_cached_tokenizer = lru_cache(maxsize=1)(tokenizer_of)  # one load per process


class NothingToChooseError(DataError):
    """All clusters are so small that every ranker keeps most paragraphs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpora:
    """Training clusters and how to read them."""

    paths: Sequence[Path]
    kind: str = "auto"
    skip_bad: bool = False
    workers: int = 1

    def examples(self, model: Path, config: Config, *, limit: int) -> RankerExamples:
        """Label the paragraphs of the first `limit` clusters; 0 means all.

        Raises:
            DataError: a cluster cannot be used, or no paragraph is left.
        """
        clusters = clusters_with_targets(
            self.paths, config.data, kind=self.kind, skip_bad=self.skip_bad
        )
        chosen = tracked(
            islice(clusters, limit or None), "labelling", lambda: count_all(self.paths, limit)
        )
        parts = takewhile(
            lambda part: part[1], ((n, list(islice(chosen, _PART_CLUSTERS))) for n in count())
        )
        work = partial(_label, model=model, config=config)
        examples = RankerExamples.join(
            list(in_order(in_processes(work, parts, workers=self.workers)))
        )
        if not len(examples):
            raise DataError(f"{self.paths[0]}: its clusters have no paragraphs to learn from")
        return examples


def train_ranker_on(
    corpora: Corpora, valid: Corpora | None, config: Config, *, model: Path, run: Path | None
) -> Path:
    """Train a ranker, or resume a run, and write the ranker into the model folder.

    Args:
        corpora: clusters to learn from.
        valid: clusters that choose the best weights.
        config: `[ranker_training]`.
        model: the folder with the tokenizer.
        run: the folder for metrics and checkpoints; `ranker-run` in the model folder if None.

    Returns:
        The model folder.

    Raises:
        HiersumError: the folders or the clusters cannot be used, or the loss is not finite.
    """
    config = with_network_of(model, config)
    tokenizer = tokenizer_of(model, config)
    settings = config.ranker_training
    whole = replace(config, ranker_training=replace(settings, max_paragraphs=0))
    train_ranker(
        config,
        corpora.examples(model, config, limit=settings.max_clusters),
        None if valid is None else valid.examples(model, whole, limit=settings.max_valid_clusters),
        tokenizer,
        run=run or model / "ranker-run",
        out=model,
    )
    return model


def evaluate_ranker(
    corpora: Sequence[Path],
    config: Config,
    *,
    model: Path,
    kind: str = "auto",
    skip_bad: bool = False,
) -> dict[str, Any]:
    """Compare the trained ranker of a model folder with tf-idf similarity.

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
    """Measure the recall of rankers on the same clusters, and all paired differences.

    Raises:
        DataError: a cluster cannot be used, or all are too small.
    """
    clusters = clusters_with_targets(corpora, config.data, kind=kind, skip_bad=skip_bad)
    recalls = np.stack(
        [
            _recalls(cluster, list(rankers.values()), config)
            for cluster in tracked(clusters, "ranking", lambda: count_all(corpora))
        ]
    )
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


def _label(
    part: tuple[int, list[Cluster]], *, model: Path, config: Config
) -> tuple[int, RankerExamples]:
    number, clusters = part
    return number, label_clusters(clusters, _cached_tokenizer(model, config), config)


def _recalls(cluster: Cluster, rankers: Sequence[Ranker], config: Config) -> Floats:
    """Return a row per ranker and a column per cut."""
    paragraphs = read_unseen(cluster, config)
    rankings = [
        [paragraphs[i].text for i in best_first(ranker.scores(cluster.title, paragraphs))]
        for ranker in rankers
    ]
    return recalls_at(cluster.summary or "", rankings)


def _row(cut: int, recalls: Mapping[str, Floats]) -> dict[str, Any]:
    """Return the means and differences at one cut; None if every cluster is too small."""
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
