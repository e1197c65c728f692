"""The command line: each command parses, calls one function, and prints its result.

stdout holds results only; notes, progress and errors go to stderr. Exit codes: 0 done, 1 a bug of
ours, 2 something about the input.
"""

from __future__ import annotations

import io
import json
import logging
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from hiersum import __version__
from hiersum.config import Config, load_config
from hiersum.errors import HiersumError, InputError

# Newer versions of typer carry a click of their own, so its base error is found by way of typer.
_UsageError: type[Any] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)

app = typer.Typer(
    name="hiersum",
    help="Summarise many documents about one topic, and say where each sentence comes from.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

_MAX_NOTES = 10

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


@app.callback(invoke_without_command=True)
def _hiersum(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"hiersum {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
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
        int | None, typer.Option(help="Cap on the summary's words.  [default: 120]")
    ] = None,
    as_json: JsonOption = False,
    input_path: Annotated[
        Path | None, typer.Option("--input", help="Summarise every cluster of a corpus.")
    ] = None,
    output_path: Annotated[
        Path | None, typer.Option("--output", help="Write result lines (JSON Lines) to this file.")
    ] = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Summarise documents, or every cluster of a corpus."""
    from hiersum.commands import summarize_corpus, summarize_files

    config = load_config(config_path, settings or ())
    options: dict[str, Any] = {
        "model": model,
        "kind": corpus,
        "skip_bad": skip_bad,
        "focus": focus,
        "max_words": max_words,
        "system": system,
    }
    if input_path is None:
        if output_path is not None:
            raise InputError(
                f"--output goes with --input; to keep this summary, write: > {output_path}"
            )
        summaries = summarize_files(files or [], title, config, **options)
        _print_summaries(summaries, config, as_json=as_json)
    else:
        if files or title:
            raise InputError("--input summarises a corpus; leave out FILES and --title")
        summarize_corpus(input_path, output_path, config, **options)


@app.command()
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
    from hiersum.commands import describe_corpus, describe_installation

    if path is None:
        facts = describe_installation()
    else:
        config = load_config(config_path, settings or ())
        facts = describe_corpus(path, config, kind=corpus, skip_bad=skip_bad)
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        typer.echo(f"{name.ljust(width)}  {shown if shown not in ('', None) else 'none'}")


convert = typer.Typer(
    help="Turn other people's weights into a model folder.", rich_markup_mode=None
)
app.add_typer(convert, name="convert")
OutOption = Annotated[Path, typer.Option("--out", help="Where the model folder goes.")]


@convert.command("released")
def convert_released(
    checkpoint: Annotated[Path, typer.Argument(help="The authors' model_step_N.pt.")],
    out: OutOption,
    spm: Annotated[
        Path | None, typer.Option(help="Its SentencePiece model; needed to read text.")
    ] = None,
) -> None:
    """Convert a checkpoint of the paper's released code."""
    from hiersum.conversion.released import convert_released

    typer.echo(convert_released(checkpoint, spm, out))


@convert.command("t5")
def convert_t5(
    source: Annotated[str, typer.Argument(help="A T5 folder, or owner/name on the hub.")],
    out: OutOption,
    global_layers: Annotated[int, typer.Option(help="New layers across paragraphs.")] = 2,
    decoder_layers: Annotated[
        int | None, typer.Option(help="Keep only this many decoder layers.")
    ] = None,
    prune_to: Annotated[
        Path | None, typer.Option(help="Keep only the pieces that this corpus uses.")
    ] = None,
    corpus: CorpusOption = "auto",
) -> None:
    """Put the paper's global layers on a pretrained T5 or Flan-T5."""
    from hiersum.commands import corpus_texts
    from hiersum.conversion.t5 import convert_t5

    texts = None if prune_to is None else corpus_texts(prune_to, kind=corpus)
    folder = convert_t5(
        source, out, global_layers=global_layers, prune_to=texts, decoder_layers=decoder_layers
    )
    typer.echo(folder)


def main() -> NoReturn:
    """Run the command line, and turn errors into one sentence and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal of few letters shows ? for the rest
            stream.reconfigure(errors="replace")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that half-written files go too
    logging.basicConfig(level=logging.WARNING, format="note: %(message)s", stream=sys.stderr)
    for library in ("pypdf", "trafilatura", "charset_normalizer", "htmldate"):
        # They report every oddity of a file; ours is the one sentence that matters.
        logging.getLogger(library).setLevel(logging.CRITICAL)
    try:
        code = app(standalone_mode=False)
    except HiersumError as error:
        _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)  # noqa: T201
        sys.exit(130)
    except _UsageError as error:
        _fail(f"{error.format_message().rstrip('.')}; see: hiersum --help")
    except SystemExit as leaving:
        # Typer leaves with 1 when the reader of our output has gone, as `| head` does: no error.
        sys.exit(0 if leaving.code == 1 else leaving.code)
    except OSError as error:
        _fail(f"{error.filename or 'standard output'}: {error.strerror or error}")
    sys.exit(code or 0)


def _fail(message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)  # noqa: T201
    sys.exit(2)


def _note(message: str) -> None:
    typer.echo(f"note: {message}", err=True)


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
        for unread in summary.unread[:_MAX_NOTES]:
            _note(f"{unread.name}: {unread.reason}")
        if (num_more := len(summary.unread) - _MAX_NOTES) > 0:
            _note(f"and {num_more} more were not read; --json names them all")
