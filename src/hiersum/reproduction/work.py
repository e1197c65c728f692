"""The work of each stage, and where its results go.

OUT/drawn/SPLIT.*          the drawn articles or clusters, if not all are used
OUT/clusters/SPLIT         clusters built from articles
OUT/vocabulary  ranker     shared by all networks
OUT/prepared/FORM/SPLIT    clusters as network input; networks with the same input share a form
OUT/runs/NAME              the training of each network and of the ranker
OUT/summaries/ROW          the summaries of each row of the tables
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from hiersum.building.articles import BuildSettings, build_clusters
from hiersum.config import Config
from hiersum.data.corpora import count_all, read_corpus, write_clusters
from hiersum.data.model_folder import tokenizer_of
from hiersum.data.partial_results import PartialResults
from hiersum.data.prepare import prepare_clusters, supported_part
from hiersum.data.records import BadRecords
from hiersum.data.released import SUFFIX as RELEASED
from hiersum.data.released import with_text, write_released
from hiersum.data.shards import TOKENIZER
from hiersum.errors import ConfigError
from hiersum.jobs.parallel import LocalEngine
from hiersum.jobs.progress import tracked
from hiersum.pipeline import Summarizer
from hiersum.ranking.ranker import choose_ranker
from hiersum.reproduction.experiment import CorpusSettings, Experiment
from hiersum.reproduction.networks import (
    PLAN,
    best_checkpoints,
    describe_training,
    train_in_processes,
    training_config,
    write_summaries,
)
from hiersum.reproduction.systems import LONGER, split_row
from hiersum.text.paragraphs import empty_clones, read_paragraphs
from hiersum.text.words import count_words
from hiersum.training.ranker_corpora import (
    Corpora,
    NothingToChooseError,
    evaluate_ranker,
)
from hiersum.training.ranker_trainer import train_ranker_on
from hiersum.training.vocabulary import MAX_PARAGRAPHS, train_vocabulary
from hiersum.types import Cluster

_PARAGRAPHS_PER_PIECE = 5  # about 500 words; more slow training without a better vocabulary


def file_name(row: str) -> str:
    """Return a row's name for files."""
    return row.replace(LONGER, "-longer")


