"""The work of each stage, and where its results go.

OUT/drawn/SPLIT.parquet    the drawn articles or clusters, if not all are used
OUT/clusters/SPLIT         clusters built from articles
OUT/vocabulary  ranker     shared by all networks
OUT/prepared/FORM/SPLIT    clusters as network input; networks with the same input share a form
OUT/runs/NAME              the training of each network and of the ranker
OUT/summaries/ROW          the summaries of each row of the tables

Every network is trained on the same number of tokens: source and target tokens count, padding does
not. The number of updates follows from the tokens and batches of the prepared set, so a network
that reads less of each cluster sees more clusters.
"""

from __future__ import annotations

import ctypes
import json
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from hiersum.building.articles import BuildSettings, build_clusters
from hiersum.config import Config, TrainingConfig, config_to_toml
from hiersum.data.batches import BatchStream, bucket
from hiersum.data.corpora import count_records, read_corpus, write_clusters
from hiersum.data.files import write_atomically
from hiersum.data.model_folder import tokenizer_of
from hiersum.data.partial_results import PartialResults
from hiersum.data.prepare import empty_clones, prepare_clusters
from hiersum.data.records import BadRecords
from hiersum.data.released import SUFFIX as RELEASED
from hiersum.data.released import with_text, write_released
from hiersum.data.shards import TOKENIZER, PreparedSet, Rows
from hiersum.errors import ConfigError, TrainingError
from hiersum.parallel import LocalEngine
from hiersum.pipeline import Summarizer
from hiersum.progress import tracked
from hiersum.ranking.choice import choose_ranker
from hiersum.reproduction.experiment import CorpusSettings, Experiment, RunSettings
from hiersum.reproduction.systems import LONGER, split_row
from hiersum.text.penn import from_penn
from hiersum.text.words import count_words
from hiersum.training.ranker_corpora import (
    Corpora,
    NothingToChooseError,
    evaluate_ranker,
    train_ranker_on,
)
from hiersum.training.vocabulary import MAX_PARAGRAPHS, train_vocabulary
from hiersum.types import Cluster

_PARAGRAPHS_PER_PIECE = 5  # about 500 words; more slow training without a better vocabulary
_LOGS = 200  # lines of metrics per run
_SAVES = 4  # resumable checkpoints between two validations
_PLAN = {"made by": "hiersum reproduce"}  # the stage's note records the inputs


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
        suffix = RELEASED if self.experiment.corpus.is_released else ".parquet"
        return self.out / "drawn" / f"{split}{suffix}"

    def built(self, split: str) -> Path:
        return self.out / "clusters" / split

    def prepared(self, form: str, split: str) -> Path:
        return self.out / "prepared" / form / split

    def run(self, name: str) -> Path:
        return self.out / "runs" / name

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
        corpus = self.experiment.corpus
        return [self.drawn(split)] if corpus.limit(split) else corpus.paths(split)

    def clusters(self, split: str) -> list[Path]:
        is_built = self.experiment.corpus.kind == "articles"
        return [self.built(split)] if is_built else self.sources(split)

    def build(self, split: str) -> None:
        """Draw and build a split; valid and test clusters also search the training articles."""
        corpus = self.experiment.corpus
        if limit := corpus.limit(split):
            draw(corpus.paths(split), limit, self.drawn(split), corpus)
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

    def copy_vocabulary(self, size: int) -> None:
        (path,) = self.experiment.corpus.paths("vocabulary")
        folder = self.out / "vocabulary"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / TOKENIZER)
        tokenizer = tokenizer_of(folder, self.experiment.base())
        if tokenizer.size != size:
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
        settings, run = self.experiment.run, self.run(name)
        data = self.prepared(form, "train").parent.resolve()
        config, budget = training_config(config, data, settings)
        if settings.processes > 1:
            _train_in_processes(config, run, settings.processes)
        else:
            from hiersum.training.trainer import train

            train(config, run)
        return _describe_training(run, budget, settings)

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
        with PartialResults.open(out, _PLAN) as results:
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

    def write(self, row: str, form: str, config: Config) -> None:
        """Write the summaries of a network's best checkpoints, or of a given network."""
        system, _ = split_row(row)
        if given := self.experiment.checkpoints.get(system):
            models = [Path(given)]
        else:
            best = best_checkpoints(self.run(system), self.experiment.run.checkpoints)
            models = [self.run(system) / found["folder"] for found in best]
        for place, model in enumerate(models, start=1):
            target = self.summaries(row) / f"{place}.jsonl"
            is_prose = not self.experiment.corpus.is_released
            write_summaries(self.prepared(form, "test"), target, model, config, is_prose=is_prose)


def draw(paths: Sequence[Path], number: int, out: Path, settings: CorpusSettings) -> None:
    """Write a random sample of the records as a cluster file, or all if there are fewer."""
    if out.exists():
        return

    def read() -> Iterator[Cluster]:
        bad = BadRecords(skip=settings.skip_bad)
        return chain.from_iterable(read_corpus(path, bad=bad) for path in paths)

    counts = [count_records(path) for path in paths]
    total = sum(1 for _ in read()) if None in counts else sum(filter(None, counts))
    chosen = set(random.Random(settings.seed).sample(range(total), min(number, total)))
    records = tracked(read(), "drawing", total)
    out.parent.mkdir(parents=True, exist_ok=True)
    drawn = (record for n, record in enumerate(records) if n in chosen)
    if settings.is_released:
        write_released(drawn, out)
    else:
        write_clusters(drawn, out)


def count_all(paths: Sequence[Path], limit: int) -> int:
    """Return the approximate number of records, for estimates."""
    total = sum(count_records(path) or 0 for path in paths)
    return min(total, limit) if limit else total


@dataclass(frozen=True, slots=True)
class Budget:
    """A token budget, in terms of one prepared set."""

    updates: int
    tokens_per_update: float
    tokens_per_epoch: int


def plan_updates(prepared: PreparedSet, training: TrainingConfig, settings: RunSettings) -> Budget:
    """Return how many updates the budget allows."""
    totals = prepared.manifest.totals
    tokens = totals["source_tokens"] + totals["target_tokens"]
    stream = BatchStream(prepared, batch_tokens=training.batch_tokens, seed=training.seed)
    per_update = tokens / stream.count_batches() * training.accumulate * settings.processes
    return Budget(max(1, round(1e6 * settings.million_tokens / per_update)), per_update, tokens)


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
        save_every=max(1, between // _SAVES),
        log_every=max(1, budget.updates // _LOGS),
        keep_best=settings.checkpoints,
    )
    return replace(config, training=training), budget


def best_checkpoints(run: Path, number: int) -> list[dict[str, Any]]:
    """Return the best checkpoints by validation: step, folder within the run, scores."""
    best: list[dict[str, Any]] = json.loads((run / "best.json").read_bytes())
    return best[:number]


def _describe_training(run: Path, budget: Budget, settings: RunSettings) -> dict[str, Any]:
    from hiersum.model.folder import from_pretrained
    from hiersum.training.run_folder import read_metrics

    lines = list(read_metrics(run / "metrics.jsonl"))
    last = next(line for line in reversed(lines) if "tokens" in line)
    best = best_checkpoints(run, settings.checkpoints)
    tokens = budget.updates * budget.tokens_per_update
    return {
        "updates": budget.updates,
        "million_tokens": tokens / 1e6,
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


def _train_in_processes(config: Config, run: Path, number: int) -> None:
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
    with PartialResults.open(out, _PLAN) as results:
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
