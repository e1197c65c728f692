"""`hiersum build`: datasets made from one's own collection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from hiersum.cli.options import (
    CorpusOption,
    EngineOption,
    JsonOption,
    RayAddressOption,
    SkipBadOption,
    WorkersOption,
)
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
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make clusters from articles: body and search results as sources, the lead as target.

    The same command again goes on where it was interrupted.
    """
    from hiersum.building.articles import BuildSettings, build_clusters
    from hiersum.building.cluster_report import report_rows
    from hiersum.building.clusters import TargetRules
    from hiersum.distributed import open_engine

    if max_words is not None and min_words > max_words:
        raise InputError(f"--min-words ({min_words}) is more than --max-words ({max_words})")
    rules = TargetRules(supported=supported, min_words=min_words, max_words=max_words)
    with open_engine(engine, workers=workers, address=ray_address) as opened:
        report = build_clusters(
            articles,
            out,
            BuildSettings(search=search, target=rules, seed=seed, tokenizer=tokenizer),
            collection=collection or (),
            kind=corpus,
            skip_bad=skip_bad,
            engine=opened,
        )
    _print_report(report, report_rows(report), as_json=as_json)


@build.command("wikipedia")
def build_wikipedia_clusters(
    dump: Annotated[
        list[Path],
        typer.Option("--dump", help="pages-articles files, .xml.bz2 or .xml; repeatable."),
    ],
    out: Annotated[Path, typer.Option("--out", help="The folder for the clusters.")],
    pages: Annotated[
        list[Path] | None,
        typer.Option(
            "--pages",
            help="Source pages: WARC or WET files, JSON Lines of url and text, saved HTML, or folders "
            "of these; repeatable.",
        ),
    ] = None,
    search: Annotated[
        int, typer.Option(min=0, help="Pages in a cluster that a search for its title found.")
    ] = 10,
    results: Annotated[
        Path | None,
        typer.Option(help="Your own search results: lines of title and urls.  [default: BM25]"),
    ] = None,
    language: Annotated[
        str, typer.Option(help="Keep pages in this language; any keeps all.")
    ] = "en",
    min_words: Annotated[int, typer.Option(min=1, help="Drop shorter targets.")] = 1,
    max_words: Annotated[
        int | None, typer.Option(min=1, help="Cut targets after the last sentence that fits.")
    ] = None,
    valid: Annotated[
        float, typer.Option(min=0, max=1, help="Share of articles for validation.")
    ] = 0.023,
    test: Annotated[float, typer.Option(min=0, max=1, help="Share of articles for tests.")] = 0.023,
    tokenizer: Annotated[
        Path | None, typer.Option(help="Count tokens with this model for the report.")
    ] = None,
    page_seconds: Annotated[
        float, typer.Option(min=0.1, help="Give up on a page that takes longer to read.")
    ] = 10.0,
    page_megabytes: Annotated[
        int, typer.Option(min=400, help="Memory of the process that reads pages.")
    ] = 1_500,
    page_bytes: Annotated[int, typer.Option(min=1_000, help="Drop larger pages.")] = 5_000_000,
    crawl: Annotated[
        Path | None,
        typer.Option(
            help="Fetch cited pages that no source has, into this folder; needs a network."
        ),
    ] = None,
    user_agent: Annotated[
        str, typer.Option(help="Who crawls, and how to reach them: 'name (+https://...)'.")
    ] = "",
    crawl_delay: Annotated[
        float, typer.Option(min=0, help="Seconds between two requests to a host.")
    ] = 1.0,
    crawl_threads: Annotated[
        int, typer.Option(min=1, help="Hosts that are asked at the same time.")
    ] = 16,
    crawl_private: Annotated[
        bool, typer.Option("--crawl-private", help="Crawl private and loopback addresses too.")
    ] = False,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a WikiSum: leads as targets, cited pages and search results as sources.

    The same command again goes on where it was interrupted.
    """
    from hiersum.building.cluster_report import report_rows as wiki_rows
    from hiersum.building.clusters import TargetRules
    from hiersum.building.crawler import CrawlSettings, crawl_into
    from hiersum.building.guard import Limits
    from hiersum.building.wikipedia import WikiSettings, build_wikipedia
    from hiersum.distributed import open_engine

    if not pages and crawl is None:
        raise InputError("there are no source pages; give --pages, or --crawl to fetch them")
    if max_words is not None and min_words > max_words:
        raise InputError(f"--min-words ({min_words}) is more than --max-words ({max_words})")
    if valid + test > 1:
        raise InputError(f"--valid ({valid}) and --test ({test}) are more than all")
    settings = WikiSettings(
        search=search,
        language=language,
        target=TargetRules(min_words=min_words, max_words=max_words),
        valid_share=valid,
        test_share=test,
        tokenizer=tokenizer,
        limits=Limits(seconds=page_seconds, megabytes=page_megabytes, page_bytes=page_bytes),
    )
    crawling = CrawlSettings(
        agent=user_agent,
        delay=crawl_delay,
        threads=crawl_threads,
        max_bytes=page_bytes,
        allow_private=crawl_private,
    )
    crawler = None if crawl is None else crawl_into(crawl, crawling)
    with open_engine(engine, workers=workers, address=ray_address) as opened:
        report = build_wikipedia(
            dump, pages or [], out, settings, results=results, crawl=crawler, engine=opened
        )
    _print_report(report, wiki_rows(report), as_json=as_json)


def _print_report(
    report: dict[str, Any], rows: list[tuple[str, str, str]], *, as_json: bool
) -> None:
    if as_json:
        typer.echo(json.dumps(report))
        return
    rows = [("", "here", "paper"), *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for name, ours, paper in rows:
        typer.echo(f"{name.ljust(widths[0])}  {ours.rjust(widths[1])}  {paper}".rstrip())
