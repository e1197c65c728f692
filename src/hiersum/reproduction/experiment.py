"""Experiment files: which systems to train and test, on what data, how large, for how long.

A file has these sections:

    [experiment]         rows of the paper's tables, and the training budget of each network
    [corpus]             articles to build clusters from, or clusters
    [sizes]              how large the networks are; default: as in the paper
    [data] [training]    and the other sections of a config: settings for all systems
    [systems.NAME]       settings for one system: `checkpoint`, or sections of a config
"""

from __future__ import annotations

import difflib
import glob
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from hiersum.config import Config, config_from_dict
from hiersum.config.loader import apply_override, build_section, read_toml
from hiersum.config.model import require_at_least
from hiersum.data.released import SUFFIX as RELEASED
from hiersum.data.shards import TOKENIZER
from hiersum.errors import ConfigError
from hiersum.reproduction.systems import EXTRACTIVE, NETWORKS, ROWS, Sizes, longer_data, split_row

SPLITS = ("train", "valid", "test")
_SECTIONS = tuple(Config.__dataclass_fields__)
_PAPER: dict[str, dict[str, Any]] = {"evaluation": {"preset": "paper"}}
_DECIDED = {"data", "valid_data", "start", "steps", "log_every", "save_every",
            "validate_every", "keep_best"}  # fmt: skip
_UNDEFINED = re.compile(r"\$\{?(\w+)")
Section = TypeVar("Section")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSettings:
    """`[experiment]`: which systems, and how long each is trained."""

    systems: tuple[str, ...] = ROWS
    """Rows of Tables 2 and 3; `NAME@longer` tests a network on longer input."""
    million_tokens: float = 63_000.0
    """Training budget of each network: source and target tokens, in millions."""
    start: str = ""
    """All networks begin from the T5 in this model folder, or from the `bundled` one; empty: from
    random weights."""
    clusters: int = 0
    """Training budget in clusters instead of tokens, the same ones for all networks; 0:
    `million_tokens`."""
    seeds: int = 1
    """How many times to train the systems in `seeded`, each time with another seed."""
    seeded: tuple[str, ...] = ("ht", "ft-800", "ht-without-gt")
    """Systems whose scores are averaged over `seeds`."""
    validations: int = 20
    """How often a network is validated during training."""
    checkpoints: int = 5
    """Average the scores of this many of the best checkpoints by validation loss."""
    ranking: Literal["large", "all"] = "large"
    """Clusters of Table 1: with more than twice as many paragraphs as are read, or `all`."""
    processes: int = 1
    """Processes (GPUs) that train a network together."""
    texts: Literal["all", "generated"] = "all"
    """Texts in the report: `all`, or only `generated` ones (nothing copied from the corpus)."""
    num_texts: int = 2
    """Test clusters whose texts are shown."""

    def __post_init__(self) -> None:
        require_at_least(1, "experiment", self, "validations", "checkpoints", "processes")
        require_at_least(1, "experiment", self, "seeds")
        require_at_least(0, "experiment", self, "num_texts", "clusters")
        if not (math.isfinite(self.million_tokens) and self.million_tokens > 0):
            raise ConfigError(
                f"experiment.million_tokens must be more than 0, got {self.million_tokens}"
            )
        if self.checkpoints > self.validations:
            raise ConfigError(
                f"experiment.checkpoints ({self.checkpoints}) cannot be more than "
                f"experiment.validations ({self.validations}): each validation saves one"
            )
        for row in (*self.systems, *self.seeded):
            if row not in ROWS:
                near = difflib.get_close_matches(row, ROWS, n=1)
                hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(ROWS)}"
                raise ConfigError(f"experiment.systems: {row!r} is unknown; {hint}")
        if len(set(self.systems)) < len(self.systems) or not self.systems:
            raise ConfigError("experiment.systems must name some systems, each once")


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusSettings:
    """`[corpus]`: the data to train and test on."""

    kind: Literal["articles", "clusters"] = "articles"
    """`articles` to build clusters from as in the paper, or ready `clusters`, also the authors'
    shards (`WIKI.test.*.pt`)."""
    train: tuple[str, ...] = ()
    """Training files; `*` and `$NAME` (environment variables) are expanded."""
    valid: tuple[str, ...] = ()
    """Validation files, to choose checkpoints."""
    test: tuple[str, ...] = ()
    """Test files."""
    vocabulary: str = ""
    """A SentencePiece model to use instead of training one; shards need theirs."""
    max_train: int = 0
    """Train on this many records, drawn at random; 0: all."""
    max_valid: int = 0
    """Validate on this many; 0: all."""
    max_test: int = 0
    """Test on this many; 0: all."""
    search: int = 10
    """Other articles in a cluster, found by searching for its title."""
    skip_bad: bool = False
    """Skip records that cannot be used."""
    seed: int = 1
    """Seed for drawing articles and ordering clusters."""

    def __post_init__(self) -> None:
        require_at_least(0, "corpus", self, "max_train", "max_valid", "max_test", "search", "seed")

    def paths(self, split: str) -> list[Path]:
        """Return the files of a split, or of `vocabulary`."""
        found: list[Path] = []
        named = getattr(self, split)
        for pattern in (named,) if isinstance(named, str) else named:
            name = os.path.expandvars(pattern)
            if missing := _UNDEFINED.search(name):
                raise ConfigError(
                    f"corpus.{split}: {pattern} needs the environment variable {missing[1]}, which "
                    "is not set; set it to the folder of the corpora"
                )
            matches = sorted(glob.glob(os.path.expanduser(name)))
            if not matches:
                raise ConfigError(f"corpus.{split}: there is no file {name}")
            found += map(Path, matches)
        return found

    def limit(self, split: str) -> int:
        """Return the number of records to use, 0 for all."""
        return cast(int, getattr(self, f"max_{split}"))

    @property
    def is_released(self) -> bool:
        """Whether the clusters are the authors' shards."""
        return any(name.endswith(RELEASED) for name in self.test)


