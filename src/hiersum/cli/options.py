"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Read settings from a TOML file.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change one setting; repeatable."),
]
CorpusOption = Annotated[
    str,
    typer.Option(
        "--corpus",
        help="Kind of the clusters: auto, clusters, wikilead, multi-news, wcep, folders.",
    ),
]
SkipBadOption = Annotated[
    bool, typer.Option("--skip-bad", help="Count and skip clusters that cannot be used.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
