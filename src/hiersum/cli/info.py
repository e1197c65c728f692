"""`hiersum info`: what runs here, or what a corpus holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiersum.cli.facts import print_facts
from hiersum.cli.options import ConfigOption, CorpusOption, JsonOption, SetOption, SkipBadOption
from hiersum.config import load_config


def info(
    path: Annotated[
        Path | None, typer.Argument(metavar="CORPUS", help="Describe this corpus instead.")
    ] = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Show versions, devices and models; or what a corpus holds, duplicates and clones counted."""
    from hiersum.commands.info import describe_corpus, describe_installation

    if path is None:
        facts = describe_installation()
    else:
        config = load_config(config_path, settings or ())
        facts = describe_corpus(path, config, kind=corpus, skip_bad=skip_bad)
    print_facts(facts, as_json=as_json)
