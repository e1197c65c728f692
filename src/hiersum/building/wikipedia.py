"""Build a dataset like WikiSum from a Wikipedia dump and web pages, in parallel and resumable.

    DIR/train/part-00000.parquet ...   the clusters; valid/ and test/ beside it
    DIR/missing.txt                    the cited URLs that no source page has
    DIR/report.json                    written last: marks the build as finished
    DIR/.building/                     during the build: plan, articles, pages, index, tallies

Four stages, each cut into parts that workers do in any order: read the dump; read source pages;
count their words, if they are searched; join articles and pages. Between stages, this process only
sorts arrays with a few bytes per article, URL or page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from hiersum.building.clusters import SPLITS, Article, ClusterSettings, wiki_report, write_part
from hiersum.building.dump import CitingArticles, arrays_of, chunks_of, put_in_order, read_chunk
from hiersum.building.guard import Limits
from hiersum.building.lookup import (
    Keys,
    SearchResults,
    TitleSearch,
    contains,
    keep_results,
    keys_of,
    merge_counts,
    union,
)
from hiersum.building.page_files import PageFiles, find_sources, identify
from hiersum.building.page_store import Page, PageStore, build_lookup, count_page_words, read_part
from hiersum.building.workplace import (
    ClusterPart,
    Tally,
    Workplace,
    parts_between,
    run_stage,
    save_array,
)
from hiersum.data.files import checksum, read_json, write_atomically, write_json
from hiersum.errors import DataError, check_extra
from hiersum.jobs.parallel import Engine, LocalEngine
from hiersum.text.languages import check_language
from hiersum.types import Document

FORMAT = 1
PART_CLUSTERS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiSettings(ClusterSettings):
    """Settings of a build from Wikipedia."""

    language: str = "en"
    """Pages in other languages are dropped; `any` keeps all."""
    valid_share: float = 0.023
    test_share: float = 0.023
    """As in the paper: 38,144 and 38,205 of 1,655,709."""
    limits: Limits = field(default_factory=Limits)


def build_wikipedia(
    dumps: Sequence[Path],
    pages: Sequence[Path],
    out: Path,
    settings: WikiSettings,
    *,
    results: Path | None = None,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """Build clusters from a dump and source pages, or resume an interrupted build.

    Without pages, the build only writes `missing.txt`. `results` are the user's own search results;
    without them, the pages are searched by BM25. Returns the report, also in `out/report.json`.
    """
    check_extra("building from Wikipedia", "build", "mwparserfromhell", "fastwarc", "resiliparse")
    if settings.language not in ("any", "en"):  # English needs no language identifier
        check_language(settings.language, "--language must be any")
    chunks_of(dumps)  # fail on invalid dumps before writing anything
    sources = find_sources(pages)
    plan = {
        "format": FORMAT,
        "settings": asdict(settings),
        "dump": [identify(path) for path in dumps],
        "pages": [identify(path) for files in sources for path in files.paths],
        "results": None if results is None else checksum([results]),
    }
    place = Workplace(out)
    build = WikiBuild(place, settings, sources, engine or LocalEngine())
    return place.build(plan, partial(build.run, dumps, results))


@dataclass(frozen=True, slots=True)
class WikiBuild:
    """The stages of a build; each skips finished work."""

    place: Workplace
    settings: WikiSettings
    sources: Sequence[PageFiles]
    engine: Engine

    def run(self, dumps: Sequence[Path], results: Path | None) -> dict[str, Any]:
        is_searched = self.settings.search > 0 and results is None
        dump_tally = self.read_dump(dumps)
        kept_results = self.place.folder / "results"
        if results is not None and not kept_results.exists():
            keep_results(results, kept_results)
        if not is_searched:
            self.choose_wanted()
        page_tally = self.read_sources()
        self.write_missing()
        num_unique = self.look_up()
        page_tally["dropped: in an earlier source"] += page_tally["pages"] - num_unique
        if is_searched:
            self.index()
        return wiki_report(dump_tally, page_tally, self.join())

    def read_dump(self, dumps: Sequence[Path]) -> Tally:
        """Read and order all articles, and collect the URLs they cite; return the tally."""
        place, settings = self.place, self.settings
        path = place.folder / "reading.json"
        if path.exists():
            return Counter(read_json(path))
        chunks = chunks_of(dumps)
        tally = run_stage(
            self.engine,
            partial(read_chunk, place=place, limits=settings.limits),
            chunks,
            tally_of=lambda chunk: place.part("articles", chunk.number, "json"),
            verb="reading the dump",
        )
        shares = (settings.valid_share, settings.test_share)
        num_articles = put_in_order(place, len(chunks), *shares)
        if not num_articles:
            raise DataError(f"{dumps[0]}: contains no articles")
        tally["skipped: seen before"] += tally["articles"] - num_articles
        for name, file in (("urls", "cited.npy"), ("words", "words.npy")):
            save_array(union(arrays_of(place, len(chunks), name)), place.folder / file)
        write_json(path, tally)
        return tally

    def choose_wanted(self) -> None:
        """Restrict reading to pages that are cited or in search results."""
        folder = self.place.folder
        if (folder / "wanted.npy").exists():
            return
        wanted = [np.load(folder / "cited.npy")]
        if (folder / "results").exists():
            wanted.append(SearchResults(folder / "results").keys)
        save_array(union(wanted), folder / "wanted.npy")

    def read_sources(self) -> Tally:
        """Read source pages into parts; return their tally."""
        place, settings = self.place, self.settings
        return run_stage(
            self.engine,
            partial(read_part, place=place, limits=settings.limits, language=settings.language),
            self.sources,
            tally_of=lambda files: place.part("pages", files.number, "json"),
            verb="reading pages",
        )

    def write_missing(self) -> None:
        """Write the cited URLs that no source has, one per line, without repeats."""
        path = self.place.out / "missing.txt"
        if path.exists():
            return
        there = union(np.load(self.place.part("pages", f.number, "npy")) for f in self.sources)
        cited: Keys = np.load(self.place.folder / "cited.npy")
        missing = cited[~contains(there, cited)]
        is_new = np.ones(len(missing), bool)
        articles = CitingArticles(self.place)
        with write_atomically(path) as file:
            for number in range(len(articles)):
                urls = articles[number].urls
                for url, key in zip(urls, keys_of(urls)):
                    where = int(np.searchsorted(missing, key))
                    if where < len(missing) and missing[where] == key and is_new[where]:
                        is_new[where] = False
                        file.write(f"{url}\n".encode())

    def look_up(self) -> int:
        """Make pages findable by URL; return the number of distinct URLs."""
        if not (self.place.folder / "lookup").exists():
            build_lookup(self.place, len(self.sources))
        return len(PageStore(self.place))

    def index(self) -> None:
        """Make pages searchable by title."""
        place, num_parts = self.place, len(self.sources)
        if (place.folder / "index").exists():
            return
        run_stage(
            self.engine,
            partial(count_page_words, place=place),
            range(num_parts),
            tally_of=lambda part: place.part("counts", part, "json"),
            verb="indexing",
        )
        merge_counts(place, PageStore(place).places_by_part(num_parts))

    def join(self) -> Tally:
        """Write the clusters; return the tally of all articles."""
        order = np.load(self.place.folder / "order.npy")
        ends = np.cumsum(np.bincount(order["split"], minlength=len(SPLITS))).tolist()
        parts = [
            part
            for split, start, stop in zip(SPLITS, [0, *ends], ends)
            for part in parts_between(start, stop, PART_CLUSTERS, f"{split}/")
        ]
        return run_stage(
            self.engine,
            partial(join_part, place=self.place, settings=self.settings),
            parts,
            tally_of=self.place.tally_of,
            verb="joining",
        )


def join_part(part: ClusterPart, *, place: Workplace, settings: WikiSettings) -> None:
    """Write the clusters of one part."""
    write_part(part, _open_pages(place, settings.search), settings.target, place)


class _CitedPages:
    """Articles with the pages that they cite and those that a search finds."""

    def __init__(self, place: Workplace, num_wanted: int) -> None:
        results = place.folder / "results"
        self.article = CitingArticles(place).__getitem__
        self._pages = PageStore(place)
        self._results = SearchResults(results) if results.exists() else None
        self._search = TitleSearch(place) if (place.folder / "index").exists() else None
        self._num_wanted = num_wanted

    def documents_of(self, article: Article, tally: Tally) -> list[Document]:
        """Return the cited pages, then the search results; duplicates by content are dropped."""
        cited = self._pages.find(keys_of(article.urls))
        found = self._find(article.title)
        tally["cited"] += len(cited)
        tally["cited and found"] += sum(page is not None for page in cited)
        tally["searched and found"] += len(found)
        kept: dict[int, Page] = {}
        urls: set[str] = set()
        for page in (*cited, *found):
            if page is None or page.url in urls:
                continue
            urls.add(page.url)
            tally["duplicate pages"] += page.digest in kept
            kept.setdefault(page.digest, page)
        return [Document.from_paragraphs(p.paragraphs, p.title, p.url) for p in kept.values()]

    def _find(self, title: str) -> list[Page]:
        if self._results is not None:
            keys = self._results.of(title, self._num_wanted)
            return [page for page in self._pages.find(keys) if page is not None]
        if self._search is None:
            return []
        return [self._pages.at(place) for place in self._search.find(title, self._num_wanted)]


@lru_cache(maxsize=1)
def _open_pages(place: Workplace, num_wanted: int) -> _CitedPages:
    """Open the files of a build once per process."""
    return _CitedPages(place, num_wanted)
