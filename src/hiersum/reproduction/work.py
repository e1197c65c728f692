"""The work of the stages, and where it leaves what it makes.

OUT/drawn/SPLIT.parquet    the articles or clusters that are used, where not all are
OUT/clusters/SPLIT         what all systems read, built from articles
OUT/vocabulary  ranker     what all networks share
OUT/prepared/FORM/SPLIT    the clusters as networks read them; networks that read alike share a form
OUT/runs/NAME              the training of each network, and of the ranker
OUT/summaries/ROW          what each row of the tables writes about the test clusters
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiersum.config import Config
from hiersum.data.prepare_set import prepare_clusters
from hiersum.data.shards import TOKENIZER
from hiersum.reproduction.corpus import build_split, draw
from hiersum.reproduction.experiment import Experiment
from hiersum.reproduction.learning import best_checkpoints, train_system
from hiersum.reproduction.systems import LONGER, split_row
from hiersum.reproduction.writing import validation_loss, write_extracts, write_summaries
from hiersum.training.ranker_corpora import (
    Corpora,
    NothingToChooseError,
    evaluate_ranker,
    train_ranker_on,
)
from hiersum.training.vocabulary import MAX_PARAGRAPHS, train_vocabulary

_PARAGRAPHS_PER_PIECE = 5  # some 500 words; more make a small vocabulary slower, not better


def file_name(row: str) -> str:
    """Return a row's name as files are called."""
    return row.replace(LONGER, "-longer")


@dataclass(frozen=True, slots=True)
class Workshop:
    """An experiment's folder; every method does the work of one stage, or goes on with it."""

    experiment: Experiment
    out: Path
    workers: int
    has_ranker: bool

    def drawn(self, split: str) -> Path:
        return self.out / "drawn" / f"{split}.parquet"

    def built(self, split: str) -> Path:
        return self.out / "clusters" / split

    def prepared(self, form: str, split: str) -> Path:
        return self.out / "prepared" / form / split

    def run(self, name: str) -> Path:
        return self.out / "runs" / name

    def summaries(self, row: str) -> Path:
        """The folder of what a row writes: a file for each checkpoint, the best first."""
        return self.out / "summaries" / file_name(row)

    @property
    def tools(self) -> Path:
        """The folder with the vocabulary, and with the ranker if one is trained."""
        return self.out / ("ranker" if self.has_ranker else "vocabulary")

    def sources(self, split: str) -> list[Path]:
        """The articles or clusters of a split that are used."""
        corpus = self.experiment.corpus
        return [self.drawn(split)] if corpus.limit(split) else corpus.paths(split)

    def clusters(self, split: str) -> list[Path]:
        """The clusters of a split."""
        is_built = self.experiment.corpus.kind == "articles"
        return [self.built(split)] if is_built else self.sources(split)

    def build(self, split: str) -> Mapping[str, Any]:
        """Draw and build a split; train articles are searched for valid and test clusters too."""
        corpus = self.experiment.corpus
        if limit := corpus.limit(split):
            draw(corpus.paths(split), limit, self.drawn(split), corpus)
        if corpus.kind == "clusters":
            return {}
        self.built(split).parent.mkdir(parents=True, exist_ok=True)
        collection = [] if split == "train" else self.sources("train")
        return build_split(
            self.sources(split), collection, self.built(split), corpus, workers=self.workers
        )

    def train_vocabulary(self, size: int, seed: int) -> None:
        train_vocabulary(
            self.clusters("train"),
            self.out / "vocabulary",
            size=size,
            seed=seed,
            max_paragraphs=min(MAX_PARAGRAPHS, _PARAGRAPHS_PER_PIECE * size),
            skip_bad=self.experiment.corpus.skip_bad,
        )

    def train_ranker(self, config: Config) -> None:
        folder = self.out / "ranker"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.out / "vocabulary" / TOKENIZER, folder / TOKENIZER)
        skip_bad = self.experiment.corpus.skip_bad
        train, valid = (
            Corpora(paths=self.clusters(split), skip_bad=skip_bad, workers=self.workers)
            for split in ("train", "valid")
        )
        train_ranker_on(train, valid, config, model=folder, run=self.run("ranker"))

    def compare_rankers(self, config: Config) -> dict[str, Any]:
        skip_bad = self.experiment.corpus.skip_bad
        clusters = self.clusters("test")
        try:
            return evaluate_ranker(clusters, config, model=self.tools, skip_bad=skip_bad)
        except NothingToChooseError as error:
            return {"cuts": [], "reason": str(error)}

    def prepare(self, form: str, split: str, config: Config, given: str | None) -> None:
        """Prepare clusters for a network of the experiment, or for a given one with tools of its own."""
        prepare_clusters(
            self.clusters(split),
            self.prepared(form, split),
            config,
            model=Path(given) if given else self.tools,
            skip_bad=self.experiment.corpus.skip_bad,
            workers=self.workers,
        )

    def train(self, name: str, form: str, config: Config) -> dict[str, Any]:
        data = self.prepared(form, "train").parent
        return train_system(config, data, self.run(name), self.experiment.run)

    def validate(self, name: str, form: str, config: Config) -> dict[str, Any]:
        model = Path(self.experiment.checkpoints[name])
        return validation_loss(self.prepared(form, "valid"), model, config)

    def extract(self, row: str, config: Config) -> None:
        write_extracts(
            self.clusters("test"),
            self.summaries(row) / "1.jsonl",
            row,
            config,
            tools=self.tools,
            skip_bad=self.experiment.corpus.skip_bad,
        )

    def write(self, row: str, form: str, config: Config) -> None:
        system, _ = split_row(row)
        models = [self.run(system) / found["folder"] for found in self._best(system)]
        if given := self.experiment.checkpoints.get(system):
            models = [Path(given)]
        for place, model in enumerate(models, start=1):
            target = self.summaries(row) / f"{place}.jsonl"
            write_summaries(self.prepared(form, "test"), target, model, config)

    def _best(self, system: str) -> list[dict[str, Any]]:
        if system in self.experiment.checkpoints:
            return []
        return best_checkpoints(self.run(system), self.experiment.run.checkpoints)
