"""`hiersum tokenizer`: vocabularies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiersum.cli.options import CorpusOption, SkipBadOption

tokenizer = typer.Typer(help="Make a vocabulary.", rich_markup_mode=None)


@tokenizer.callback()
def _tokenizer() -> None:
    """Make a vocabulary."""


@tokenizer.command("train")
def train(
    clusters: Annotated[list[Path], typer.Argument(help="Clusters: files, or folders of parts.")],
    out: Annotated[Path, typer.Option("--out", help="The model folder it goes to.")],
    size: Annotated[int, typer.Option(help="How many pieces.")] = 32_000,
    seed: Annotated[int, typer.Option(help="Draws the texts to train on.")] = 1,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
) -> None:
    """Train a SentencePiece model on clusters, sources and targets both."""
    from hiersum.commands.tokenizer import train_vocabulary

    typer.echo(
        train_vocabulary(clusters, out, size=size, seed=seed, kind=corpus, skip_bad=skip_bad)
    )
