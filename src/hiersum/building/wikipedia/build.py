"""A Wikipedia dump and source pages in, a dataset like WikiSum out: parallel, resumable at any moment.

    DIR/train/part-00000.parquet ...   the clusters, by split; valid/ and test/ beside it
    DIR/report.json  DIR/report.png    written last: when they are there, the work is done
    DIR/.building/                     while the work lasts: plan, articles, pages, index, tallies

Four stages, each cut into parts that workers do in any order: the dump is read; source pages are read;
their words are counted, if a search is wanted; articles and pages are joined. Between them this process
only sorts arrays of eight bytes per article, address or page.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hiersum.building.crawler import Crawl
from hiersum.building.pages.addresses import Keys, contains, keys_of
from hiersum.building.pages.postings import count_part, merge_counts
from hiersum.building.pages.sources import PageFiles, find_sources, identify
from hiersum.building.pages.store import PageStore, build_lookup, read_part, save_array, union
from hiersum.building.report import Tally
from hiersum.building.wikipedia.articles import (
    SPLITS,
    CitingArticles,
    numbers_of,
    put_in_order,
    read_chunk,
)
from hiersum.building.wikipedia.dump import chunks_of
from hiersum.building.wikipedia.joining import WikiPlace, WikiSettings, join_part, parts_of
from hiersum.building.wikipedia.report import draw_report, wiki_report
from hiersum.building.wikipedia.results import SearchResults, keep_results
from hiersum.building.workplace import (
    claim,
    fingerprint,
    finished_report,
    make_folder,
    read_json,
    run_stage,
    write_json,
)
from hiersum.data.files import alone_in
from hiersum.errors import ConfigError, DataError, InputError, MissingDependencyError
from hiersum.parallel import Engine, LocalEngine
from hiersum.text.languages import check_language
from hiersum.text.tokenizer import Tokenizer

FORMAT = 1


def build_wikipedia(
    dumps: Sequence[Path],
    pages: Sequence[Path],
    out: Path,
    settings: WikiSettings,
    *,
    results: Path | None = None,
    crawl: Crawl | None = None,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """Build clusters from a dump and source pages, or go on where a run was interrupted.

    Args:
        dumps: pages-articles files, .xml.bz2 or .xml.
        pages: files and folders of source pages.
        out: the folder; made if need be.
        settings: what clusters are to be like.
        results: a user's own search results; else the pages are searched by BM25.
        crawl: fetches cited pages that no source has; only what a user asked for.
        engine: where the work is done.

    Returns:
        The report, which is also in `out/report.json`.

    Raises:
        InputError: the folder holds something else or cannot be written to.
        DataError: there is no article, or a file cannot be used.
    """
    _require_readers()
    _check_language(settings.language)
    place = WikiPlace(out)
    build = _Build(place, settings, engine or LocalEngine())
    plan = _plan(dumps, pages, settings, results, crawls=crawl is not None)
    if (finished := finished_report(place, plan)) is not None:
        return finished
    make_folder(place)
    with alone_in(place.out), _disk_errors(place):
        claim(place, plan)
        build.read_dump(dumps)
        if results is not None and not place.results.exists():
            keep_results(results, place.results)
        build.choose_wanted(with_search=settings.search > 0 and results is None)
        sources = find_sources(pages)
        outcomes: Mapping[str, int] = {}
        build.read_sources(sources)
        if crawl is not None:
            archives, outcomes = crawl(build.missing_urls(len(sources)))
            if archives:
                sources += find_sources(archives, first_number=len(sources))
                build.read_sources(sources[-len(archives) :])
        num_repeated = build.look_up(len(sources))
        if settings.search and results is None:
            build.index(len(sources))
        joined = build.join()
        page_tally = build.tally_of_sources(len(sources))
        if num_repeated:
            page_tally["dropped: in an earlier source"] += num_repeated
        report = wiki_report(read_json(place.reading), page_tally, joined, crawl=outcomes)
        report["plan"] = plan
        draw_report(report, place.out / "report.png")
        write_json(place.report, report)
        shutil.rmtree(place.folder)
    return report


class _Build:
    """The stages of a build; each leaves alone what an earlier run has finished."""

    def __init__(self, place: WikiPlace, settings: WikiSettings, engine: Engine) -> None:
        self.place = place
        self.settings = settings
        self.engine = engine

    def read_dump(self, dumps: Sequence[Path]) -> None:
        """Read all articles, put them in order, and note which addresses they cite."""
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
        tally = _total(place.citing.tally_of(number) for number in numbers)
        order, num_repeated = put_in_order(
            place.citing,
            len(chunks),
            valid_share=settings.valid_share,
            test_share=settings.test_share,
        )
        if not len(order):
            raise DataError(f"{dumps[0]}: there are no articles in it")
        if num_repeated:
            tally["skipped: seen before"] += num_repeated
        for name, path in (("urls", place.cited), ("words", place.postings.words)):
            save_array(union(numbers_of(place.citing, number, name) for number in numbers), path)
        write_json(place.reading, tally)

    def choose_wanted(self, *, with_search: bool) -> None:
        """If no search goes over all pages, only those are read that something points to."""
        path = self.place.pages.wanted
        if with_search or path.exists():
            return
        wanted = [np.load(self.place.cited)]
        if self.place.results.exists():
            wanted.append(np.unique(SearchResults(self.place.results).keys))
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

    def missing_urls(self, num_parts: int) -> Iterator[str]:
        """Yield the cited addresses that none of the sources so far has, each once."""
        there = union(np.load(self.place.pages.keys_of(part)) for part in range(num_parts))
        cited: Keys = np.load(self.place.cited)
        missing = cited[~contains(there, cited)]
        is_new = np.ones(len(missing), bool)
        articles = CitingArticles(self.place.citing)
        for number in range(len(articles)):
            urls = articles[number].urls
            for url, key in zip(urls, keys_of(urls)):
                where = int(np.searchsorted(missing, key))
                if where < len(missing) and missing[where] == key and is_new[where]:
                    is_new[where] = False
                    yield url

    def look_up(self, num_parts: int) -> int:
        """Make the pages findable; return how many stood in an earlier source."""
        note = self.place.folder / "repeated.json"
        if not note.exists():
            shutil.rmtree(self.place.pages.lookup, ignore_errors=True)
            write_json(note, build_lookup(self.place.pages, num_parts))
        repeated: int = read_json(note)
        return repeated

    def index(self, num_parts: int) -> None:
        """Make the pages searchable."""
        place = self.place
        if place.postings.index.exists():
            return
        run_stage(
            self.engine,
            partial(count_part, pages=place.pages, place=place.postings),
            range(num_parts),
            tally_of=place.postings.counts_of,
            verb="indexing",
        )
        merge_counts(num_parts, store=PageStore(place.pages), place=place.postings)

    def join(self) -> Tally:
        """Write the clusters; return what became of all articles."""
        order = np.load(self.place.citing.order)
        parts = parts_of(np.bincount(order["split"], minlength=len(SPLITS)).tolist())
        run_stage(
            self.engine,
            partial(join_part, place=self.place, settings=self.settings),
            parts,
            tally_of=self.place.tally_in,
            verb="joining",
        )
        return _total(self.place.tally_in(part) for part in parts)

    def tally_of_sources(self, num_parts: int) -> Tally:
        """Return what became of all source pages."""
        return _total(self.place.pages.tally_of(part) for part in range(num_parts))


def _plan(
    dumps: Sequence[Path],
    pages: Sequence[Path],
    settings: WikiSettings,
    results: Path | None,
    *,
    crawls: bool,
) -> dict[str, Any]:
    """Everything that decides what comes out."""
    chunks_of(dumps)  # refused before anything is begun
    chosen = asdict(settings)
    if settings.tokenizer is not None:
        chosen["tokenizer"] = Tokenizer.load(settings.tokenizer, "paper").fingerprint
    plan = {
        "format": FORMAT,
        "settings": chosen,
        "dump": [identify(path) for path in dumps],
        "pages": [identify(path) for files in find_sources(pages) for path in files.paths],
        "results": None if results is None else fingerprint(results),
        "crawl": crawls,
    }
    plain: dict[str, Any] = json.loads(json.dumps(plan))
    return plain


def _total(tallies: Iterable[Path]) -> Tally:
    total: Tally = Counter()
    for path in tallies:
        total.update(read_json(path))
    return total


def _check_language(code: str) -> None:
    if code in ("any", "en"):  # known without loading the identifier
        return
    try:
        check_language(code)
    except ConfigError as error:
        raise InputError(
            f"--language must be any or a code such as en or de, got {code!r}"
        ) from error


def _require_readers() -> None:
    """Refuse to begin without what every worker will need."""
    from importlib.util import find_spec

    for module in ("mwparserfromhell", "fastwarc", "resiliparse", "protego", "matplotlib"):
        if find_spec(module) is None:
            raise MissingDependencyError("building from Wikipedia", "build")


@contextmanager
def _disk_errors(place: WikiPlace) -> Iterator[None]:
    """Arrays are written by libraries that raise the system's own errors."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{place.folder}: cannot be written ({error.strerror or error}); what is finished stays: "
            "run the same command again to go on"
        ) from error
