"""Plan the stages of an experiment: their dependencies, order and estimated time."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from hiersum.config import Config, RankerTrainingConfig, SearchConfig, config_to_dict
from hiersum.config.model import BLOCK_LENGTH, COMPRESSION
from hiersum.data.corpora import identify_corpus
from hiersum.data.model_folder import identify_model
from hiersum.errors import ConfigError
from hiersum.reproduction.experiment import SPLITS, Experiment
from hiersum.reproduction.stages import Stage
from hiersum.reproduction.systems import EXTRACTIVE, label_of, split_row
from hiersum.reproduction.work import Workshop, count_all, file_name

_FLOPS = 80e9  # per second, for training small networks on two cores


@dataclass(slots=True)
class Plan:
    """The stages of an experiment."""

    experiment: Experiment
    work: Workshop
    clusters: dict[str, Stage] = field(default_factory=dict)
    vocabulary: Stage = field(init=False)
    ranker: Stage | None = None
    ranking: Stage | None = None
    """Table 1."""
    forms: dict[str, dict[str, Stage]] = field(default_factory=dict)
    """Prepared splits by form; networks with the same input share a form."""
    learning: dict[str, Stage] = field(default_factory=dict)
    """The training of each network, or the validation of a given one."""
    writing: dict[str, Stage] = field(default_factory=dict)

    @classmethod
    def of(cls, experiment: Experiment, out: Path, workers: int = 1) -> Plan:
        """Plan an experiment.

        Raises:
            ConfigError: it names files or model folders that do not exist.
        """
        plan = cls(experiment, Workshop(experiment, out, workers))
        for split in SPLITS:
            plan._add_clusters(split)
        plan._add_tools()
        for name in experiment.networks:
            plan._add_network(name)
        for row in experiment.rows:
            plan._add_row(row)
        return plan

    @property
    def stages(self) -> list[Stage]:
        """All stages, each after those it needs.

        Stages that fail if a file or library is missing come before those that take hours. Each
        network is trained and tested before the next, in the experiment's order, so rows appear
        early.
        """
        shared = [*self.clusters.values(), self.vocabulary, self.ranker, self.ranking]
        prepared = [stage for splits in self.forms.values() for stage in splits.values()]
        extracts = [self.writing[row] for row in self.experiment.rows if row in EXTRACTIVE]
        networks: list[Stage] = []
        for name in self.experiment.networks:
            rows = [row for row in self.experiment.rows if split_row(row)[0] == name]
            networks += [self.learning[name], *(self.writing[row] for row in rows)]
        return [*filter(None, shared), *prepared, *extracts, *networks]

    @property
    def tools(self) -> tuple[Stage, ...]:
        """The stages for the vocabulary and, if one is trained, the ranker."""
        return (self.vocabulary,) if self.ranker is None else (self.vocabulary, self.ranker)

    def _add_clusters(self, split: str) -> None:
        corpus, work = self.experiment.corpus, self.work
        is_built = corpus.kind == "articles"
        self.clusters[split] = Stage(
            name=f"clusters/{split}",
            doing=f"{'building' if is_built else 'reading'} the {split} clusters",
            work=partial(work.build, split),
            inputs={
                "corpus": {
                    "kind": corpus.kind,
                    split: [identify_corpus(path)["checksum"] for path in corpus.paths(split)],
                    f"max_{split}": corpus.limit(split),
                    "search": corpus.search,
                    "seed": corpus.seed,
                    "skip_bad": corpus.skip_bad,
                }
            },
            needs=(self.clusters["train"],) if is_built and split != "train" else (),
            leaves=(work.drawn(split), work.built(split)),
            cost=_clusters_cost(self._number(split), work.workers) if is_built else 1,
        )

    def _add_tools(self) -> None:
        base, work = self.experiment.base(), self.work
        size, seed = self.experiment.sizes.pieces, base.training.seed
        number = self._number("train")
        self.vocabulary = Stage(
            name="vocabulary",
            doing="training the vocabulary",
            work=partial(work.train_vocabulary, size, seed),
            inputs={"sizes": {"pieces": size}, "training": {"seed": seed}},
            needs=(self.clusters["train"],),
            leaves=(work.out / "vocabulary",),
            cost=5 + number / 400 + size / 80,
        )
        if not self.experiment.has_ranker:
            return
        self.ranker = Stage(
            name="ranker",
            doing="training the ranker",
            work=partial(work.train_ranker, base),
            inputs=_sections(base, "ranker_training", "data"),
            needs=(self.vocabulary, self.clusters["train"], self.clusters["valid"]),
            leaves=(work.out / "ranker", work.run("ranker")),
            cost=_ranker_cost(number, base.ranker_training),
        )
        self.ranking = Stage(
            name="ranking",
            doing="comparing the ranker with similarity (Table 1)",
            work=partial(work.compare_rankers, base),
            inputs=_sections(base, "data"),
            needs=(self.ranker, self.clusters["test"]),
            cost=3 + self._number("test") * 0.11,
        )

    def _add_network(self, name: str) -> None:
        experiment, work = self.experiment, self.work
        config = experiment.config(name)
        label = label_of(name, experiment.sizes)
        if given := experiment.checkpoints.get(name):
            form = self._form(name, config, ("valid",))
            self.learning[name] = Stage(
                name=f"validate/{name}",
                doing=f"validating the given {label}",
                work=partial(work.validate, name, form, config),
                inputs={"checkpoint": _identify(name, given), **_sections(config, "training")},
                needs=(self.forms[form]["valid"],),
                cost=training_cost(config, 0.002 * config.training.max_valid_examples) / 3,
            )
            return
        form = self._form(name, config, ("train", "valid"))
        alone = _training_only(config)
        settings = experiment.run
        decides = ("million_tokens", "validations", "checkpoints", "processes")
        self.learning[name] = Stage(
            name=f"train/{name}",
            doing=f"training {label}",
            work=partial(work.train, name, form, alone),
            inputs={
                **_sections(alone, "model", "training", "decoding"),
                "experiment": {key: getattr(settings, key) for key in decides},
            },
            needs=(self.forms[form]["train"], self.forms[form]["valid"]),
            leaves=(work.run(name), work.run(name).with_suffix(".toml")),
            cost=training_cost(config, settings.million_tokens) / settings.processes,
        )

    def _add_row(self, row: str) -> None:
        system, _ = split_row(row)
        config, work = self.experiment.config(row), self.work
        label = label_of(row, self.experiment.sizes)
        number = self._number("test")
        if system in EXTRACTIVE:
            self.writing[row] = Stage(
                name=f"write/{file_name(row)}",
                doing=f"{label} extracts",
                work=partial(work.extract, row, config),
                inputs=_sections(config, "data", "ranker", "extractive"),
                needs=(self.clusters["test"], *self.tools),
                leaves=(work.summaries(row),),
                cost=3 + number * 0.15,
            )
            return
        form = self._form(row, config, ("test",))
        is_given = system in self.experiment.checkpoints
        num_checkpoints = 1 if is_given else self.experiment.run.checkpoints
        self.writing[row] = Stage(
            name=f"write/{file_name(row)}",
            doing=f"{label} writes",
            work=partial(work.write, row, form, config),
            inputs=_sections(config, "decoding"),
            needs=(self.learning[system], self.forms[form]["test"]),
            leaves=(work.summaries(row),),
            cost=_writing_cost(config, number) * num_checkpoints,
        )

    def _form(self, row: str, config: Config, splits: tuple[str, ...]) -> str:
        """Return the form that a row reads; add stages for missing splits."""
        system, _ = split_row(row)
        given = self.experiment.checkpoints.get(system)
        sections = ("data", "ranker", *(() if config.model.graph_head is None else ("graph",)))
        inputs = {
            **_sections(config, *sections),
            "model": {"flat": config.model.architecture != "ht", "graph": config.model.graph_head},
            "checkpoint": given and _identify(system, given),
        }
        alike = (
            name
            for name, stages in self.forms.items()
            if any(stage.inputs == inputs for stage in stages.values())
        )
        form = next(alike, file_name(row))
        stages = self.forms.setdefault(form, {})
        for split in splits:
            if split in stages:
                continue
            # Training targets may be cut to what the sources support; test targets never are.
            whole = replace(config, data=replace(config.data, min_supported_words=0))
            used = whole if split == "test" else config
            stages[split] = Stage(
                name=f"prepare/{form}/{split}",
                doing=f"preparing the {split} clusters for {label_of(row, self.experiment.sizes)}",
                work=partial(self.work.prepare, form, split, used, given),
                inputs=inputs,
                needs=(self.clusters[split], *(() if given else self.tools)),
                leaves=(self.work.prepared(form, split),),
                cost=preparing_cost(self._number(split), config, self.work.workers),
            )
        return form

    def _number(self, split: str) -> int:
        corpus = self.experiment.corpus
        return count_all(corpus.paths(split), corpus.limit(split))


def _identify(name: str, given: str) -> str:
    if not (Path(given) / "config.json").is_file():
        raise ConfigError(f"systems.{name}.checkpoint: {given} is no model folder (no config.json)")
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


# Estimates in seconds on two cores; corrected by finished stages.


def training_cost(config: Config, million_tokens: float) -> float:
    """Six operations per token and weight (or attended token), forward and backward."""
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


def preparing_cost(number: int, config: Config, workers: int) -> float:
    has_names = config.model.graph_head is not None and config.graph.kind == "discourse"
    return 3 + number * (0.25 if has_names else 0.11) / workers


def _clusters_cost(number: int, workers: int) -> float:
    return 5 + number / 400 + number / (90 * workers)


def _ranker_cost(number: int, settings: RankerTrainingConfig) -> float:
    used = min(number, settings.max_clusters) if settings.max_clusters else number
    return 5 + used * settings.epochs * 0.55 * settings.width / 256


def _writing_cost(config: Config, number: int) -> float:
    per_token = config.decoding.beam_size * (config.model.width / 256) * 0.0004
    return 3 + number * config.decoding.max_length * per_token
