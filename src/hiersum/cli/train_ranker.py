"""`hiersum train-ranker` and `hiersum rank-eval`: the learned paragraph ranker."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from hiersum.cli.options import (
    ConfigOption,
    CorpusOption,
    JsonOption,
    SetOption,
    SkipBadOption,
    TargetClustersArgument,
    TokenizerFolderOption,
    WorkersOption,
    check_exists,
)
from hiersum.config import load_config


def train_ranker(
    clusters: TargetClustersArgument,
    model: TokenizerFolderOption,
    valid: Annotated[
        list[Path] | None,
        Option(callback=check_exists, help="Clusters that choose the best weights; repeatable."),
    ] = None,
    out: Annotated[
        Path | None, Option(help="The run folder.  [default: ranker-run in the model folder]")
    ] = None,
    workers: WorkersOption = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Train the paper's paragraph ranker and add it to a model folder.

    Run the same command again to resume.
    """
    config = load_config(config_path, settings or ())
    from hiersum.training.ranker_corpora import Corpora, train_ranker_on

    def corpora(paths: list[Path]) -> Corpora:
        return Corpora(
            paths=paths, kind=corpus, skip_bad=skip_bad, workers=workers or os.cpu_count() or 1
        )

    folder = train_ranker_on(
        corpora(clusters), corpora(valid) if valid else None, config, model=model, run=out
    )
    typer.echo(folder)


def rank_eval(
    clusters: TargetClustersArgument,
    model: TokenizerFolderOption,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Compare the trained ranker with tf-idf similarity, as in the paper's Table 1."""
    config = load_config(config_path, settings or ())
    from hiersum.training.ranker_corpora import evaluate_ranker

    report = evaluate_ranker(clusters, config, model=model, kind=corpus, skip_bad=skip_bad)
    typer.echo(json.dumps(report) if as_json else _table(report))


def _table(report: dict[str, Any]) -> str:
    header = ("paragraphs", "clusters", "similarity", "ranker", "difference", "in the paper *")
    rows: list[tuple[str, ...]] = [header]
    for cut in report["cuts"]:
        paper = f"{cut['paper']['similarity']}  {cut['paper']['ranker']}"
        cells = [_cell(cut[name]) for name in ("similarity", "ranker", "ranker - similarity")]
        rows.append((str(cut["paragraphs"]), f"{cut['clusters']:,}", *cells, paper))
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = ["  ".join(cell.ljust(n) for cell, n in zip(row, widths)).rstrip() for row in rows]
    notes = [
        "ROUGE-L recall of the first paragraphs against the target, with 95 % intervals.",
        "* similarity and ranker on WikiSum; not comparable with the other columns.",
        report["signature"],
    ]
    return "\n".join([*lines, "", *notes])


def _cell(values: dict[str, float] | None) -> str:
    if values is None:
        return "none"
    return f"{values['mean']:.2f} ({values['low']:.2f} to {values['high']:.2f})"
