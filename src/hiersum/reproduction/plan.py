"""From an experiment to its stages: what is made from what, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from hiersum.config import Config, SearchConfig, config_to_dict
from hiersum.data.identity import identify_corpus, identify_model
from hiersum.errors import ConfigError
from hiersum.reproduction import costs
from hiersum.reproduction.corpus import count_all
from hiersum.reproduction.experiment import SPLITS, Experiment
from hiersum.reproduction.stages import Stage
from hiersum.reproduction.systems import EXTRACTIVE, label_of, split_row
from hiersum.reproduction.work import Workshop, file_name


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
    """Prepared splits by form."""
    learning: dict[str, Stage] = field(default_factory=dict)
    """The training of each network, or the validation of one that was given."""
    writing: dict[str, Stage] = field(default_factory=dict)

    @classmethod
    def of(cls, experiment: Experiment, out: Path, workers: int = 1) -> Plan:
        """Plan an experiment.

        Raises:
            ConfigError: files or model folders that it names are not there.
        """
        has_ranker = experiment.base().ranker.kind in ("auto", "neural")
        plan = cls(experiment, Workshop(experiment, out, workers, has_ranker))
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

        What can fail for want of something comes before what takes hours; networks learn and write one
        after the other, in the order in which the experiment names them, so that rows are there early.
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
        """What makes the vocabulary, and the ranker if there is one."""
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
            cost=costs.clusters(self._number(split), work.workers) if is_built else 1,
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
            cost=costs.vocabulary(number, size),
        )
        if not work.has_ranker:
            return
        self.ranker = Stage(
            name="ranker",
            doing="training the ranker",
            work=partial(work.train_ranker, base),
            inputs=_sections(base, "ranker_training", "data"),
            needs=(self.vocabulary, self.clusters["train"], self.clusters["valid"]),
            leaves=(work.out / "ranker", work.run("ranker")),
            cost=costs.ranker(number, base.ranker_training),
        )
        self.ranking = Stage(
            name="ranking",
            doing="comparing the ranker with similarity (Table 1)",
            work=partial(work.compare_rankers, base),
            inputs=_sections(base, "data"),
            needs=(self.ranker, self.clusters["test"]),
            cost=costs.ranking(self._number("test")),
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
                cost=costs.validation(config),
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
            cost=costs.training(config, settings.million_tokens) / settings.processes,
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
                cost=costs.extracting(number),
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
            cost=costs.writing(config, number) * num_checkpoints,
        )

    def _form(self, row: str, config: Config, splits: tuple[str, ...]) -> str:
        """Return the name of the form that a row reads, its splits added where they are missing."""
        system, _ = split_row(row)
        given = self.experiment.checkpoints.get(system)
        sections = ("data", "ranker", *(() if config.model.graph_head is None else ("graph",)))
        inputs = {
            **_sections(config, *sections),
            "model": {"flat": config.model.architecture != "ht", "graph": config.model.graph_head},
            "checkpoint": given and _identify(system, given),
        }
        alike = (name for name, stages in self.forms.items() if _reads(stages, inputs))
        form = next(alike, file_name(row))
        stages = self.forms.setdefault(form, {})
        for split in splits:
            if split in stages:
                continue
            # What is learned from may be cut to what sources support; what is scored against, never.
            whole = replace(config, data=replace(config.data, supported_targets=False))
            used = whole if split == "test" else config
            stages[split] = Stage(
                name=f"prepare/{form}/{split}",
                doing=f"preparing the {split} clusters for {label_of(row, self.experiment.sizes)}",
                work=partial(self.work.prepare, form, split, used, given),
                inputs=inputs,
                needs=(self.clusters[split], *(() if given else self.tools)),
                leaves=(self.work.prepared(form, split),),
                cost=costs.preparing(self._number(split), config, self.work.workers),
            )
        return form

    def _number(self, split: str) -> int:
        corpus = self.experiment.corpus
        return count_all(corpus.paths(split), corpus.limit(split))


def _identify(name: str, given: str) -> str:
    if not (Path(given) / "config.json").is_file():
        raise ConfigError(f"systems.{name}.checkpoint: {given} is no model folder (no config.json)")
    return identify_model(Path(given))


def _reads(stages: Mapping[str, Stage], inputs: Mapping[str, Any]) -> bool:
    return any(stage.inputs == inputs for stage in stages.values())


def _training_only(config: Config) -> Config:
    """Leave out what training does not depend on, so that a change of it does not matter to a run."""
    is_written = config.training.max_rouge_examples > 0
    return replace(
        Config(),
        data=config.data,
        model=config.model,
        training=config.training,
        decoding=config.decoding if is_written else SearchConfig(),
    )


def _sections(config: Config, *names: str) -> dict[str, Any]:
    """Return what is set in some sections; what has its default is left out.

    So a newer hiersum with more settings goes on with what an older one began.
    """
    values, defaults = config_to_dict(config), config_to_dict(Config())
    return {
        section: {
            name: _as_json(value)
            for name, value in values[section].items()
            if value != defaults[section][name]
        }
        for section in names
    }


def _as_json(value: Any) -> Any:
    """Turn tuples into lists, as they come back from a file."""
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return [_as_json(item) for item in value] if isinstance(value, (list, tuple)) else value
