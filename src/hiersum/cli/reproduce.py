"""`hiersum reproduce`: run the paper's experiments."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from hiersum.cli.options import JsonOption, SetOption, WorkersOption
from hiersum.errors import InputError, check_extra


def reproduce(
    experiment: Annotated[
        Path, Argument(metavar="EXPERIMENT.toml", help="The systems, the corpus and the budget.")
    ],
    out: Annotated[Path, Option(help="The folder for all results; an existing one is resumed.")],
    plan: Annotated[
        bool, Option(help="Only list the stages, their state and the time left.")
    ] = False,
    report: Annotated[bool, Option(help="Only write the report of the finished stages.")] = False,
    redo: Annotated[bool, Option(help="Redo stages whose settings have changed.")] = False,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
    settings: SetOption = None,
) -> None:
    """Run the paper's experiments: Tables 1, 2 and 3 with intervals and significance.

    Run the same command again to resume.
    """
    if plan and (as_json or report or redo):
        raise InputError("--plan only lists the stages; leave out --json, --report and --redo")
    overrides, number = settings or (), workers or os.cpu_count() or 1
    from hiersum.reproduction.experiment import load_experiment

    load_experiment(experiment, overrides)  # fails before torch is imported
    if not plan:
        check_extra("reproducing the paper", "train", "accelerate", "matplotlib", "pyarrow")
    from hiersum.reproduction.paper_tables import to_text
    from hiersum.reproduction.run import list_stages, reproduce

    if plan:
        typer.echo(list_stages(experiment, out, overrides=overrides, workers=number).to_text())
        return
    record = reproduce(
        experiment, out, overrides=overrides, workers=number, redo=redo, report_only=report
    )
    typer.echo(json.dumps(record, ensure_ascii=False) if as_json else to_text(record))
    typer.echo(f"report: {out / 'report' / 'report.md'}", err=True)
