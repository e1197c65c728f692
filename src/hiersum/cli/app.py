"""The program: its commands, and how errors become messages and exit codes.

Results go to stdout; notes, progress and errors to stderr. Exit code 0: success; 1: a bug in hiersum;
2: invalid input, and stderr says why.
"""

from __future__ import annotations

import gc
import io
import logging
import os
import signal
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer import Option

from hiersum import __version__
from hiersum.cli.build import build
from hiersum.cli.evaluate import compare, evaluate, reproduce
from hiersum.cli.humaneval import humaneval
from hiersum.cli.info import info
from hiersum.cli.options import command
from hiersum.cli.serve import serve
from hiersum.cli.summarize import summarize
from hiersum.cli.train import (
    convert,
    finetune,
    plot,
    prepare,
    rank_eval,
    tokenizer,
    train,
    train_ranker,
)
from hiersum.errors import HiersumError

# Newer versions of typer contain their own click, so the base error is found through typer.
_UsageError: type[Any] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)

TORCH_SETTINGS = {
    # Waiting threads sleep. Spinning would take the core from the thread they wait for; on a busy
    # machine, it tripled the processor time of a summary.
    "OMP_WAIT_POLICY": "PASSIVE",
    # oneDNN keeps a kernel for every shape, and ragged batches hardly ever repeat one. So do packed
    # products, in a cache of their own.
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "32",
    "LRU_CACHE_CAPACITY": "32",
}
"""Environment variables that torch's libraries read when loaded; the user's own take precedence."""

app = typer.Typer(
    name="hiersum",
    help="Summarise many documents about one topic, and cite a source for each sentence.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for function in (
    *(summarize, serve, info, evaluate, compare, reproduce),
    *(prepare, train, plot, finetune, train_ranker, rank_eval),
):
    command(app)(function)
app.add_typer(build, name="build", short_help="Build clusters to train on.")
app.add_typer(convert, name="convert", short_help="Convert released weights to a model folder.")
app.add_typer(tokenizer, name="tokenizer", short_help="Train a vocabulary.")
app.add_typer(
    humaneval,
    name="humaneval",
    short_help="Let people judge summaries: make a study, serve its pages, score the answers.",
)


@app.callback(invoke_without_command=True)
def _hiersum(
    context: typer.Context,
    version: Annotated[bool, Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"hiersum {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> NoReturn:
    """Run the command line; an expected error becomes one line on stderr and an exit code."""
    if sys.argv[1:] == ["--version"]:  # typer would import pydantic first
        print(f"hiersum {__version__}")  # noqa: T201
        sys.exit(0)
    for name, value in TORCH_SETTINGS.items():
        os.environ.setdefault(name, value)
    gc.set_threshold(10_000)  # importing torch makes a million objects, and none of them is garbage
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # print ? for letters the terminal cannot show
            stream.reconfigure(errors="replace")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # runs `finally`: no half-written files
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_Lines())
    logging.getLogger("hiersum.jobs.progress").setLevel(logging.INFO)
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")  # we report its failures ourselves
    for library in ("pypdf", "trafilatura", "charset_normalizer", "htmldate"):
        logging.getLogger(library).setLevel(
            logging.CRITICAL
        )  # we report unreadable files ourselves
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
        # Typer exits with 1 when the reader of our output closes it, as `| head` does: no error.
        sys.exit(0 if leaving.code == 1 else leaving.code)
    except OSError as error:
        _fail(f"{error.filename or 'standard output'}: {error.strerror or error}")
    sys.exit(code or 0)


class _Lines(logging.Formatter):
    """Formats warnings as notes, and progress unchanged."""

    def format(self, record: logging.LogRecord) -> str:
        note = "note: " if record.levelno >= logging.WARNING else ""
        return note + super().format(record)


def _fail(message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)  # noqa: T201
    sys.exit(2)
