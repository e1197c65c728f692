"""Experiment files: what they say goes to every system, and what does not fit is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support import REPOSITORY

from hiersum.errors import ConfigError
from hiersum.reproduction.experiment import load_experiment
from hiersum.reproduction.systems import ROWS, Sizes

Write = Callable[..., Path]
CORPUS = '[corpus]\ntrain = ["a.jsonl"]\nvalid = ["b.jsonl"]\ntest = ["c.jsonl"]\n'
PRESETS = [
    path
    for path in sorted((REPOSITORY / "configs" / "experiments").glob("*.toml"))
    if path.stem != "relations"  # run by benchmarks/relations.py
]


def test_experiment_config_merges_settings_in_order(write: Write) -> None:
    path = write(
        "e.toml",
        CORPUS
        + '[experiment]\nsystems = ["ht", "ft-600", "ht@longer"]\n'
        + "[sizes]\nwidth = 64\nparagraphs = 6\nlonger_paragraphs = 9\n"
        + "[training]\nlearning_rate = 1.5\n[data]\nmax_target_tokens = 50\n"
        + "[systems.ht.training]\nlearning_rate = 0.5\n",
    )
    experiment = load_experiment(path, ["decoding.beam_size=3", "systems.ft-600.model.dropout=0.3"])
    ht, flat, longer = (experiment.config(row) for row in ("ht", "ft-600", "ht@longer"))
    assert (ht.model.width, flat.model.width, flat.model.architecture) == (64, 64, "ft")
    assert (ht.training.learning_rate, flat.training.learning_rate) == (0.5, 1.5)
    assert (ht.model.dropout, flat.model.dropout) == (0.1, 0.3)
    assert ht.data.max_target_tokens == flat.data.max_target_tokens == 50
    assert (ht.data.max_input_paragraphs, longer.data.max_input_paragraphs) == (6, 9)
    assert {c.decoding.beam_size for c in (ht, flat, longer)} == {3}
    assert ht.evaluation.preset == experiment.base().evaluation.preset == "paper"
    assert experiment.base().extractive.style == "paper"


def test_experiment_orders_networks_as_named_and_rows_as_in_the_paper(
    write: Write,
) -> None:
    named = '["ht-without-gt", "ht@longer", "ft-800", "lead"]'
    experiment = load_experiment(write("e.toml", f"{CORPUS}[experiment]\nsystems = {named}"))
    assert experiment.networks == ["ht-without-gt", "ht", "ft-800"]
    assert experiment.rows == ["lead", "ft-800", "ht@longer", "ht-without-gt"]
    assert load_experiment(write("all.toml", CORPUS)).rows == list(ROWS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[experiment]\nsystems = ["tmdca"]', "'tmdca' is unknown; did you mean tdmca"),
        ('[experiment]\nsystems = ["xyz"]', "'xyz' is unknown; known: lead, lexrank"),
        ("[experiment]\nsystems = []", "must name some systems, each once"),
        ('[experiment]\nsystems = ["ht", "ht"]', "must name some systems, each once"),
        ("[experiment]\nmillion_tokens = 0", "million_tokens must be more than 0, got 0.0"),
        ("[experiment]\nvalidations = 2\ncheckpoints = 3", r"checkpoints \(3\) cannot be more"),
        ("[experiment]\nbudget = 3", "unknown setting 'experiment.budget'"),
        ("[sizes]\nwidth = 0", "sizes.width must be at least 1, got 0"),
        ("[sizes]\nparagraphs = 50", r"sizes.longer_paragraphs \(40\) must be more than"),
        ("[sizes]\nwidth = 30", r"model.width \(30\) must be a multiple"),
        ("[model]\nwidth = 64", r"model.width is decided by the system and by \[sizes\]; set it"),
        ("[data]\nmax_source_tokens = 64", "data.max_source_tokens is decided by the system"),
        ("[training]\nsteps = 5", "training.steps is decided by the experiment"),
        ("[trainig]\nseed = 5", r"unknown section \[trainig\]; known: experiment"),
        ("sizes = 5", "sizes is a section, but got the value 5"),
        (
            "[systems.lead.model]\nwidth = 3",
            r"\[systems.lead\] is not a network; networks: ft-600-unranked, ",
        ),
        ("[systems]\nht = 3", "ht is a section, but got the value 3"),
    ],
)
def test_load_experiment_refuses_invalid_settings_by_name(
    write: Write, text: str, message: str
) -> None:
    before, corpus = (text, CORPUS) if "=" in text.split("\n")[0] else (CORPUS, text)
    with pytest.raises(ConfigError, match=message):
        load_experiment(write("e.toml", f"{before}\n{corpus}"))


def test_corpus_paths_refuses_missing_files(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="corpus.train names no files"):
        load_experiment(write("e.toml", ""))
    path = write("e.toml", CORPUS.replace("a.jsonl", "$SOME_FOLDER/a-*.jsonl"))
    corpus = load_experiment(path).corpus
    monkeypatch.delenv("SOME_FOLDER", raising=False)
    with pytest.raises(ConfigError, match=r"corpus.train: \$SOME_FOLDER/a-\*.jsonl needs the env"):
        corpus.paths("train")
    monkeypatch.setenv("SOME_FOLDER", str(path.parent))
    with pytest.raises(ConfigError, match="corpus.train: there is no file .*/a-"):
        corpus.paths("train")
    found = [write(f"a-{n}.jsonl", "") for n in (1, 2)]
    assert corpus.paths("train") == found


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_load_experiment_loads_the_presets(path: Path) -> None:
    experiment = load_experiment(path)
    wanted = {
        "two-hours": {"lead", "lexrank", "ft-800", "ht", "ht-without-gt"},
        "small": set(ROWS),
        "paper": set(ROWS),
        "released": {"lead", "lexrank", "ht", "ht@longer"},
        "warm": set(ROWS) - {"ft-600@longer", "ft-1200@longer"},
        "warm-hour": set(ROWS) - {"ft-600@longer", "ft-1200@longer"},
    }
    assert set(experiment.rows) == wanted[path.stem]


def test_small_preset_only_adds_systems_to_two_hours() -> None:
    """So that it goes on in the same folder."""
    short, whole = (
        load_experiment(REPOSITORY / "configs" / "experiments" / f"{name}.toml")
        for name in ("two-hours", "small")
    )
    assert (
        replace(whole, name=short.name, run=replace(whole.run, systems=short.run.systems)) == short
    )


def test_paper_preset_has_the_papers_sizes() -> None:
    """Section 4: sizes, updates, GPUs, and scores averaged over the five best checkpoints."""
    experiment = load_experiment(REPOSITORY / "configs" / "experiments" / "paper.toml")
    assert experiment.sizes == Sizes()
    assert (experiment.run.processes, experiment.run.checkpoints) == (4, 5)
    training = experiment.config("ht").training
    assert (training.batch_tokens, training.accumulate, training.warmup_steps) == (10_500, 4, 8_000)
