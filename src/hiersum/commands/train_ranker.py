"""A trained ranker from clusters, put into a model folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import count, islice, takewhile
from pathlib import Path

from hiersum.commands.model_folder import tokenizer_of, with_network_of
from hiersum.commands.targets import clusters_with_targets, count_all
from hiersum.config import Config
from hiersum.errors import DataError
from hiersum.parallel import in_order, in_processes
from hiersum.progress import tracked
from hiersum.text.tokenizer import Tokenizer
from hiersum.training.ranker import train_ranker
from hiersum.training.ranker_examples import RankerExamples, label_clusters
from hiersum.types import Cluster

_PART_CLUSTERS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpora:
    """Clusters to learn from, and how they are read."""

    paths: Sequence[Path]
    kind: str = "auto"
    skip_bad: bool = False
    workers: int = 1

    def examples(self, model: Path, config: Config, *, limit: int) -> RankerExamples:
        """Label the paragraphs of the first clusters, all of them if the limit is 0.

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
    """Train a ranker on clusters, or go on with a run, and put it into a model folder.

    Args:
        corpora: clusters to learn from.
        valid: clusters to choose the weights by.
        config: `[ranker_training]`.
        model: the folder with the tokenizer.
        run: where metrics and checkpoints go; `ranker-run` in the model folder if None.

    Returns:
        The model folder.

    Raises:
        HiersumError: the folders or the clusters cannot be used, or the loss is no number any more.
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


def _label(
    part: tuple[int, list[Cluster]], *, model: Path, config: Config
) -> tuple[int, RankerExamples]:
    number, clusters = part
    return number, label_clusters(clusters, _tokenizer(model, config), config)


@lru_cache(maxsize=1)
def _tokenizer(model: Path, config: Config) -> Tokenizer:
    """Load it once per process."""
    return tokenizer_of(model, config)
