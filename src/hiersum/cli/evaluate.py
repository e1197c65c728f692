"""`hiersum evaluate` and `hiersum compare`: score summaries, and test which are better."""

from __future__ import annotations

import json
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
    check_exists,
    check_one_format,
    note,
)
from hiersum.config import load_config

if TYPE_CHECKING:
    from rich.console import Console

    from hiersum.evaluation.comparison import Comparison, Example, Report

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
    _print(report, report, as_json=as_json, as_markdown=as_markdown)


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
    from hiersum.evaluation.comparison import compare_files

    comparison = compare_files(
        (first, second),
        references,
        config,
        sources=sources,
        kind=corpus,
        common=common,
        num_examples=examples,
    )
    _print(comparison.report, comparison, as_json=as_json, as_markdown=as_markdown)
    if not as_json:
        _print_examples(comparison, as_markdown=as_markdown)


def _print(
    report: Report, result: Report | Comparison, *, as_json: bool, as_markdown: bool
) -> None:
    if as_json:
        typer.echo(json.dumps(result.to_record(), ensure_ascii=False))
        return
    for table in result.tables():
        typer.echo(table.to_markdown() if as_markdown else table.to_text())
        typer.echo()
    typer.echo(f"`{report.signature}`" if as_markdown else report.signature)
    for message in report.notes:
        note(message)


def _print_examples(comparison: Comparison, *, as_markdown: bool) -> None:
    """Show where the systems differ; words that only one of them has are highlighted."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for example in comparison.examples:
        console.print()
        heading = f"{example.id}  {example.title}".rstrip()
        console.print(Text(f"**{heading}**" if as_markdown else heading, style="bold"))
        _print_sides(example, comparison.report.names, console, as_markdown=as_markdown)


def _print_sides(
    example: Example, names: tuple[str, ...], console: Console, *, as_markdown: bool
) -> None:
    from rich.text import Text

    bullet = "- " if as_markdown else ""
    for name, runs, f1, style in zip(names, example.marked, example.f1, ("blue", "yellow")):
        line = Text(f"{bullet}{name} ({100 * f1:.2f}):", style="dim")
        for run in runs:
            line.append(" ")
            if run.differs and not console.is_terminal:
                line.append(f"**{run.text}**" if as_markdown else f"[{run.text}]")
            else:
                line.append(run.text, style=f"not dim bold {style}" if run.differs else "not dim")
        console.print(line)
    line = Text(f"{bullet}reference:", style="dim")
    console.print(line.append(f" {example.reference}", style="not dim"))