@dataclass(frozen=True, slots=True)
class Workshop:
    """An experiment's folder; each method below `clusters` does or resumes one stage."""

    experiment: Experiment
    out: Path
    workers: int

    def drawn(self, split: str) -> Path:
        corpus = self.experiment.corpus
        # Lines can hold citations; columns cannot.
        suffix = ".parquet" if corpus.kind == "articles" else ".jsonl"
        return self.out / "drawn" / f"{split}{RELEASED if corpus.is_released else suffix}"

    def built(self, split: str) -> Path:
        return self.out / "clusters" / split

    def prepared(self, form: str, split: str) -> Path:
        return self.out / "prepared" / form / split

    def run(self, name: str) -> Path:
        return self.out / "runs" / name

    def start(self, name: str) -> Path:
        """The network that a training begins from, as long as it runs."""
        return self.out / "runs" / f"{name}-start"

    def summaries(self, row: str) -> Path:
        """The folder with a file of summaries per checkpoint, the best first."""
        return self.out / "summaries" / file_name(row)

    @property
    def skip_bad(self) -> bool:
        return self.experiment.corpus.skip_bad

    @property
    def tools(self) -> Path:
        """The folder with the vocabulary and, if one is trained, the ranker."""
        return self.out / ("ranker" if self.experiment.has_ranker else "vocabulary")

    def sources(self, split: str) -> list[Path]:
        """The articles or clusters to use for a split."""
        return [self.drawn(split)] if self.is_drawn(split) else self.experiment.corpus.paths(split)

    def is_drawn(self, split: str) -> bool:
        """Whether the records of a split are a part of the corpus, in a file of their own."""
        return bool(self.experiment.corpus.limit(split)) or self.experiment.is_shared(split)

    def clusters(self, split: str) -> list[Path]:
        is_built = self.experiment.corpus.kind == "articles"
        return [self.built(split)] if is_built else self.sources(split)

    def build(self, split: str) -> None:
        """Draw and build a split; valid and test clusters also search the training articles."""
        corpus = self.experiment.corpus
        if self.is_drawn(split):
            learned = None
            if self.experiment.is_shared(split):
                min_words = self.experiment.base().data.min_supported_words
                budget = self.experiment.run.clusters if split == "train" else 0
                learned = partial(to_learn_from, min_words=min_words, budget=budget)
            draw(corpus.paths(split), corpus.limit(split), self.drawn(split), corpus, learned)
        if corpus.kind == "clusters":
            return
        self.built(split).parent.mkdir(parents=True, exist_ok=True)
        build_clusters(
            self.sources(split),
            self.built(split),
            BuildSettings(search=corpus.search, seed=corpus.seed),
            collection=[] if split == "train" else self.sources("train"),
            skip_bad=corpus.skip_bad,
            engine=LocalEngine(self.workers),
        )

    def train_vocabulary(self, size: int, seed: int) -> None:
        train_vocabulary(
            self.clusters("train"),
            self.out / "vocabulary",
            size=size,
            seed=seed,
            max_paragraphs=min(MAX_PARAGRAPHS, _PARAGRAPHS_PER_PIECE * size),
            skip_bad=self.skip_bad,
        )

    def copy_vocabulary(self, path: Path, size: int) -> None:
        folder = self.out / "vocabulary"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / TOKENIZER)
        tokenizer = tokenizer_of(folder, self.experiment.base())
        if not self.experiment.run.start and tokenizer.size != size:
            raise ConfigError(
                f"{path}: has {tokenizer.size} pieces; set sizes.pieces = {tokenizer.size}"
            )

    def train_ranker(self, config: Config) -> None:
        folder = self.out / "ranker"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.out / "vocabulary" / TOKENIZER, folder / TOKENIZER)
        train, valid = (
            Corpora(paths=self.clusters(split), skip_bad=self.skip_bad, workers=self.workers)
            for split in ("train", "valid")
        )
        train_ranker_on(train, valid, config, model=folder, run=self.run("ranker"))

    def compare_rankers(self, config: Config) -> dict[str, Any]:
        corpora = Corpora(paths=self.clusters("test"), skip_bad=self.skip_bad)
        try:
            is_all = self.experiment.run.ranking == "all"
            return evaluate_ranker(corpora, config, model=self.tools, is_all=is_all)
        except NothingToChooseError as error:
            return {"cuts": [], "reason": str(error)}

    def prepare(self, form: str, split: str, config: Config, given: str | None) -> None:
        """Prepare clusters with the experiment's tools, or with those of a given network."""
        prepare_clusters(
            self.clusters(split),
            self.prepared(form, split),
            config,
            model=Path(given) if given else self.tools,
            skip_bad=self.skip_bad,
            workers=self.workers,
        )

    def train(self, name: str, form: str, config: Config) -> dict[str, Any]:
        """Train a network and return the metrics of its run."""
        settings, run, started = self.experiment.run, self.run(name), None
        data = self.prepared(form, "train").parent.resolve()
        config, budget = training_config(config, data, settings)
        if settings.start:
            from hiersum.reproduction.warm_start import save_start, start_folder

            start = self.start(name).resolve()
            seed = config.training.seed
            started = save_start(start_folder(settings.start), config.model, seed, start)
            config = replace(config, training=replace(config.training, start=str(start)))
        if settings.processes > 1:
            train_in_processes(config, run, settings.processes)
        else:
            from hiersum.training.trainer import train

            train(config, run)
        shutil.rmtree(self.start(name), ignore_errors=True)
        return describe_training(run, budget, settings) | {"started": started}

    def extract(self, row: str, config: Config) -> None:
        """Write Lead or LexRank summaries, cut to the length of each target."""
        out = self.summaries(row) / "1.jsonl"
        if out.exists():
            return
        tokenizer = tokenizer_of(self.tools, config)
        ranker = choose_ranker(config.ranker.kind, self.tools, tokenizer)
        summarizer = Summarizer(config=config, ranker=ranker)
        bad = BadRecords(skip=self.skip_bad)
        clusters = chain.from_iterable(
            read_corpus(path, bad=bad, config=config.data) for path in self.clusters("test")
        )
        out.parent.mkdir(parents=True, exist_ok=True)
        with PartialResults.open(out, PLAN) as results:
            readable = with_text(clusters, tokenizer, bad)
            for number, cluster in enumerate(tracked(readable, row)):
                if number not in results and cluster.summary:
                    summary = summarizer.summarize_cluster(
                        empty_clones(cluster),
                        system=row,
                        max_words=max(1, count_words(cluster.summary)),
                    )
                    results.add(number, {"id": cluster.id, "summary": summary.text})
            results.finish()

    def write(self, row: str, form: str, config: Config, run_name: str = "") -> None:
        """Write the summaries of a network's best checkpoints, or of a given network."""
        system = run_name or split_row(row)[0]
        if given := self.experiment.checkpoints.get(system):
            models = [Path(given)]
        else:
            best = best_checkpoints(self.run(system), self.experiment.run.checkpoints)
            models = [self.run(system) / found["folder"] for found in best]
        for place, model in enumerate(models, start=1):
            target = self.summaries(run_name or row) / f"{place}.jsonl"
            is_prose = not self.experiment.corpus.is_released
            write_summaries(self.prepared(form, "test"), target, model, config, is_prose=is_prose)


