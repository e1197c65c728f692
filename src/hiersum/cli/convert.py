"""`hiersum convert`: other people's weights as model folders."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from hiersum.cli.options import CorpusOption

convert = typer.Typer(
    help="Turn other people's weights into a model folder.", rich_markup_mode=None
)
OutOption = Annotated[Path, typer.Option("--out", help="Where the model folder goes.")]


@convert.command("released")
def convert_released(
    checkpoint: Annotated[Path, typer.Argument(help="The authors' model_step_N.pt.")],
    out: OutOption,
    spm: Annotated[
        Path | None, typer.Option(help="Its SentencePiece model; needed to read text.")
    ] = None,
) -> None:
    """Convert a checkpoint of the paper's released code."""
    from hiersum.conversion.released import convert_released

    typer.echo(convert_released(checkpoint, spm, out))


@convert.command("t5")
def convert_t5(
    source: Annotated[str, typer.Argument(help="A T5 folder, or owner/name on the hub.")],
    out: OutOption,
    global_layers: Annotated[int, typer.Option(help="New layers across paragraphs.")] = 2,
    decoder_layers: Annotated[
        int | None, typer.Option(help="Keep only this many decoder layers.")
    ] = None,
    prune_to: Annotated[
        list[Path] | None,
        typer.Option(help="Keep only the pieces that this corpus uses; repeatable."),
    ] = None,
    min_count: Annotated[int, typer.Option(help="... and uses at least this often.", min=1)] = 1,
    corpus: CorpusOption = "auto",
) -> None:
    """Put the paper's global layers on a pretrained T5 or Flan-T5."""
    from hiersum.commands.texts import corpus_texts
    from hiersum.conversion.t5 import convert_t5

    texts = (
        None
        if prune_to is None
        else chain.from_iterable(corpus_texts(path, kind=corpus) for path in prune_to)
    )
    folder = convert_t5(
        source,
        out,
        global_layers=global_layers,
        prune_to=texts,
        min_count=min_count,
        decoder_layers=decoder_layers,
    )
    typer.echo(folder)
