"""The crawl as a build needs it: addresses in, archives out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from hiersum.building.crawl.archive import CrawlArchive
from hiersum.building.crawl.crawler import Crawler, CrawlSettings
from hiersum.building.wikipedia.build import Crawl
from hiersum.errors import InputError
from hiersum.progress import tracked


def crawl_into(folder: Path, settings: CrawlSettings) -> Crawl:
    """Return a crawl that keeps its pages in a folder, and goes on with what is there.

    Raises:
        InputError: the crawl does not say who it is.
    """
    if not settings.agent.strip():
        raise InputError(
            "a crawl says who it is: give --user-agent 'name (+address where you can be reached)'"
        )
    return partial(_crawl, folder=folder, settings=settings)


def _crawl(
    urls: Iterable[str], *, folder: Path, settings: CrawlSettings
) -> tuple[list[Path], Mapping[str, int]]:
    with CrawlArchive(folder) as archive:
        for _ in tracked(Crawler(archive, settings).run(urls), "crawling"):
            pass
        return archive.files, archive.outcomes
