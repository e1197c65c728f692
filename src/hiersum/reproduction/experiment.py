"""Experiment files: which systems, on what, how large, for how long.

[experiment]         which rows of the paper's tables, and the budget of each network
[corpus]             articles to build clusters from, or clusters
[sizes]              how large the networks are; the paper's if left out
[data] [training]    and the other sections of a config: settings of all systems alike
[systems.NAME]       what one system has of its own: `checkpoint`, or sections of a config
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
from typing import Any, Literal, cast

from hiersum.config import Config, config_from_dict
from hiersum.config.checks import require_at_least
from hiersum.config.loader import apply_override, build_section, read_toml
from hiersum.errors import ConfigError
from hiersum.reproduction.sizes import Sizes
from hiersum.reproduction.systems import EXTRACTIVE, NETWORKS, ROWS, longer_data, split_row

SPLITS = ("train", "valid", "test")
_SECTIONS = tuple(Config.__dataclass_fields__)
_DECIDED = {"data", "valid_data", "test_data", "start", "steps", "log_every", "save_every",
            "validate_every", "keep_best"}  # fmt: skip
_UNDEFINED = re.compile(r"\$\{?(\w+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSettings:
    """Which systems, and how long each learns."""

    systems: tuple[str, ...] = ROWS
    """Rows of Tables 2 and 3; `NAME@longer` tests a network on longer input."""
    million_tokens: float = 63_000.0
    """What every network learns from: source and target tokens, in millions."""
    validations: int = 20
    """How often a network is validated while it learns."""
    checkpoints: int = 5
    """The best checkpoints by validation, whose scores are averaged."""
    processes: int = 1
    """Processes (GPUs) that train a network together."""
    texts: Literal["all", "generated", "none"] = "all"
    """Texts in the report: all; those of networks alone, none of the corpus; none."""
    num_texts: int = 2
    """Test clusters whose texts are shown."""
    text_ids: tuple[str, ...] = ()
    """Show these test clusters, by id, instead of the first."""

    def __post_init__(self) -> None:
        for name in ("validations", "checkpoints", "processes"):
            require_at_least(f"experiment.{name}", getattr(self, name), 1)
        require_at_least("experiment.num_texts", self.num_texts, 0)
        if not (math.isfinite(self.million_tokens) and self.million_tokens > 0):
            raise ConfigError(
                f"experiment.million_tokens must be more than 0, got {self.million_tokens}"
            )
        if self.checkpoints > self.validations:
            raise ConfigError(
                f"experiment.checkpoints ({self.checkpoints}) cannot be more than "
                f"experiment.validations ({self.validations}): each leaves one"
            )
        for row in self.systems:
            if row not in ROWS:
                near = difflib.get_close_matches(row, ROWS, n=1)
                hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(ROWS)}"
                raise ConfigError(f"experiment.systems: {row!r} is unknown; {hint}")
        if len(set(self.systems)) < len(self.systems) or not self.systems:
            raise ConfigError("experiment.systems must name some systems, each once")


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusSettings:
    """What is learned from and tested on."""

    kind: Literal["articles", "clusters"] = "articles"
    """Articles to build clusters from as the paper's, or clusters."""
    train: tuple[str, ...] = ()
    """Files to learn from; `*` and `$NAME` (the environment) are expanded."""
    valid: tuple[str, ...] = ()
    """Files to choose checkpoints by."""
    test: tuple[str, ...] = ()
    """Files to score."""
    max_train: int = 0
    """Learn from so many of them, drawn at random; 0: all."""
    max_valid: int = 0
    """Validate on so many of them; 0: all."""
    max_test: int = 0
    """Score so many of them; 0: all."""
    search: int = 10
    """Other articles in a cluster, found by its title."""
    skip_bad: bool = False
    """Skip what cannot be used."""
    seed: int = 1
    """Draws articles and the order of clusters."""

    def __post_init__(self) -> None:
        for name in ("max_train", "max_valid", "max_test", "search", "seed"):
            require_at_least(f"corpus.{name}", getattr(self, name), 0)
        for split in SPLITS:
            if not getattr(self, split):
                raise ConfigError(f"corpus.{split} names no files")

    def paths(self, split: str) -> list[Path]:
        """Return the files of a split.

        Raises:
            ConfigError: a name is not in the environment, or there is no such file.
        """
        found: list[Path] = []
        for pattern in getattr(self, split):
            name = os.path.expandvars(pattern)
            if missing := _UNDEFINED.search(name):
                raise ConfigError(
                    f"corpus.{split}: {pattern} needs the environment's {missing[1]}, which is not "
                    "set; set it to the folder that the corpora are in"
                )
            matches = sorted(glob.glob(os.path.expanduser(name)))
            if not matches:
                raise ConfigError(f"corpus.{split}: there is no file {name}")
            found += map(Path, matches)
        return found

    def limit(self, split: str) -> int:
        """Return how many are used, 0 for all."""
        return cast(int, getattr(self, f"max_{split}"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Experiment:
    """An experiment file, read and checked."""

    name: str
    run: RunSettings
    corpus: CorpusSettings
    sizes: Sizes
    common: Mapping[str, dict[str, Any]]
    """Settings of all systems."""
    own: Mapping[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """Settings that one system has of its own."""
    checkpoints: Mapping[str, str] = field(default_factory=dict)
    """Model folders of systems that are not trained."""

    @property
    def networks(self) -> list[str]:
        """The networks of the rows, each once, in the order in which they are named."""
        named = dict.fromkeys(split_row(row)[0] for row in self.run.systems)
        return [name for name in named if name in NETWORKS]

    @property
    def rows(self) -> list[str]:
        """The rows in the order of the tables."""
        return [row for row in ROWS if row in self.run.systems]

    def base(self) -> Config:
        """Return the settings that no system changes: evaluation, extraction, the ranker's training."""
        paper: dict[str, dict[str, Any]] = {
            "evaluation": {"preset": "paper"},
            "extractive": {"style": "paper"},
        }
        return config_from_dict(_merged(paper, self.common))

    def config(self, row: str) -> Config:
        """Return the settings of a row: the common ones, those of the system, those of its own.

        Raises:
            ConfigError: they do not fit together.
        """
        system, is_longer = split_row(row)
        if system in EXTRACTIVE:
            return self.base()
        values = _merged(
            {"evaluation": {"preset": "paper"}},
            self.common,
            NETWORKS[system](self.sizes),
            self.own.get(system, {}),
        )
        if is_longer:
            is_flat = values["model"]["architecture"] != "ht"
            values["data"] = longer_data(values["data"], self.sizes, is_flat=is_flat)
        return config_from_dict(values)


def load_experiment(path: Path, overrides: Iterable[str] = ()) -> Experiment:
    """Read an experiment file, changed by `section.key=value` overrides.

    Raises:
        ConfigError: the file cannot be read, or a name or value does not fit.
    """
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
    experiment = Experiment(
        name=path.stem,
        run=cast(RunSettings, _section(RunSettings, values, "experiment")),
        corpus=cast(CorpusSettings, _section(CorpusSettings, values, "corpus")),
        sizes=cast(Sizes, _section(Sizes, values, "sizes")),
        common={name: table for name, table in values.items() if name in _SECTIONS},
        own={
            name: {k: v for k, v in t.items() if k != "checkpoint"} for name, t in systems.items()
        },
        checkpoints={n: t["checkpoint"] for n, t in systems.items() if "checkpoint" in t},
    )
    for name in systems:
        if name not in NETWORKS:
            raise ConfigError(f"{path}: [systems.{name}] is no network; {', '.join(NETWORKS)} are")
    for row in experiment.rows:
        experiment.config(row)
    return experiment


def _section(kind: type, values: Mapping[str, Any], name: str) -> object:
    return build_section(kind, values.get(name, {}), f"{name}.")


def _refuse_decided(values: Mapping[str, dict[str, Any]]) -> None:
    """Refuse settings that would be overruled without a word."""
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
    """Lay sections over each other, later ones winning key by key."""
    merged: dict[str, dict[str, Any]] = {}
    for layer in layers:
        for section, values in layer.items():
            merged[section] = {**merged.get(section, {}), **values}
    return merged
