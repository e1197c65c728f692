"""`hiersum reproduce`: the paper's experiments, from one file to its tables."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from hiersum.cli.options import JsonOption, SetOption
from hiersum.errors import InputError


def reproduce(
    experiment: Annotated[
        Path,
        typer.Argument(metavar="EXPERIMENT.toml", help="Which systems, on what, for how long."),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="The folder for everything; the same one resumes.")
    ],
    plan: Annotated[
        bool, typer.Option("--plan", help="Only list the stages, what is done, and the time left.")
    ] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Only write the report of what is finished.")
    ] = False,
    redo: Annotated[
        bool, typer.Option("--redo", help="Make anew what was made from other settings.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes that build and prepare.  [default: one per core]"),
    ] = None,
    as_json: JsonOption = False,
    settings: SetOption = None,
) -> None:
    """Run the paper's experiments: Tables 1, 2 and 3 with intervals and significance.

    The same command again goes on where it was interrupted.
    """
    from hiersum.reproduction.paper_tables import to_text
    from hiersum.reproduction.run import list_stages, reproduce

    number = workers or os.cpu_count() or 1
    if plan:
        if as_json or report or redo:
            raise InputError("--plan only lists the stages; leave out --json, --report and --redo")
        stages = list_stages(experiment, out, overrides=settings or (), workers=number)
        typer.echo(stages.to_text())
        return
    record = reproduce(
        experiment, out, overrides=settings or (), workers=number, redo=redo, report_only=report
    )
    typer.echo(json.dumps(record, ensure_ascii=False) if as_json else to_text(record))
    typer.echo(f"report: {out / 'report' / 'report.md'}", err=True)
