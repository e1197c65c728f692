"""Options, checks and output that several commands share.

The callbacks check paths and names while the command line is parsed, before anything slow is imported.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hiersum.bundled import chosen_model
from hiersum.data.model_folder import check_model, check_model_name, tokenizer_file
from hiersum.errors import InputError


def check_exists(value: Any) -> Any:
    """Refuse a path, or a list of paths, that does not exist."""
    for path in value if isinstance(value, Iterable) else [] if value is None else [value]:
        try:
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
    if name := model or chosen_model():
        check_model(name)
    return model


def _check_name(name: str) -> str:
    check_model_name(name)
    return name


def _check_tokenizer(model: Path) -> Path:
    tokenizer_file(model)
    return model


ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Read settings from this TOML file.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change one setting; repeatable."),
]
CorpusOption = Annotated[
    str,
    typer.Option(
        "--corpus",
        callback=_check_kind,
        help="Format of the clusters: auto, clusters, wikilead, multi-news, wcep, folders.",
    ),
]
SkipBadOption = Annotated[
    bool, typer.Option("--skip-bad", help="Count and skip unusable clusters.")
]
EngineOption = Annotated[
    str, typer.Option("--engine", help="Where to work: local (processes) or ray.")
]
RayAddressOption = Annotated[
    str | None,
    typer.Option(
        "--ray-address",
        help="An existing Ray cluster: HOST:PORT, ray://HOST:PORT or auto.  [default: start one]",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Number of processes.  [default: one per core]"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        callback=_check_model,
        help="A model folder, or owner/name on the Hugging Face hub.  [default: the bundled one]",
    ),
]
BaseModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        callback=_check_model,
        help="The model to start from: a folder, or owner/name on the Hugging Face hub.",
    ),
]
TokenizerFolderOption = Annotated[
    Path,
    typer.Option(
        "--model",
        callback=_check_tokenizer,
        help="The model folder with tokenizer.model and, optionally, a trained ranker.",
    ),
]
HubNameArgument = Annotated[
    str,
    typer.Argument(
        callback=_check_name, help="A T5 folder, or owner/name on the Hugging Face hub."
    ),
]
RunFolderOption = Annotated[
    Path, typer.Option("--out", help="The run folder; an existing run is resumed.")
]
ClustersArgument = Annotated[
    list[Path],
    typer.Argument(callback=check_exists, help="Clusters: files, or folders of parts."),
]
TargetClustersArgument = Annotated[
    list[Path], typer.Argument(callback=check_exists, help="Clusters with summaries.")
]


def command(
    group: typer.Typer, name: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command whose one-line help is its docstring's first paragraph, never cut off."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        first = inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0]
        return group.command(name, short_help=" ".join(first.split()))(function)

    return register


def note(message: str) -> None:
    """Print a note on stderr."""
    typer.echo(f"note: {message}", err=True)


def check_one_format(*, as_json: bool, as_markdown: bool) -> None:
    """Refuse two output formats at once."""
    if as_json and as_markdown:
        raise InputError("--json and --markdown exclude each other; give one of them")


def print_facts(facts: Mapping[str, object], *, as_json: bool) -> None:
    """Print names and values in two columns, or as one JSON object."""
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        typer.echo(f"{name.ljust(width)}  {shown if shown not in ('', None) else 'none'}")
