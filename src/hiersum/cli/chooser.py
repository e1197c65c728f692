"""`hiersum train-chooser`: which sentences of what it has read a network takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiersum.cli.options import ConfigOption, CorpusOption, SetOption, SkipBadOption
from hiersum.config import load_config


def train_chooser(
    clusters: Annotated[list[Path], typer.Argument(help="Clusters to learn from.")],
    model: Annotated[
        Path, typer.Option("--model", help="The model folder; chooser.json goes there.")
    ],
    limit: Annotated[
        int, typer.Option(min=0, help="Clusters to learn from at most, evenly from all; 0 for all.")
    ] = 3_000,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Learn, in one pass over clusters, which sentences of its sources a network should choose."""
    from hiersum.bundled import recommended_settings
    from hiersum.commands.train_chooser import train_chooser_on

    recommended = recommended_settings(model)
    config = load_config(config_path, settings or (), recommended=recommended)
    fit = train_chooser_on(
        clusters, config, model=model, limit=limit, kind=corpus, skip_bad=skip_bad
    )
    typer.echo(
        f"{model}: learned from {fit.num_sentences:,} sentences of {fit.num_clusters:,} clusters"
    )
