"""Articles in, a folder of cluster files and a report out: in parallel, and resumable at any moment.

    DIR/part-00000.parquet ...     the clusters, in an order that the seed draws
    DIR/report.json                written last: when it is there, the work is done
    DIR/.building/                 while the work lasts:
        plan.json                    what is built from what; another plan is refused
        articles.arrow  index/       the articles, and the search over them
        part-00000.json ...          the tally of each finished part

How a killed run goes on is told in `workplace.py`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from hiersum.building.articles import Article, ArticleStore, read_articles, write_articles
from hiersum.building.parts import PART_ARTICLES, BuildSettings, build_part
from hiersum.building.report import Tally, report_of
from hiersum.building.search import build_index
from hiersum.building.workplace import (
    Workplace,
    claim,
    fingerprint,
    finished_report,
    make_folder,
    read_json,
    run_stage,
    write_json,
)
from hiersum.data.corpora import count_records
from hiersum.data.files import alone_in
from hiersum.data.records import BadRecords
from hiersum.errors import DataError, InputError
from hiersum.parallel import Engine, LocalEngine
from hiersum.progress import tracked
from hiersum.text.tokenizer import Tokenizer

FORMAT = 1


def build_clusters(
    articles: Sequence[Path],
    out: Path,
    settings: BuildSettings,
    *,
    collection: Sequence[Path] = (),
    kind: str = "auto",
    skip_bad: bool = False,
    workers: int = 1,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """Build the clusters of articles into a folder, or go on where a run was interrupted.

    Args:
        articles: corpora whose clusters are articles: the summary is the lead, the documents the body.
        out: the folder; made if need be.
        settings: what clusters are to be like.
        collection: further articles to search, which get no cluster of their own.
        kind: the kind of the corpora.
        skip_bad: count and skip articles that cannot be used.
        workers: how many processes work, where no engine is given.
        engine: where the work is done.

    Returns:
        The report, which is also in `out/report.json`.

    Raises:
        InputError: the folder holds something else or cannot be written to.
        DataError: an article cannot be used, or there is none.
    """
    place = Workplace(out)
    plan = _plan(articles, collection, settings)
    if (finished := finished_report(place, plan)) is not None:
        return finished
    make_folder(place)
    with alone_in(place.out):
        claim(place, plan)
        reading = _prepare(place, articles, collection, kind, BadRecords(skip=skip_bad))
        num_parts = -(-reading["targets"] // PART_ARTICLES)
        run_stage(
            engine or LocalEngine(workers),
            partial(build_part, place=place, settings=settings, num_articles=reading["targets"]),
            range(num_parts),
            tally_of=place.tally_of,
            verb="building",
        )
        tally: Tally = Counter(reading["tally"])
        for part in range(num_parts):
            tally.update(read_json(place.tally_of(part)))
        report = {**report_of(tally), "parts": num_parts, "plan": plan}
        write_json(place.report, report)
        shutil.rmtree(place.folder)
    return report


def _plan(
    articles: Sequence[Path], collection: Sequence[Path], settings: BuildSettings
) -> dict[str, Any]:
    """Everything that decides what comes out."""
    chosen = asdict(settings)
    if settings.tokenizer is not None:
        chosen["tokenizer"] = Tokenizer.load(settings.tokenizer, "paper").fingerprint
    return {
        "format": FORMAT,
        "settings": chosen,
        "articles": [fingerprint(path) for path in articles],
        "collection": [fingerprint(path) for path in collection],
    }


def _prepare(
    place: Workplace,
    articles: Sequence[Path],
    collection: Sequence[Path],
    kind: str,
    bad: BadRecords,
) -> dict[str, Any]:
    """Gather all articles in one file and index them; what an earlier run did is kept.

    Returns:
        How many of the articles get a cluster (`targets`: they stand first), and the tally of others.
    """
    if not place.reading.exists():
        gathered = _Gathered(bad)
        sources = gathered.read(articles, collection, kind)
        total = _count([*articles, *collection])
        write_articles(tracked(sources, "reading", total), place.articles)
        if not gathered.num_targets:
            raise DataError(f"{articles[0]}: there are no articles in it")
        write_json(place.reading, {"targets": gathered.num_targets, "tally": gathered.tally})
    reading: dict[str, Any] = read_json(place.reading)
    if not place.index.exists():
        store = ArticleStore(place.articles)
        titles = (article.title for article in islice(store, reading["targets"]))
        try:
            build_index(tracked(store, "indexing", len(store)), titles, place.index)
        except OSError as error:
            raise InputError(
                f"{place.index}: cannot be written ({error.strerror or error})"
            ) from error
    return reading


class _Gathered:
    """Articles of several files, each id once, those that get a cluster first."""

    def __init__(self, bad: BadRecords) -> None:
        self.bad = bad
        self.tally: Tally = Counter()
        self.num_targets = 0

    def read(
        self, articles: Sequence[Path], collection: Sequence[Path], kind: str
    ) -> Iterator[Article]:
        ids: set[str] = set()
        for article in read_articles(articles, kind=kind, bad=self.bad):
            if article.id in ids:
                self.tally.update({"articles": 1, "dropped: seen before": 1})
                continue
            ids.add(article.id)
            self.num_targets += 1
            yield article
        if self.bad.count:
            self.tally.update({"articles": self.bad.count, "dropped: unreadable": self.bad.count})
        for article in read_articles(collection, kind=kind, bad=self.bad):
            if article.id not in ids:
                ids.add(article.id)
                yield article


def _count(paths: Sequence[Path]) -> int | None:
    counts = [count_records(path) for path in paths]
    return None if None in counts else sum(filter(None, counts))
