"""`hiersum prepare`: turn clusters into training examples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiersum.cli.options import (
    ClustersArgument,
    ConfigOption,
    CorpusOption,
    EngineOption,
    JsonOption,
    RayAddressOption,
    SetOption,
    SkipBadOption,
    TokenizerFolderOption,
    WorkersOption,
    print_facts,
)
from hiersum.config import load_config
from hiersum.distributed import open_engine


def prepare(
    clusters: ClustersArgument,
    model: TokenizerFolderOption,
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
    """Rank and tokenize the paragraphs of clusters, and write shards to train on.

    Run the same command again to resume.
    """
    config = load_config(config_path, settings or ())
    with open_engine(engine, workers=workers, address=ray_address) as opened:
        from hiersum.data.prepare import describe, prepare_clusters

        prepared = prepare_clusters(
            clusters, out, config, model=model, kind=corpus, skip_bad=skip_bad, engine=opened
        )
    print_facts(describe(prepared), as_json=as_json)
