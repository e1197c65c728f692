"""`hiersum finetune`: train a model further on your own clusters."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from hiersum.bundled import recommended_settings
from hiersum.cli.options import (
    BaseModelOption,
    CorpusOption,
    RunFolderOption,
    SetOption,
    SkipBadOption,
    WorkersOption,
    check_exists,
)
from hiersum.config import load_config
from hiersum.errors import InputError


def finetune(
    clusters: Annotated[
        Path, typer.Argument(callback=check_exists, help="Clusters with summaries.")
    ],
    model: BaseModelOption,
    out: RunFolderOption,
    epochs: Annotated[float, typer.Option(help="Passes over the clusters.")] = 3.0,
    workers: WorkersOption = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    settings: SetOption = None,
) -> None:
    """Train a model further on your own clusters, and write a new model folder."""
    if not epochs > 0:
        raise InputError(f"--epochs must be more than 0, got {epochs}")
    load_config(None, settings or (), recommended=recommended_settings(model))
    from hiersum.training.finetune import finetune as finetune_model

    folder = finetune_model(
        clusters,
        out,
        model=model,
        epochs=epochs,
        overrides=settings or (),
        kind=corpus,
        skip_bad=skip_bad,
        workers=workers or os.cpu_count() or 1,
    )
    typer.echo(folder)
