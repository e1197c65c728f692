"""Train the ranker on corpora of clusters, and measure its recall (the paper's Table 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np

from hiersum import __version__
from hiersum.config import Config
from hiersum.data.corpora import count_all, read_corpora
from hiersum.data.model_folder import tokenizer_of, with_network_of
from hiersum.errors import DataError
from hiersum.evaluation.rouge import CUTS, Floats, recalls_at
from hiersum.evaluation.rouge import TABLE_1 as PAPER
from hiersum.evaluation.rouge import recall_interval as interval
from hiersum.jobs.parallel import LocalEngine, in_order
from hiersum.jobs.progress import tracked
from hiersum.ranking.choice import choose_ranker
from hiersum.ranking.ranker import Ranker, SimilarityRanker, best_first
from hiersum.training.ranker_examples import RankerExamples, label_clusters, read_unseen
from hiersum.training.ranker_trainer import MAX_VALID_CLUSTERS, train_ranker
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

    def clusters(self, config: Config) -> Iterator[Cluster]:
        """Yield the clusters; each has a summary."""
        found = read_corpora(
            self.paths, self.kind, skip_bad=self.skip_bad, config=config.data, with_targets=True
        )
        return (cluster for _, cluster in found)

    def examples(self, model: Path, config: Config, *, limit: int) -> RankerExamples:
        """Label the paragraphs of the first `limit` clusters; 0 means all."""
        clusters = islice(self.clusters(config), limit or None)
        chosen = tracked(clusters, "labelling", lambda: count_all(self.paths, limit))
        parts = enumerate(iter(lambda: list(islice(chosen, _PART_CLUSTERS)), []))
        work = partial(_label, model=model, config=config)
        labelled = LocalEngine(self.workers).run(work, parts)
        examples = RankerExamples.join(list(in_order(labelled)))
        if not len(examples):
            raise DataError(f"{self.paths[0]}: its clusters have no paragraphs to learn from")
        return examples


def train_ranker_on(
    corpora: Corpora, valid: Corpora | None, config: Config, *, model: Path, run: Path | None
) -> Path:
    """Train a ranker, or resume a run; write the ranker into the model folder and return that.

    Args:
        corpora: clusters to learn from.
        valid: clusters that choose the best weights.
        config: `[ranker_training]`.
        model: the folder with the tokenizer.
        run: the folder for metrics and checkpoints; `ranker-run` in the model folder if None.
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


def evaluate_ranker(
    corpora: Corpora, config: Config, *, model: Path, is_all: bool = False
) -> dict[str, Any]:
    """Compare the trained ranker of a model folder with tf-idf similarity."""
    config = with_network_of(model, config)
    ranker = choose_ranker("neural", model, tokenizer_of(model, config))
    rankers = {"similarity": SimilarityRanker(), "ranker": ranker}
    return compare_rankers(corpora, config, rankers, is_all=is_all)


def compare_rankers(
    corpora: Corpora, config: Config, rankers: Mapping[str, Ranker], *, is_all: bool = False
) -> dict[str, Any]:
    """Measure the recall of rankers on the same clusters, and all paired differences.

    Each cut uses the clusters with more than twice as many paragraphs; with `is_all`, all clusters.
    """
    clusters = corpora.clusters(config)
    recalls = np.stack(
        [
            _recalls(cluster, list(rankers.values()), is_all=is_all)
            for cluster in tracked(clusters, "ranking", lambda: count_all(corpora.paths))
        ]
    )
    if np.isnan(recalls).all():
        raise NothingToChooseError(
            f"{corpora.paths[0]}: every cluster has {2 * CUTS[0]} paragraphs or fewer, "
            "so there is nothing to choose from"
        )
    learned = [ranker.fingerprint[:8] for ranker in rankers.values() if ranker.fingerprint]
    return {
        "all": is_all,
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


def _recalls(cluster: Cluster, rankers: Sequence[Ranker], *, is_all: bool) -> Floats:
    """Return a row per ranker and a column per cut."""
    paragraphs = read_unseen(cluster)
    rankings = [
        [paragraphs[i].text for i in best_first(ranker.scores(cluster.title, paragraphs))]
        for ranker in rankers
    ]
    return recalls_at(cluster.summary or "", rankings, is_all=is_all)


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
