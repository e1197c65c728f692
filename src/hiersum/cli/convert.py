"""`hiersum convert`: released weights become model folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from hiersum.cli.options import CorpusOption, HubNameArgument, check_exists, command
from hiersum.errors import CheckpointError, check_extra

_TOKENIZER = "spiece.model"
convert = typer.Typer(help="Convert released weights to a model folder.", rich_markup_mode=None)
OutOption = Annotated[Path, Option("--out", help="The new model folder.")]


@command(convert, "released")
def convert_released(
    checkpoint: Annotated[
        Path, Argument(callback=check_exists, help="The authors' model_step_N.pt.")
    ],
    out: OutOption,
    spm: Annotated[
        Path | None,
        Option(callback=check_exists, help="Its SentencePiece model; needed to read text."),
    ] = None,
) -> None:
    """Convert a checkpoint of the paper's released code."""
    from hiersum.training.from_released import convert_released

    typer.echo(convert_released(checkpoint, spm, out))


@command(convert, "t5")
def convert_t5(
    source: HubNameArgument,
    out: OutOption,
    global_layers: Annotated[int, Option(help="New layers across paragraphs.")] = 2,
    decoder_layers: Annotated[
        int | None, Option(help="Keep only this many decoder layers.")
    ] = None,
    prune_to: Annotated[
        list[Path] | None,
        Option(
            callback=check_exists, help="Keep only pieces that occur in this corpus; repeatable."
        ),
    ] = None,
    min_count: Annotated[
        int, Option(help="With --prune-to: keep pieces that occur this often.", min=1)
    ] = 1,
    corpus: CorpusOption = "auto",
) -> None:
    """Add the paper's global layers to a pretrained T5 or Flan-T5."""
    _check_tokenizer(Path(source))
    check_extra("converting a T5", "hub", "google.protobuf")
    from hiersum.training.from_t5 import convert_t5

    folder = convert_t5(
        source,
        out,
        global_layers=global_layers,
        prune_to=None if prune_to is None else _texts(prune_to, corpus),
        min_count=min_count,
        decoder_layers=decoder_layers,
    )
    typer.echo(folder)


def _check_tokenizer(folder: Path) -> None:
    """Refuse a T5 folder without its tokenizer before its weights are read."""
    if folder.is_dir() and not (folder / _TOKENIZER).is_file():
        raise CheckpointError(
            f"{folder}: has no {_TOKENIZER}, the T5's tokenizer; copy it there from where the model "
            "comes from"
        )


def _texts(corpora: list[Path], kind: str) -> Iterator[str]:
    """Yield every text of corpora: titles, documents and targets."""
    from hiersum.data.corpora import counted, read_corpus

    for path in corpora:
        for cluster in counted(read_corpus(path, kind), path, "reading"):
            yield cluster.title
            yield from (document.text for document in cluster.documents)
            yield cluster.summary or ""
