"""`hiersum train` and `hiersum plot`: train a network, and draw its curves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiersum.cli.options import RunFolderOption, SetOption, check_exists
from hiersum.config import load_config
from hiersum.data.model_folder import check_model


def train(
    config_path: Annotated[
        Path, typer.Argument(metavar="CONFIG.toml", help="The settings of the training.")
    ],
    out: RunFolderOption,
    settings: SetOption = None,
) -> None:
    """Train a network. Run the same command again to resume."""
    config = load_config(config_path, settings or ())
    if config.training.start:
        check_model(config.training.start)
    from hiersum.data.shards import PreparedSet

    for folder in filter(None, (config.training.data, config.training.valid_data)):
        PreparedSet.open(folder)  # fails before torch is imported
    from hiersum.training.trainer import train as train_network

    typer.echo(train_network(config, out))


def plot(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", callback=check_exists, help="Run folders.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The picture (.svg .png .pdf).  [default: RUN/curves.svg]"),
    ] = None,
) -> None:
    """Draw the curves of runs: loss, validation, learning rate."""
    from hiersum.training.curves import plot_runs

    typer.echo(plot_runs(runs, out or runs[0] / "curves.svg"))