@dataclass(frozen=True, kw_only=True, slots=True)
class Experiment:
    """An experiment file, read and checked."""

    name: str
    run: RunSettings
    corpus: CorpusSettings
    sizes: Sizes
    common: Mapping[str, dict[str, Any]]
    """Settings for all systems."""
    own: Mapping[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """Settings for one system."""
    checkpoints: Mapping[str, str] = field(default_factory=dict)
    """Model folders of systems that are given instead of trained."""
    start: Mapping[str, Any] = field(default_factory=dict)
    """`[model]` settings that follow from `experiment.start`."""

    @property
    def networks(self) -> list[str]:
        """The networks behind the rows, in the order in which the experiment names them."""
        named = dict.fromkeys(split_row(row)[0] for row in self.run.systems)
        return [name for name in named if name in NETWORKS]

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that are used: only test clusters if nothing is left to learn."""
        is_learning = any(name not in self.checkpoints for name in self.networks)
        has_vocabulary = self.corpus.vocabulary or self.run.start
        is_learning = is_learning or self.has_ranker or not has_vocabulary
        return SPLITS if is_learning else ("test",)

    @property
    def vocabulary(self) -> Path | None:
        """The given SentencePiece model; None if one is trained."""
        if self.run.start:
            from hiersum.reproduction.warm_start import start_folder

            return start_folder(self.run.start) / TOKENIZER
        return self.corpus.paths("vocabulary")[0] if self.corpus.vocabulary else None

    def is_shared(self, split: str) -> bool:
        """Whether all networks learn from the same clusters of a split, whatever they read of each."""
        is_text = self.corpus.kind == "clusters" and not self.corpus.is_released
        return bool(self.run.clusters) and is_text and split != "test"

    def runs(self, system: str) -> list[str]:
        """Return the names of a network's trainings, one per seed."""
        is_repeated = system in self.run.seeded and system not in self.checkpoints
        others = range(2, 1 + self.run.seeds) if is_repeated else ()
        return [system, *(f"{system}-seed-{seed}" for seed in others)]

    @property
    def rows(self) -> list[str]:
        """The rows in the order of the tables."""
        return [row for row in ROWS if row in self.run.systems]

    @property
    def has_ranker(self) -> bool:
        """Whether a ranker is trained."""
        return self.base().ranker.kind in ("auto", "neural")

    def base(self) -> Config:
        """Return the settings for all systems: evaluation, extraction, training of the ranker."""
        extractive = {"extractive": {"style": "paper"}}
        return config_from_dict(_merged(_PAPER, extractive, self.common, {"model": self.start}))

    def config(self, row: str) -> Config:
        """Return the settings of a row: for all systems, then its system's, then its own."""
        system, is_longer = split_row(row)
        if system in EXTRACTIVE:
            return self.base()
        own = self.own.get(system, {})
        start = {"model": self.start}
        values = _merged(_PAPER, self.common, NETWORKS[system](self.sizes), start, own)
        if is_longer:
            values["data"] = longer_data(values["data"], self.sizes)
        return config_from_dict(values)


def load_experiment(path: Path, overrides: Iterable[str] = ()) -> Experiment:
    """Read and check an experiment file, with `section.key=value` overrides."""
    values = read_toml(path)
    for override in overrides:
        apply_override(values, override)
    systems = values.pop("systems", {})
    known = ("experiment", "corpus", "sizes", *_SECTIONS)
    for name, table in (values | systems).items():
        if not isinstance(table, dict):
            raise ConfigError(f"{path}: {name} is a section, but got the value {table!r}")
    for name in values:
        if name not in known:
            raise ConfigError(f"{path}: unknown section [{name}]; known: {', '.join(known)}")
    _refuse_decided(values)
    run = _section(RunSettings, values, "experiment")
    experiment = Experiment(
        name=path.stem,
        run=run,
        corpus=_section(CorpusSettings, values, "corpus"),
        sizes=_section(Sizes, values, "sizes"),
        common={name: table for name, table in values.items() if name in _SECTIONS},
        checkpoints={n: t.pop("checkpoint") for n, t in systems.items() if "checkpoint" in t},
        own=systems,
        start=_start(run.start) if run.start else {},
    )
    for name in systems:
        if name not in NETWORKS:
            raise ConfigError(
                f"{path}: [systems.{name}] is not a network; networks: {', '.join(NETWORKS)}"
            )
    for split in experiment.splits:
        if not getattr(experiment.corpus, split):
            raise ConfigError(f"corpus.{split} names no files")
    for row in experiment.rows:
        experiment.config(row)
    return experiment


def _start(name: str) -> dict[str, Any]:
    from hiersum.reproduction.warm_start import start_folder, start_settings  # imports torch

    return start_settings(start_folder(name))


def _section(kind: type[Section], values: Mapping[str, Any], name: str) -> Section:
    return cast(Section, build_section(kind, values.get(name, {}), f"{name}."))


def _refuse_decided(values: Mapping[str, dict[str, Any]]) -> None:
    """Refuse settings that the experiment would silently override."""
    definitions = [definition(Sizes()) for definition in NETWORKS.values()]
    for section in ("data", "model", "graph"):
        decided = {key for definition in definitions for key in definition.get(section, {})}
        for key in decided & set(values.get(section, {})):
            raise ConfigError(
                f"{section}.{key} is decided by the system and by [sizes]; set it there, or for one "
                f"system in [systems.NAME.{section}]"
            )
    for key in _DECIDED & set(values.get("training", {})):
        raise ConfigError(
            f"training.{key} is decided by the experiment (million_tokens, validations, checkpoints); "
            "leave it out"
        )


def _merged(*layers: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Merge sections key by key; later layers win."""
    merged: dict[str, dict[str, Any]] = {}
    for layer in layers:
        for section, values in layer.items():
            merged[section] = {**merged.get(section, {}), **values}
    return merged
