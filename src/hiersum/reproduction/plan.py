"""Plan the stages of an experiment: their dependencies, order and estimated time."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from hiersum.config import Config, SearchConfig, config_to_dict
from hiersum.config.model import BLOCK_LENGTH, COMPRESSION
from hiersum.data.corpora import count_all, identify_corpus
from hiersum.data.files import checksum
from hiersum.data.model_folder import identify_model, identify_network
from hiersum.errors import ConfigError
from hiersum.reproduction.experiment import Experiment
from hiersum.reproduction.stages import Stage
from hiersum.reproduction.systems import EXTRACTIVE, label_of, split_row
from hiersum.reproduction.work import Workshop, file_name

_FLOPS = 80e9  # per second, for training small networks on two cores
_CLUSTER_TOKENS = 1_000  # read and written of a cluster, roughly


@dataclass(slots=True)
class Plan:
    """The stages of an experiment by name, each after those it needs.

    Stages that fail if a file or library is missing come before those that take hours. Each network
    is trained and tested before the next, in the experiment's order, so rows appear early.
    """

    experiment: Experiment
    work: Workshop
    stages: dict[str, Stage] = field(default_factory=dict)
    forms: dict[str, str] = field(default_factory=dict)
    """The name of each form of input, by its settings; networks with the same input share one."""

    @classmethod
    def of(cls, experiment: Experiment, out: Path, workers: int = 1) -> Plan:
        """Plan an experiment; ConfigError if it names files or model folders that do not exist."""
        plan = cls(experiment, Workshop(experiment, out, workers))
        for split in experiment.splits:
            plan._add_clusters(split)
        plan._add_tools()
        rows = {
            name: [row for row in experiment.rows if split_row(row)[0] == name]
            for name in experiment.networks
        }
        for name in rows:
            if name not in experiment.checkpoints:
                plan._add_form(name, ("train", "valid"))
            for row in rows[name]:
                plan._add_form(row, ("test",))
        for row in experiment.rows:
            if row in EXTRACTIVE:
                plan._add_extract(row)
        for name in rows:
            if name not in experiment.checkpoints:
                plan._add_training(name)
            for row in rows[name]:
                plan._add_writing(row)
        for name in rows:
            for number, run in enumerate(experiment.runs(name)[1:], start=1):
                if name in experiment.rows:
                    plan._add_training(name, run, number)
                    plan._add_writing(name, run)
        return plan

    def _add(self, name: str, doing: str, *, needs: tuple[str, ...] = (), **facts: Any) -> None:
        needed = tuple(self.stages[other] for other in needs)
        self.stages[name] = Stage(name=name, doing=doing, needs=needed, **facts)

    def _add_clusters(self, split: str) -> None:
        corpus, work = self.experiment.corpus, self.work
        is_built = corpus.kind == "articles"
        shared: dict[str, Any] = {}
        if self.experiment.is_shared(split):
            words = self.experiment.base().data.min_supported_words
            shared["experiment"] = {"clusters": self.experiment.run.clusters}
            shared["data"] = {"min_supported_words": words}
        self._add(
            f"clusters/{split}",
            f"{'building' if is_built else 'reading'} the {split} clusters",
            work=partial(work.build, split),
            inputs={
                "corpus": {
                    "kind": corpus.kind,
                    split: [identify_corpus(path)["checksum"] for path in corpus.paths(split)],
                    f"max_{split}": corpus.limit(split),
                    "search": corpus.search,
                    "seed": corpus.seed,
                    "skip_bad": corpus.skip_bad,
                },
                **shared,
            },
            needs=("clusters/train",) if is_built and split != "train" else (),
            leaves=(work.drawn(split), work.built(split)),
            cost=5 + self._number(split) / 60 if is_built else 1,
        )

    def _add_tools(self) -> None:
        base, work = self.experiment.base(), self.work
        size, seed = self.experiment.sizes.pieces, base.training.seed
        if (given := self.experiment.vocabulary) is not None:
            self._add(
                "vocabulary",
                "copying the vocabulary",
                work=partial(work.copy_vocabulary, given, size),
                inputs={"corpus": {"vocabulary": checksum([given])}},
                leaves=(work.out / "vocabulary",),
            )
        else:
            self._add(
                "vocabulary",
                "training the vocabulary",
                work=partial(work.train_vocabulary, size, seed),
                inputs={"sizes": {"pieces": size}, "training": {"seed": seed}},
                needs=("clusters/train",),
                leaves=(work.out / "vocabulary",),
                cost=5 + self._number("train") / 400 + size / 80,
            )
        if not self.experiment.has_ranker:
            return
        number, is_all = self._number("train"), self.experiment.run.ranking == "all"
        self._add(
            "ranker",
            "training the ranker",
            work=partial(work.train_ranker, base),
            inputs=_sections(base, "ranker_training", "data"),
            needs=("vocabulary", "clusters/train", "clusters/valid"),
            leaves=(work.out / "ranker", work.run("ranker")),
            cost=5 + number * base.ranker_training.epochs * 0.3,
        )
        self._add(
            "ranking",
            "comparing the ranker with similarity (Table 1)",
            work=partial(work.compare_rankers, base),
            inputs={
                **_sections(base, "data"),
                **({"experiment": {"ranking": "all"}} if is_all else {}),
            },
            needs=("ranker", "clusters/test"),
            cost=3 + self._number("test") * 0.11,
        )

    def _add_form(self, row: str, splits: tuple[str, ...]) -> None:
        """Add stages that prepare clusters as a row reads them, unless another row reads the same."""
        config, form, inputs = self._form(row)
        given = self.experiment.checkpoints.get(split_row(row)[0])
        for split in splits:
            if f"prepare/{form}/{split}" in self.stages:
                continue
            # Training targets may be cut to what the sources support, unless shared ones already are;
            # test targets never are.
            whole = replace(config, data=replace(config.data, min_supported_words=0))
            used = whole if split == "test" or self.experiment.is_shared(split) else config
            self._add(
                f"prepare/{form}/{split}",
                f"preparing the {split} clusters for {label_of(row, self.experiment.sizes)}",
                work=partial(self.work.prepare, form, split, used, given),
                inputs=inputs,
                needs=(f"clusters/{split}", *(() if given else self._tools)),
                leaves=(self.work.prepared(form, split),),
                cost=3 + self._number(split) * 0.06,
            )

    def _add_extract(self, row: str) -> None:
        config = self.experiment.config(row)
        self._add(
            f"write/{row}",
            f"{EXTRACTIVE[row]} extracts",
            work=partial(self.work.extract, row, config),
            inputs=_sections(config, "data", "ranker", "extractive"),
            needs=("clusters/test", *self._tools),
            leaves=(self.work.summaries(row),),
            cost=3 + self._number("test") * 0.15,
        )

    def _add_training(self, name: str, run_name: str = "", number: int = 0) -> None:
        """Add the training of a network; `number` is added to the seed."""
        run, work, run_name = self.experiment.run, self.work, run_name or name
        config, form, _ = self._form(name)
        seed = config.training.seed + number
        alone = _training_only(replace(config, training=replace(config.training, seed=seed)))
        decides = ["validations", "checkpoints", "processes"]
        decides.append("clusters" if run.clusters else "million_tokens")
        inputs = {
            **_sections(alone, "model", "training", "decoding"),
            "experiment": {key: getattr(run, key) for key in decides},
        }
        if run.start:
            from hiersum.reproduction.warm_start import start_folder

            inputs["experiment"]["start"] = identify_network(start_folder(run.start))
        million_tokens = run.clusters * _CLUSTER_TOKENS / 1e6 or run.million_tokens
        self._add(
            f"train/{run_name}",
            f"training {self._label(name, run_name)}",
            work=partial(work.train, run_name, form, alone),
            inputs=inputs,
            needs=(f"prepare/{form}/train", f"prepare/{form}/valid"),
            leaves=(
                work.run(run_name),
                work.run(run_name).with_suffix(".toml"),
                work.start(run_name),
            ),
            cost=training_cost(config, million_tokens) / run.processes,
        )

    def _add_writing(self, row: str, run_name: str = "") -> None:
        system, _ = split_row(row)
        config, form, _ = self._form(row)
        is_given = system in self.experiment.checkpoints
        num_checkpoints = 1 if is_given else self.experiment.run.checkpoints
        name = run_name or row
        self._add(
            f"write/{file_name(name)}",
            f"{self._label(row, name)} writes",
            work=partial(self.work.write, row, form, config, run_name),
            inputs=_sections(config, "decoding"),
            needs=(*(() if is_given else (f"train/{run_name or system}",)), f"prepare/{form}/test"),
            leaves=(self.work.summaries(name),),
            cost=3 + self._number("test") * num_checkpoints * config.decoding.max_length * 0.001,
        )

    def _label(self, row: str, name: str) -> str:
        label = label_of(row, self.experiment.sizes)
        return label if name == row else f"{label}, seed {name.rpartition('-')[2]}"

    @property
    def _tools(self) -> tuple[str, ...]:
        return ("vocabulary", "ranker") if self.experiment.has_ranker else ("vocabulary",)

    def _form(self, row: str) -> tuple[Config, str, dict[str, Any]]:
        """Return the settings of a row, the name of its form of input, and what determines that."""
        config = self.experiment.config(row)
        system, _ = split_row(row)
        given = self.experiment.checkpoints.get(system)
        sections = ("data", "ranker", *(() if config.model.graph_head is None else ("graph",)))
        inputs = {
            **_sections(config, *sections),
            "model": {"flat": config.model.architecture != "ht", "graph": config.model.graph_head},
            "checkpoint": given and _identify(system, given),
        }
        return config, self.forms.setdefault(json.dumps(inputs), file_name(row)), inputs

    def _number(self, split: str) -> int:
        """Return the number of records of a split, for estimates; 0 if counting is slow."""
        corpus = self.experiment.corpus
        return count_all(corpus.paths(split), corpus.limit(split)) or 0


def _identify(name: str, given: str) -> str:
    if not (Path(given) / "config.json").is_file():
        raise ConfigError(
            f"systems.{name}.checkpoint: {given} is not a model folder (no config.json)"
        )
    return identify_model(Path(given))


def _training_only(config: Config) -> Config:
    """Reset settings that do not affect training, so that changing them keeps a run valid."""
    is_written = config.training.max_rouge_examples > 0
    return replace(
        Config(),
        data=config.data,
        model=config.model,
        training=config.training,
        decoding=config.decoding if is_written else SearchConfig(),
    )


def _sections(config: Config, *names: str) -> dict[str, Any]:
    """Return the settings of some sections that differ from their defaults.

    Leaving out defaults lets a newer hiersum with more settings resume an older run.
    """
    values, defaults = (
        json.loads(json.dumps(config_to_dict(either))) for either in (config, Config())
    )
    return {
        section: {
            name: value
            for name, value in values[section].items()
            if value != defaults[section][name]
        }
        for section in names
    }


def training_cost(config: Config, million_tokens: float) -> float:
    """Six operations per token and weight (or attended token), forward and backward.

    Costs are seconds on two cores, very roughly; finished stages correct them.
    """
    model = config.model
    spans = {
        "ht": config.data.max_paragraph_tokens,
        "ft": config.data.max_source_tokens,
        "tdmca": (BLOCK_LENGTH + config.data.max_source_tokens // COMPRESSION) // 2,
    }
    attention = 2 * spans[model.architecture] * model.width
    layer = 4 * model.width**2 + 2 * model.width * model.ff_width + attention
    num_decoder_layers = 0 if model.architecture == "tdmca" else model.num_decoder_layers
    # About a tenth of the tokens are targets; only these pass through decoder and output.
    layers = (len(model.layers) + 0.1 * num_decoder_layers) * layer
    output = 0.1 * model.vocab_size * model.width
    return 5 + 1e6 * million_tokens * 6 * (layers + output) / _FLOPS
