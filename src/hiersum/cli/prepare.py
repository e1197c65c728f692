"""`hiersum prepare`: clusters as examples that a network can be trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiersum.cli.facts import print_facts
from hiersum.cli.options import (
    ConfigOption,
    CorpusOption,
    EngineOption,
    JsonOption,
    RayAddressOption,
    SetOption,
    SkipBadOption,
    WorkersOption,
)
from hiersum.config import load_config


def prepare(
    clusters: Annotated[list[Path], typer.Argument(help="Cluster files, or other corpora.")],
    model: Annotated[
        Path, typer.Option("--model", help="The folder with tokenizer.model, and perhaps a ranker.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The folder for the prepared set.")],
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Rank, tokenize and relate the paragraphs of clusters, and write them as shards to train on.

    The same command again goes on where it was interrupted.
    """
    from hiersum.commands.prepare import describe, prepare_clusters
    from hiersum.distributed import open_engine

    config = load_config(config_path, settings or ())
    with open_engine(engine, workers=workers, address=ray_address) as opened:
        prepared = prepare_clusters(
            clusters, out, config, model=model, kind=corpus, skip_bad=skip_bad, engine=opened
        )
    print_facts(describe(prepared), as_json=as_json)
