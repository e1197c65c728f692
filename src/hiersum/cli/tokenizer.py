"""`hiersum tokenizer`: vocabularies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiersum.cli.options import ClustersArgument, CorpusOption, SkipBadOption, command

tokenizer = typer.Typer(rich_markup_mode=None)


@tokenizer.callback()
def _tokenizer() -> None:
    """Train a vocabulary."""


@command(tokenizer, "train")
def train(
    clusters: ClustersArgument,
    out: Annotated[Path, typer.Option("--out", help="The model folder for tokenizer.model.")],
    size: Annotated[int, typer.Option(help="Number of pieces.")] = 32_000,
    seed: Annotated[int, typer.Option(help="Seed of the sample of texts.")] = 1,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
) -> None:
    """Train a SentencePiece model on the sources and targets of clusters."""
    from hiersum.training.vocabulary import train_vocabulary

    typer.echo(
        train_vocabulary(clusters, out, size=size, seed=seed, kind=corpus, skip_bad=skip_bad)
    )
