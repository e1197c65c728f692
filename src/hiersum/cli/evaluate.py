"""`hiersum evaluate`, `compare` and `reproduce`: score summaries, and run the paper's experiments."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from hiersum.cli.options import (
    ConfigOption,
    CorpusOption,
    JsonOption,
    MarkdownOption,
    SetOption,
    WorkersOption,
    check_exists,
    check_one_format,
    note,
)
from hiersum.config import load_config
from hiersum.errors import InputError, check_extra

if TYPE_CHECKING:
    from hiersum.evaluation.comparison import Report

_FILES = "one per line (.txt), records with a summary (.jsonl .json .parquet), or a corpus"
PredictionsArgument = Annotated[Path, Argument(callback=check_exists, help=f"Summaries: {_FILES}.")]
ReferencesArgument = Annotated[
    Path,
    Argument(
        callback=check_exists, help="Reference summaries, matched by id if both files have ids."
    ),
]
SourcesOption = Annotated[
    Path | None,
    Option(
        callback=check_exists,
        help="The summarised clusters; adds novelty, coverage and faithfulness.",
    ),
]
CommonOption = Annotated[
    bool, Option("--common", help="Score only the inputs that all files have.")
]


def evaluate(
    predictions: PredictionsArgument,
    references: ReferencesArgument,
    sources: SourcesOption = None,
    common: CommonOption = False,
    as_json: JsonOption = False,
    as_markdown: MarkdownOption = False,
    corpus: CorpusOption = "auto",
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Score summaries: ROUGE with confidence intervals, and other measures."""
    check_one_format(as_json=as_json, as_markdown=as_markdown)
    config = load_config(config_path, settings or ()).evaluation
    from hiersum.evaluation.comparison import evaluate_files

    report = evaluate_files(
        [predictions], references, config, sources=sources, kind=corpus, common=common
    )
    _print(report, as_json=as_json, as_markdown=as_markdown)


def compare(
    first: Annotated[
        Path, Argument(metavar="A", callback=check_exists, help=f"Summaries: {_FILES}.")
    ],
    second: Annotated[
        Path,
        Argument(metavar="B", callback=check_exists, help="Other summaries of the same inputs."),
    ],
    references: ReferencesArgument,
    sources: SourcesOption = None,
    common: CommonOption = False,
    examples: Annotated[
        int, Option(min=0, help="Examples to show where each system is furthest ahead.")
    ] = 2,
    as_json: JsonOption = False,
    as_markdown: MarkdownOption = False,
    corpus: CorpusOption = "auto",
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Test which of two files of summaries is better, and show where they differ."""
    check_one_format(as_json=as_json, as_markdown=as_markdown)
    config = load_config(config_path, settings or ()).evaluation
    from hiersum.evaluation import comparison

    report = comparison.evaluate_files(
        [first, second], references, config, sources=sources, kind=corpus, common=common
    )
    report = comparison.compare(report, config, num_examples=examples)
    _print(report, as_json=as_json, as_markdown=as_markdown)
    if not as_json:
        _print_examples(report, as_markdown=as_markdown)


def _print(report: Report, *, as_json: bool, as_markdown: bool) -> None:
    if as_json:
        typer.echo(json.dumps(report.to_record(), ensure_ascii=False))
        return
    for table in report.tables():
        typer.echo(table.to_markdown() if as_markdown else table.to_text())
        typer.echo()
    typer.echo(f"`{report.signature}`" if as_markdown else report.signature)
    for message in report.notes:
        note(message)


def _print_examples(report: Report, *, as_markdown: bool) -> None:
    """Show where the systems differ; words that only one of them has are marked."""
    bullet, mark = ("- ", "**{}**") if as_markdown else ("", "[{}]")
    for example in report.examples:
        heading = f"{example.id}  {example.title}".rstrip()
        typer.echo(f"\n**{heading}**" if as_markdown else f"\n{heading}")
        for name, runs, f1 in zip(report.names, example.marked, example.f1):
            words = (mark.format(run.text) if run.differs else run.text for run in runs)
            typer.echo(f"{bullet}{name} ({100 * f1:.2f}): {' '.join(words)}")
        typer.echo(f"{bullet}reference: {example.reference}")


def reproduce(
    experiment: Annotated[
        Path, Argument(metavar="EXPERIMENT.toml", help="The systems, the corpus and the budget.")
    ],
    out: Annotated[Path, Option(help="The folder for all results; an existing one is resumed.")],
    plan: Annotated[
        bool, Option("--plan", help="Only list the stages, their state and the time left.")
    ] = False,
    report: Annotated[
        bool, Option("--report", help="Only write the report of the finished stages.")
    ] = False,
    redo: Annotated[
        bool, Option("--redo", help="Redo stages whose settings have changed.")
    ] = False,
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

    # What is missing fails here, before torch is imported, not hours later.
    systems = load_experiment(experiment, overrides).rows
    if not plan:
        check_extra("reproducing the paper", "train", "accelerate", "matplotlib", "pyarrow")
        if any("discourse" in name for name in systems):
            check_extra("the system ht-discourse", "discourse", "spacy")
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
