"""`hiersum summarize`: documents or clusters in, sourced summaries out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from hiersum.bundled import recommended_settings
from hiersum.cli.options import (
    ConfigOption,
    CorpusOption,
    EngineOption,
    JsonOption,
    RayAddressOption,
    SetOption,
    SkipBadOption,
)
from hiersum.config import Config, load_config
from hiersum.errors import InputError

_MAX_NOTES = 10


def summarize(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES",
            help="Documents (.txt .md .html .pdf .docx, gzip of them, - for stdin), folders of them, "
            "or cluster files (.json .jsonl .parquet).",
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="The topic of the documents.")] = "",
    focus: Annotated[str, typer.Option(help="A question or aspect to turn to.")] = "",
    system: Annotated[
        str | None,
        typer.Option(
            help="lexrank, lead, or the model's kind (ht, ft, tdmca).  [default: the model]"
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A model folder, or owner/name on the hub.")
    ] = None,
    max_words: Annotated[
        int | None,
        typer.Option(help="Cap on the summary's words.  [default: 80, without a model 120]"),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Leave out sentences that no source supports.")
    ] = False,
    as_json: JsonOption = False,
    report_path: Annotated[
        Path | None,
        typer.Option(
            "--report", help="Also write an HTML page to look at the summary and its sources."
        ),
    ] = None,
    input_path: Annotated[
        Path | None, typer.Option("--input", help="Summarise every cluster of a corpus.")
    ] = None,
    output_path: Annotated[
        Path | None, typer.Option("--output", help="Write result lines (JSON Lines) to this file.")
    ] = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes at work on a corpus.  [default: this one]"),
    ] = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Summarise documents, or every cluster of a corpus."""
    from hiersum.commands.summarize import keep_report, summarize_corpus, summarize_files

    config = load_config(config_path, settings or (), recommended=recommended_settings(model))
    options: dict[str, Any] = {
        "model": model,
        "kind": corpus,
        "skip_bad": skip_bad,
        "focus": focus,
        "max_words": max_words,
        "system": system,
        "strict": strict,
    }
    is_spread = engine != "local" or workers is not None or ray_address is not None
    if input_path is None:
        if is_spread:
            raise InputError(
                "--engine and --workers go with --input and an --output that is a file"
            )
        if output_path is not None:
            raise InputError(
                f"--output goes with --input; to keep this summary, write: > {output_path}"
            )
        options["with_attention"] = report_path is not None
        summaries = summarize_files(files or [], title, config, **options)
        if report_path is not None:
            summaries = keep_report(summaries, report_path, files or [], config)
        _print_summaries(summaries, config, as_json=as_json)
    else:
        if files or title:
            raise InputError("--input summarises a corpus; leave out FILES and --title")
        if report_path is not None:
            raise InputError(f"--report goes with FILES; leave out --input, write: {input_path}")
        if not is_spread:
            summarize_corpus(input_path, output_path, config, **options)
            return
        from hiersum.distributed import open_engine

        with open_engine(engine, workers=workers, address=ray_address) as opened:
            summarize_corpus(input_path, output_path, config, engine=opened, **options)


def _print_summaries(summaries: Iterator[Any], config: Config, *, as_json: bool) -> None:
    from hiersum.presentation import print_summary

    console = Console(highlight=False)
    for number, summary in enumerate(summaries):
        if as_json:
            typer.echo(json.dumps(summary.to_record(), ensure_ascii=False))
        else:
            if number:
                console.print()
            print_summary(summary, console, max_paragraph_words=config.data.max_paragraph_words)
        for sentence in summary.dropped[:_MAX_NOTES]:
            _note(f"left out, because no source supports it: {sentence.text}")
        for unread in summary.unread[:_MAX_NOTES]:
            _note(f"{unread.name}: {unread.reason}")
        if (num_more := len(summary.unread) - _MAX_NOTES) > 0:
            _note(f"and {num_more} more were not read; --json names them all")


def _note(message: str) -> None:
    typer.echo(f"note: {message}", err=True)
