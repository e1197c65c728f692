"""A Wikipedia dump and source pages become a dataset like WikiSum: in parallel, resumable at any moment.

    DIR/train/part-00000.parquet ...   the clusters; valid/ and test/ beside it
    DIR/missing.txt                    the cited URLs that no source page has
    DIR/report.json                    written last: the build is finished when it exists
    DIR/.building/                     while the build is at work: plan, articles, pages, index, tallies

Four stages, each cut into parts that workers do in any order: read the dump; read source pages; count
their words, if they are searched; join articles and pages. Between stages this process only sorts arrays
of a few bytes per article, URL or page.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np

from hiersum.building.clusters import SPLITS, Article, ClusterMaker, ClusterSettings, wiki_report
from hiersum.building.dump import (
    ArticleFolder,
    CitingArticle,
    CitingArticles,
    chunks_of,
    numbers_of,
    put_in_order,
    read_chunk,
)
from hiersum.building.guard import Limits
from hiersum.building.keys import Keys, contains, keys_of, union
from hiersum.building.page_files import PageFiles, find_sources, identify
from hiersum.building.page_store import (
    Page,
    PageFolder,
    PageStore,
    build_lookup,
    count_page_words,
    read_part,
)
from hiersum.building.title_search import (
    SearchFolder,
    SearchResults,
    TitleSearch,
    keep_results,
    merge_counts,
)
from hiersum.building.workplace import (
    Tally,
    Workplace,
    fingerprint,
    read_json,
    run_stage,
    save_array,
    sum_tallies,
    write_json,
)
from hiersum.data.corpora import write_clusters
from hiersum.data.files import write_atomically
from hiersum.errors import ConfigError, DataError, InputError, MissingDependencyError
from hiersum.parallel import Engine, LocalEngine
from hiersum.text.languages import check_language
from hiersum.types import Cluster, Document

FORMAT = 1
PART_CLUSTERS = 512
_READERS = ("mwparserfromhell", "fastwarc", "resiliparse")


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiSettings(ClusterSettings):
    """What clusters of a Wikipedia are like."""

    language: str = "en"
    """Pages in other languages are dropped; `any` keeps all."""
    valid_share: float = 0.023
    test_share: float = 0.023
    """As in the paper: 38,144 and 38,205 of 1,655,709."""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class WikiPart:
    """Consecutive articles of one split."""

    split: str
    number: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class WikiPlace(Workplace):
    """Where the files of a build from Wikipedia are."""

    @property
    def pages(self) -> PageFolder:
        return PageFolder(self.folder)

    @property
    def citing(self) -> ArticleFolder:
        return ArticleFolder(self.folder)

    @property
    def search(self) -> SearchFolder:
        return SearchFolder(self.folder)

    @property
    def results(self) -> Path:
        """The user's own search results."""
        return self.folder / "results"

    @property
    def cited(self) -> Path:
        """The keys of all cited URLs."""
        return self.folder / "cited.npy"

    def clusters_of(self, part: WikiPart) -> Path:
        return self.out / part.split / f"part-{part.number:05}.parquet"

    def tally_of(self, part: WikiPart) -> Path:
        return self.folder / f"{part.split}-{part.number:05}.json"


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

    Args:
        dumps: pages-articles files, .xml.bz2 or .xml.
        pages: files and folders of source pages; without any, only `missing.txt` is of use.
        out: the folder; created if needed.
        settings: what clusters are like.
        results: the user's own search results; without them the pages are searched by BM25.
        engine: where the work is done.

    Returns:
        The report, which is also in `out/report.json`.

    Raises:
        InputError: the folder holds something else or cannot be written to.
        DataError: there is no article, or a file cannot be used.
    """
    if any(util.find_spec(module) is None for module in _READERS):
        raise MissingDependencyError("building from Wikipedia", "build")
    _check_language(settings.language)
    chunks_of(dumps)  # refuses what is no dump before anything is written
    place = WikiPlace(out)
    plan = {
        "format": FORMAT,
        "settings": settings.as_plan(),
        "dump": [identify(path) for path in dumps],
        "pages": [identify(path) for files in find_sources(pages) for path in files.paths],
        "results": None if results is None else fingerprint(results),
    }
    if (finished := place.finished_report(plan)) is not None:
        return finished
    build = WikiBuild(place, settings, engine or LocalEngine())
    is_searched = settings.search > 0 and results is None
    with place.at_work(plan):
        build.read_dump(dumps)
        if results is not None and not place.results.exists():
            keep_results(results, place.results)
        if not is_searched:
            build.choose_wanted()
        sources = find_sources(pages)
        build.read_sources(sources)
        build.write_missing(len(sources))
        num_repeated = build.look_up(len(sources))
        if is_searched:
            build.index(len(sources))
        joined = build.join()
        page_tally = build.tally_of_sources(len(sources))
        page_tally["dropped: in an earlier source"] += num_repeated
        report = wiki_report(read_json(place.reading), page_tally, joined)
        report["plan"] = plan
        place.finish(report)
    return report


class WikiBuild:
    """The stages of a build; each keeps what an earlier run has finished."""

    def __init__(self, place: WikiPlace, settings: WikiSettings, engine: Engine) -> None:
        self.place = place
        self.settings = settings
        self.engine = engine

    def read_dump(self, dumps: Sequence[Path]) -> None:
        """Read all articles, put them in order, and collect the URLs they cite."""
        place, settings = self.place, self.settings
        if place.reading.exists():
            return
        chunks = chunks_of(dumps)
        run_stage(
            self.engine,
            partial(read_chunk, place=place.citing, limits=settings.limits),
            chunks,
            tally_of=lambda chunk: place.citing.tally_of(chunk.number),
            verb="reading the dump",
        )
        numbers = range(len(chunks))
        tally = sum_tallies(map(place.citing.tally_of, numbers))
        order, num_repeated = put_in_order(
            place.citing,
            len(chunks),
            valid_share=settings.valid_share,
            test_share=settings.test_share,
        )
        if not len(order):
            raise DataError(f"{dumps[0]}: there are no articles in it")
        tally["skipped: seen before"] += num_repeated
        for name, path in (("urls", place.cited), ("words", place.search.words)):
            save_array(union(numbers_of(place.citing, number, name) for number in numbers), path)
        write_json(place.reading, tally)

    def choose_wanted(self) -> None:
        """Restrict reading to pages that an article cites or a search result names."""
        path = self.place.pages.wanted
        if path.exists():
            return
        wanted = [np.load(self.place.cited)]
        if self.place.results.exists():
            wanted.append(SearchResults(self.place.results).keys)
        save_array(union(wanted), path)

    def read_sources(self, sources: Sequence[PageFiles]) -> None:
        """Read source pages into parts."""
        place, settings = self.place.pages, self.settings
        run_stage(
            self.engine,
            partial(read_part, place=place, limits=settings.limits, language=settings.language),
            sources,
            tally_of=lambda files: place.tally_of(files.number),
            verb="reading pages",
        )

    def write_missing(self, num_parts: int) -> None:
        """Write the cited URLs that no source has, a line each, each page once."""
        path = self.place.out / "missing.txt"
        if path.exists():
            return
        there = union(np.load(self.place.pages.keys_of(part)) for part in range(num_parts))
        cited: Keys = np.load(self.place.cited)
        missing = cited[~contains(there, cited)]
        is_new = np.ones(len(missing), bool)
        articles = CitingArticles(self.place.citing)
        with write_atomically(path) as file:
            for number in range(len(articles)):
                urls = articles[number].urls
                for url, key in zip(urls, keys_of(urls)):
                    where = int(np.searchsorted(missing, key))
                    if where < len(missing) and missing[where] == key and is_new[where]:
                        is_new[where] = False
                        file.write(f"{url}\n".encode())

    def look_up(self, num_parts: int) -> int:
        """Make pages findable by URL; return how many were in an earlier source already."""
        note = self.place.folder / "repeated.json"
        if not note.exists():
            shutil.rmtree(self.place.pages.lookup, ignore_errors=True)
            write_json(note, build_lookup(self.place.pages, num_parts))
        num_repeated: int = read_json(note)
        return num_repeated

    def index(self, num_parts: int) -> None:
        """Make pages searchable by title."""
        place = self.place
        if place.search.index.exists():
            return
        run_stage(
            self.engine,
            partial(count_page_words, pages=place.pages, search=place.search),
            range(num_parts),
            tally_of=place.search.counts_of,
            verb="indexing",
        )
        merge_counts(num_parts, place.search, PageStore(place.pages).places_in)

    def join(self) -> Tally:
        """Write the clusters; return the tally of all articles."""
        order = np.load(self.place.citing.order)
        parts = parts_of(np.bincount(order["split"], minlength=len(SPLITS)).tolist())
        run_stage(
            self.engine,
            partial(join_part, place=self.place, settings=self.settings),
            parts,
            tally_of=self.place.tally_of,
            verb="joining",
        )
        return sum_tallies(map(self.place.tally_of, parts))

    def tally_of_sources(self, num_parts: int) -> Tally:
        """Return the tally of all source pages."""
        return sum_tallies(map(self.place.pages.tally_of, range(num_parts)))


def parts_of(num_in_split: Sequence[int]) -> list[WikiPart]:
    """Cut the articles of each split into parts."""
    parts = []
    first = 0
    for split, number in zip(SPLITS, num_in_split):
        for part, start in enumerate(range(first, first + number, PART_CLUSTERS)):
            stop = min(start + PART_CLUSTERS, first + number)
            parts.append(WikiPart(split, part, start, stop))
        first += number
    return parts


def join_part(part: WikiPart, *, place: WikiPlace, settings: WikiSettings) -> None:
    """Write the clusters of one part, then its tally: a part with a tally is finished."""
    tally: Tally = Counter()
    place.clusters_of(part).parent.mkdir(exist_ok=True)
    clusters = _open_joiner(place, settings).clusters(range(part.start, part.stop), tally)
    tally[f"split: {part.split}"] = write_clusters(clusters, place.clusters_of(part))
    write_json(place.tally_of(part), tally)


class _Joiner:
    """Makes clusters of articles and the pages that they cite or that a search finds."""

    def __init__(self, place: WikiPlace, settings: WikiSettings) -> None:
        self._articles = CitingArticles(place.citing)
        self._pages = PageStore(place.pages)
        self._results = SearchResults(place.results) if place.results.exists() else None
        self._search = TitleSearch(place.search) if place.search.index.exists() else None
        self._num_wanted = settings.search
        self._maker = ClusterMaker(settings)

    def clusters(self, numbers: range, tally: Tally) -> Iterator[Cluster]:
        for number in numbers:
            citing = self._articles[number]
            article = Article(citing.id, citing.title, citing.lead)
            find_sources = partial(self._documents_of, citing, tally)
            if cluster := self._maker.make(article, find_sources, tally):
                yield cluster

    def _documents_of(self, article: CitingArticle, tally: Tally) -> list[Document]:
        """Return the cited pages, then those that a search found, no two with the same words."""
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
def _open_joiner(place: WikiPlace, settings: WikiSettings) -> _Joiner:
    """Open the files of a build once per process."""
    return _Joiner(place, settings)


def _check_language(code: str) -> None:
    if code in ("any", "en"):  # known without loading the identifier
        return
    try:
        check_language(code)
    except ConfigError as error:
        raise InputError(
            f"--language must be any or a code such as en or de, got {code!r}"
        ) from error
