"""`hiersum build`: datasets made from one's own collection."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from hiersum.cli.options import CorpusOption, JsonOption, SkipBadOption
from hiersum.errors import InputError

build = typer.Typer(help="Make clusters to learn from.", rich_markup_mode=None)


@build.callback()
def _build() -> None:
    """Make clusters to learn from."""


@build.command("articles")
def build_articles(
    articles: Annotated[
        list[Path],
        typer.Argument(
            help="Articles: wikilead Parquet, or clusters whose summary is the lead and whose "
            "documents are the body."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="The folder for the clusters.")],
    search: Annotated[
        int, typer.Option(min=0, help="Other articles in a cluster, found by its title.")
    ] = 10,
    collection: Annotated[
        list[Path] | None,
        typer.Option(help="Search these articles too; repeatable."),
    ] = None,
    supported: Annotated[
        bool, typer.Option("--supported", help="Keep only sentences that the body supports.")
    ] = False,
    min_words: Annotated[int, typer.Option(min=1, help="Drop shorter targets.")] = 1,
    max_words: Annotated[
        int | None, typer.Option(min=1, help="Cut targets after the last sentence that fits.")
    ] = None,
    tokenizer: Annotated[
        Path | None, typer.Option(help="Count tokens with this model for the report.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws the order of the clusters.")] = 1,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes at work.  [default: one per core]")
    ] = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make clusters from articles: body and search results as sources, the lead as target.

    The same command again goes on where it was interrupted.
    """
    from hiersum.building.builder import build_clusters
    from hiersum.building.parts import BuildSettings
    from hiersum.building.report import report_rows
    from hiersum.building.targets import TargetRules

    if max_words is not None and min_words > max_words:
        raise InputError(f"--min-words ({min_words}) is more than --max-words ({max_words})")
    rules = TargetRules(supported=supported, min_words=min_words, max_words=max_words)
    report = build_clusters(
        articles,
        out,
        BuildSettings(search=search, target=rules, seed=seed, tokenizer=tokenizer),
        collection=collection or (),
        kind=corpus,
        skip_bad=skip_bad,
        workers=workers or os.cpu_count() or 1,
    )
    if as_json:
        typer.echo(json.dumps(report))
        return
    rows = [("", "here", "paper"), *report_rows(report)]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for name, ours, paper in rows:
        typer.echo(f"{name.ljust(widths[0])}  {ours.rjust(widths[1])}  {paper}".rstrip())
