"""`hiersum build`: build datasets from your own collection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from hiersum.cli.options import (
    CorpusOption,
    EngineOption,
    JsonOption,
    RayAddressOption,
    SkipBadOption,
    WorkersOption,
    command,
)
from hiersum.errors import InputError, check_extra
from hiersum.jobs.distributed import open_engine

build = typer.Typer(rich_markup_mode=None)
OutOption = Annotated[Path, Option("--out", help="The folder for the clusters.")]
MinWordsOption = Annotated[int, Option(min=1, help="Drop shorter targets.")]
MaxWordsOption = Annotated[
    int | None, Option(min=1, help="Cut targets after the last sentence that fits.")
]


@build.callback()
def _build() -> None:
    """Build clusters to train on."""


@command(build, "articles")
def build_articles(
    articles: Annotated[
        list[Path],
        Argument(
            help="Articles: wikilead Parquet, or clusters with the lead as summary and the body as "
            "documents."
        ),
    ],
    out: OutOption,
    search: Annotated[
        int, Option(min=0, help="Other articles per cluster, found by searching for the title.")
    ] = 10,
    collection: Annotated[
        list[Path] | None, Option(help="Also search these articles; repeatable.")
    ] = None,
    supported: Annotated[
        bool,
        Option("--supported", help="Keep only target sentences that the body supports."),
    ] = False,
    min_words: MinWordsOption = 1,
    max_words: MaxWordsOption = None,
    seed: Annotated[int, Option(help="Seed of the order of the clusters.")] = 1,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Build clusters from articles: body and search results as sources, the lead as target.

    Run the same command again to resume.
    """
    _check_word_range(min_words, max_words)
    check_extra("building clusters", "parquet", "pyarrow")
    from hiersum.building.articles import BuildSettings, build_clusters
    from hiersum.building.clusters import TargetRules

    rules = TargetRules(supported=supported, min_words=min_words, max_words=max_words)
    with open_engine(engine, workers=workers, address=ray_address) as opened:
        report = build_clusters(
            articles,
            out,
            BuildSettings(search=search, target=rules, seed=seed),
            collection=collection or (),
            kind=corpus,
            skip_bad=skip_bad,
            engine=opened,
        )
    _print_report(report, as_json=as_json)


@command(build, "wikipedia")
def build_wikipedia_clusters(
    dump: Annotated[
        list[Path], Option(help="A pages-articles file, .xml.bz2 or .xml; repeatable.")
    ],
    out: OutOption,
    pages: Annotated[
        list[Path] | None,
        Option(
            "--pages",
            help="Source pages: WARC or WET, JSON Lines of url and text, saved HTML, or folders of "
            "these; repeatable. Without any, the build only lists the addresses to fetch (missing.txt).",
        ),
    ] = None,
    search: Annotated[
        int, Option(min=0, help="Pages per cluster, found by searching for the title.")
    ] = 10,
    results: Annotated[
        Path | None,
        Option(help="Your own search results, JSON Lines of title and urls.  [default: BM25]"),
    ] = None,
    language: Annotated[
        str, Option(help="Keep only pages in this language; any keeps all.")
    ] = "en",
    min_words: MinWordsOption = 1,
    max_words: MaxWordsOption = None,
    valid: Annotated[float, Option(min=0, max=1, help="Share of articles for validation.")] = 0.023,
    test: Annotated[float, Option(min=0, max=1, help="Share of articles for testing.")] = 0.023,
    page_seconds: Annotated[
        float, Option(min=0.1, help="Give up on pages that take longer to parse.")
    ] = 10.0,
    page_megabytes: Annotated[
        int, Option(min=400, help="Memory limit of the process that parses pages.")
    ] = 1_500,
    page_bytes: Annotated[int, Option(min=1_000, help="Drop larger pages.")] = 5_000_000,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build a WikiSum: leads as targets, cited pages and search results as sources.

    Run the same command again to resume.
    """
    _check_word_range(min_words, max_words)
    if valid + test > 1:
        raise InputError(f"--valid ({valid}) and --test ({test}) add up to more than 1")
    check_extra("building from Wikipedia", "build", "mwparserfromhell", "pyarrow")
    from hiersum.building.clusters import TargetRules
    from hiersum.building.guard import Limits
    from hiersum.building.wikipedia import WikiSettings, build_wikipedia

    settings = WikiSettings(
        search=search,
        language=language,
        target=TargetRules(min_words=min_words, max_words=max_words),
        valid_share=valid,
        test_share=test,
        limits=Limits(seconds=page_seconds, megabytes=page_megabytes, page_bytes=page_bytes),
    )
    with open_engine(engine, workers=workers, address=ray_address) as opened:
        report = build_wikipedia(dump, pages or [], out, settings, results=results, engine=opened)
    _print_report(report, as_json=as_json)


def _check_word_range(min_words: int, max_words: int | None) -> None:
    if max_words is not None and min_words > max_words:
        raise InputError(f"--min-words ({min_words}) is more than --max-words ({max_words})")


def _print_report(report: dict[str, Any], *, as_json: bool) -> None:
    from hiersum.building.clusters import report_rows
    from hiersum.evaluation.comparison import Table

    if as_json:
        typer.echo(json.dumps(report))
        return
    typer.echo(Table(("", "here", "paper"), tuple(report_rows(report))).to_text())
