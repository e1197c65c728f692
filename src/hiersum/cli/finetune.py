"""`hiersum finetune`: a model learns from one's own clusters, in one line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from hiersum.cli.options import CorpusOption, SetOption, SkipBadOption


def finetune(
    clusters: Annotated[Path, typer.Argument(help="Clusters with summaries.")],
    model: Annotated[str, typer.Option(help="A model folder, or owner/name on the hub.")],
    out: Annotated[Path, typer.Option("--out", help="The run folder; the same one resumes.")],
    epochs: Annotated[float, typer.Option(help="How often each cluster is learned from.")] = 3.0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that prepare.  [default: one per core]")
    ] = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    settings: SetOption = None,
) -> None:
    """Train a model further on your own clusters, and write a new model folder."""
    from hiersum.commands.finetune import finetune as finetune_model

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
