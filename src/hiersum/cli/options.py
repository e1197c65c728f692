"""Options, checks and output that several commands share.

Callbacks check paths and names while the command line is parsed, before anything slow is imported.
"""

from __future__ import annotations

import inspect
import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from glob import glob
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer import Argument, Option
from typer.core import TyperCommand

from hiersum.data.model_folder import check_model, tokenizer_file
from hiersum.errors import InputError
from hiersum.pretrained import FOLDER, chosen_model
from hiersum.pretrained.hub import check_model_name

BUNDLED = "bundled"
_VALUE_NAMES = {Path: "PATH", int: "N", float: "X", str: "TEXT"}


def check_exists(value: Any) -> Any:
    """Refuse a path, or a list of paths, that does not exist."""
    for path in value if isinstance(value, Iterable) else [] if value is None else [value]:
        try:
            if not glob(str(path)):  # shards are named by a pattern
                os.stat(path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise InputError(f"{path}: no such file") from error
        except (OSError, ValueError):
            pass  # reading it gives a better message
    return value


def _check_kind(kind: str) -> str:
    if kind != "auto":
        from hiersum.data.corpora import read_corpus

        read_corpus(Path(), kind)  # checks the kind; reads nothing until it is iterated
    return kind


def _check_model(model: str | None) -> str | None:
    if model == BUNDLED and not Path(model).exists():
        model = str(FOLDER)
    if name := model or chosen_model():
        check_model(name)
    return model


def _check_tokenizer(model: Path) -> Path:
    tokenizer_file(model)
    return model


ConfigOption = Annotated[Path | None, Option("--config", help="Read settings from this TOML file.")]
SetOption = Annotated[
    list[str] | None,
    Option("--set", metavar="SECTION.KEY=VALUE", help="Change one setting; repeatable."),
]
CorpusOption = Annotated[
    str,
    Option(
        metavar="FORMAT",
        callback=_check_kind,
        help="Format of the clusters: auto, clusters, wikilead, multi-news, wcep, written, annotated, "
        "folders or released.",
    ),
]
SkipBadOption = Annotated[bool, Option("--skip-bad", help="Count and skip unusable clusters.")]
EngineOption = Annotated[
    str, Option(help="Where to run: local (processes on this machine) or ray (a cluster).")
]
RayAddressOption = Annotated[
    str | None,
    Option(
        metavar="ADDRESS",
        help="An existing Ray cluster: HOST:PORT, ray://HOST:PORT or auto.  [default: start one]",
    ),
]
WorkersOption = Annotated[
    int | None, Option(min=1, help="Number of processes.  [default: one per core]")
]
JsonOption = Annotated[bool, Option("--json", help="Print JSON.")]
MarkdownOption = Annotated[bool, Option("--markdown", help="Print Markdown.")]
_MODEL = "a model folder, owner/name[@revision] on the Hugging Face hub, or bundled"
ModelOption = Annotated[
    str | None,
    Option(
        metavar="MODEL", callback=_check_model, help=f"The model: {_MODEL}.  [default: bundled]"
    ),
]
BaseModelOption = Annotated[
    str, Option(metavar="MODEL", callback=_check_model, help=f"The model to start from: {_MODEL}.")
]
TokenizerFolderOption = Annotated[
    Path,
    Option(
        "--model",
        callback=_check_tokenizer,
        help="A model folder with tokenizer.model and, optionally, a trained ranker.",
    ),
]
HubNameArgument = Annotated[
    str,
    Argument(callback=check_model_name, help="A T5 folder, or owner/name on the Hugging Face hub."),
]
RunFolderOption = Annotated[
    Path, Option("--out", help="The run folder; an existing run is resumed.")
]
ClustersArgument = Annotated[
    list[Path], Argument(callback=check_exists, help="Cluster files, or folders of them.")
]
TargetClustersArgument = Annotated[
    list[Path], Argument(callback=check_exists, help="Clusters with summaries.")
]
_QuietOption = Annotated[
    bool, Option("--quiet", help="Print only results and errors: no progress, no notes.")
]


def command(
    group: typer.Typer, name: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command whose one-line help is its docstring's first paragraph, never cut off."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        first = inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0]
        _name_values(function)
        short_help = " ".join(first.split())
        return group.command(name, cls=_Command, short_help=short_help)(_as_command(function))

    return register


def _name_values(function: Callable[..., None]) -> None:
    """Show values in the help as PATH or N, not by their Python types."""
    hints = function.__annotations__ = get_type_hints(function, include_extras=True)
    for name, hint in hints.items():
        for parameter in getattr(hint, "__metadata__", ()):
            if parameter.metavar is not None:
                continue
            if isinstance(parameter, typer.models.ArgumentInfo):
                parameter.metavar = name.upper()
            else:
                kind = get_args(hint)[0]
                kinds = {kind, *get_args(kind), *(k for of in get_args(kind) for k in get_args(of))}
                parameter.metavar = next(
                    (_VALUE_NAMES[k] for k in _VALUE_NAMES if k in kinds), None
                )


def _as_command(function: Callable[..., None]) -> Callable[..., None]:
    """Add the option --quiet, and a message on Ctrl-C."""

    @wraps(function)
    def run(*, quiet: bool, **given: Any) -> None:
        if quiet:
            for name in ("", "hiersum", "hiersum.jobs.progress"):
                logging.getLogger(name).setLevel(logging.ERROR)
        try:
            function(**given)
        except KeyboardInterrupt as error:  # typer would leave without a word
            typer.echo(f"interrupted; {error}" if str(error) else "interrupted", err=True)
            raise typer.Exit(130) from error

    hints = {**function.__annotations__, "quiet": _QuietOption}
    known = inspect.signature(function).parameters.values()
    quiet = inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, default=False)
    parameters = [each.replace(annotation=hints[each.name]) for each in (*known, quiet)]
    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = hints
    return run


class _Command(TyperCommand):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                vars(parameter)["display_type_rich"] = lambda ctx: None  # its type, behind its name


def note(message: str) -> None:
    """Print a note on stderr."""
    if logging.getLogger("hiersum").isEnabledFor(logging.WARNING):
        typer.echo(f"note: {message}", err=True)


def check_one_format(*, as_json: bool, as_markdown: bool) -> None:
    """Refuse two output formats together."""
    if as_json and as_markdown:
        raise InputError("give only one of --json and --markdown")


def print_facts(facts: Mapping[str, object], *, as_json: bool) -> None:
    """Print names and values in two columns, or as one JSON object."""
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        typer.echo(f"{name.ljust(width)}  {shown if shown not in ('', None) else 'none'}")
