"""`hiersum train` and `hiersum plot`: a network learns, and how it went."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiersum.cli.options import SetOption
from hiersum.config import load_config


def train(
    config_path: Annotated[
        Path, typer.Argument(metavar="CONFIG.toml", help="What to train, on what, and how.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The run folder; the same one resumes.")],
    settings: SetOption = None,
) -> None:
    """Train a network; the same command again goes on where it stopped."""
    from hiersum.training.trainer import train as train_network

    typer.echo(train_network(load_config(config_path, settings or ()), out))


def plot(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The picture (.svg .png .pdf).  [default: RUN/curves.svg]"),
    ] = None,
) -> None:
    """Draw the curves of a run: loss, validation, learning rate."""
    from hiersum.training.curves import plot_runs

    typer.echo(plot_runs(runs, out or runs[0] / "curves.svg"))