def draw(
    paths: Sequence[Path],
    number: int,
    out: Path,
    settings: CorpusSettings,
    select: Callable[[Iterable[Cluster], random.Random], list[Cluster]] | None = None,
) -> None:
    """Write a random sample of the records as a cluster file, or all if there are fewer.

    `select` makes the clusters of the sample that are written.
    """
    if out.exists():
        return

    def read() -> Iterator[Cluster]:
        bad = BadRecords(skip=settings.skip_bad)
        return chain.from_iterable(read_corpus(path, bad=bad) for path in paths)

    total = count_all(paths) or sum(1 for _ in read())
    rng = random.Random(settings.seed)
    chosen = set(rng.sample(range(total), min(number or total, total)))
    records = tracked(read(), "drawing", total)
    out.parent.mkdir(parents=True, exist_ok=True)
    drawn: Iterable[Cluster] = (record for n, record in enumerate(records) if n in chosen)
    drawn = drawn if select is None else select(drawn, rng)
    if settings.is_released:
        write_released(drawn, out)
    else:
        write_clusters(drawn, out)


def to_learn_from(
    clusters: Iterable[Cluster], rng: random.Random, *, min_words: int, budget: int
) -> list[Cluster]:
    """Return the clusters that all networks learn from, `budget` of them unless it is 0.

    Summaries without citations are cut to what the whole sources support (`min_supported_words`), so
    that it does not depend on what a network reads.
    """
    cut = [_supported(cluster, min_words) for cluster in clusters if cluster.summary]
    usable = [cluster for cluster in cut if cluster is not None]
    most = min(budget or len(usable), len(usable))
    return [usable[n] for n in sorted(rng.sample(range(len(usable)), most))]


def _supported(cluster: Cluster, min_words: int) -> Cluster | None:
    if cluster.cited or not min_words:
        return cluster
    texts = [paragraph.text for paragraph in read_paragraphs(empty_clones(cluster).documents)]
    summary = supported_part(cluster.summary or "", [cluster.title, *texts], min_words)
    return None if summary is None else replace(cluster, summary=summary)
