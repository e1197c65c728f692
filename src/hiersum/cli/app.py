"""The command line: each command parses, calls one function, and prints its result.

stdout holds results only; notes, progress and errors go to stderr. Exit codes: 0 done, 1 a bug of
ours, 2 something about the input.
"""

from __future__ import annotations

import io
import logging
import signal
import sys
from typing import Annotated, Any, NoReturn

import typer

from hiersum import __version__
from hiersum.cli.build import build
from hiersum.cli.convert import convert
from hiersum.cli.evaluate import compare, evaluate
from hiersum.cli.finetune import finetune
from hiersum.cli.humaneval import humaneval
from hiersum.cli.info import info
from hiersum.cli.prepare import prepare
from hiersum.cli.ranker import rank_eval, train_ranker
from hiersum.cli.reproduce import reproduce
from hiersum.cli.serve import serve
from hiersum.cli.summarize import summarize
from hiersum.cli.tokenizer import tokenizer
from hiersum.cli.train import plot, train
from hiersum.errors import HiersumError

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
for command in (
    *(summarize, serve, info, evaluate, compare, reproduce),
    *(prepare, train, plot, finetune, train_ranker, rank_eval),
):
    app.command()(command)
for name, group in (
    *(("build", build), ("convert", convert), ("tokenizer", tokenizer)),
    ("humaneval", humaneval),
):
    app.add_typer(group, name=name)


@app.callback(invoke_without_command=True)
def _hiersum(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"hiersum {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


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
