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
EngineOption = Annotated[
    str, typer.Option("--engine", help="Where the work is done: local (processes) or ray.")
]
RayAddressOption = Annotated[
    str | None,
    typer.Option(
        "--ray-address",
        help="An existing Ray cluster: HOST:PORT, ray://HOST:PORT or auto.  [default: started here]",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Processes at work.  [default: one per core]"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
