"""`hiersum evaluate` and `hiersum compare`: how good summaries are, and which are better."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from hiersum.cli.options import ConfigOption, CorpusOption, JsonOption, SetOption
from hiersum.config import load_config
from hiersum.errors import InputError

if TYPE_CHECKING:
    from hiersum.evaluation.comparison import Comparison, Example, Report

_FILES = "texts by line (.txt), objects with a summary (.jsonl .json .parquet), or a corpus"
ReferencesArgument = Annotated[
    Path, typer.Argument(help="What they should say; joined on id where both files have ids.")
]
SourcesOption = Annotated[
    Path | None,
    typer.Option(help="The clusters they were written from: novelty, coverage, faithfulness."),
]
CommonOption = Annotated[
    bool, typer.Option("--common", help="Leave out what not all files have, instead of refusing.")
]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
HtmlOption = Annotated[
    Path | None, typer.Option(help="Write a page with plots and texts to this file.")
]


def evaluate(
    predictions: Annotated[Path, typer.Argument(help=f"Summaries: {_FILES}.")],
    references: ReferencesArgument,
    sources: SourcesOption = None,
    common: CommonOption = False,
    as_json: JsonOption = False,
    as_markdown: MarkdownOption = False,
    html: HtmlOption = None,
    corpus: CorpusOption = "auto",
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Score summaries: ROUGE with intervals, and measures beyond it."""
    from hiersum.commands.evaluate import evaluate_files
    from hiersum.evaluation.page import write_report_page

    _check_formats(as_json, as_markdown, html)
    report = evaluate_files(
        [predictions],
        references,
        load_config(config_path, settings or ()).evaluation,
        sources=sources,
        kind=corpus,
        common=common,
    )
    if html is not None:
        write_report_page(report, html)
    _print(report, report, as_json=as_json, as_markdown=as_markdown)


def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help=f"Summaries: {_FILES}.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Other summaries of the same.")],
    references: ReferencesArgument,
    sources: SourcesOption = None,
    common: CommonOption = False,
    examples: Annotated[
        int, typer.Option(min=0, help="Pairs to show where each of them is furthest ahead.")
    ] = 2,
    as_json: JsonOption = False,
    as_markdown: MarkdownOption = False,
    html: HtmlOption = None,
    corpus: CorpusOption = "auto",
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Say which of two files of summaries is better, how sure that is, and where they differ."""
    from hiersum.commands.evaluate import compare_files
    from hiersum.evaluation.page import write_comparison_page

    _check_formats(as_json, as_markdown, html)
    comparison = compare_files(
        (first, second),
        references,
        load_config(config_path, settings or ()).evaluation,
        sources=sources,
        kind=corpus,
        common=common,
        num_examples=examples,
    )
    if html is not None:
        write_comparison_page(comparison, html)
    _print(comparison.report, comparison, as_json=as_json, as_markdown=as_markdown)
    if not as_json:
        _print_examples(comparison, as_markdown=as_markdown)


def _check_formats(as_json: bool, as_markdown: bool, html: Path | None) -> None:
    if as_json and as_markdown:
        raise InputError("--json and --markdown are two forms of the same; give one of them")
    if html is not None and not os.path.isdir(html.parent):
        raise InputError(f"{html}: there is no folder {html.parent}; make it first")


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
    for note in report.notes:
        typer.echo(f"note: {note}", err=True)


def _print_examples(comparison: Comparison, *, as_markdown: bool) -> None:
    """Show where the systems differ; words that only one has stand out."""
    console = Console(highlight=False, soft_wrap=True)
    for example in comparison.examples:
        console.print()
        heading = f"{example.id}  {example.title}".rstrip()
        console.print(Text(f"**{heading}**" if as_markdown else heading, style="bold"))
        _print_sides(example, comparison.report.names, console, as_markdown=as_markdown)


def _print_sides(
    example: Example, names: tuple[str, ...], console: Console, *, as_markdown: bool
) -> None:
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
