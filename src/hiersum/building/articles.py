"""Build clusters from the articles of any corpus, in parallel and resumable.

DIR/part-00000.parquet ...     the clusters, shuffled by the seed
DIR/report.json                written last: marks the build as finished
DIR/.building/                 while the build is running:
    plan.json                    inputs and settings; a run with others is refused
    reading.json                 the number of articles read
    articles.arrow  index/       the articles, and the index over them
    part-00000.json ...          the tally of each finished part
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from hiersum.building.clusters import Article, ClusterMaker, ClusterSettings, report_of
from hiersum.building.lookup import TitleSearch, count_words, hash_words, merge_counts
from hiersum.building.workplace import (
    ClusterPart,
    RowStore,
    Tally,
    Workplace,
    fingerprint,
    read_json,
    run_stage,
    save_array,
    sum_tallies,
    write_json,
    write_rows,
)
from hiersum.data.corpora import count_records, read_corpus, write_clusters
from hiersum.data.records import BadRecords
from hiersum.errors import DataError
from hiersum.parallel import Engine, LocalEngine
from hiersum.progress import tracked
from hiersum.text.paragraphs import split_document
from hiersum.types import Cluster, Document

FORMAT = 1
PART_ARTICLES = 512
"""A few seconds of work, the most a killed run repeats."""
_MORE_HITS = 4  # extra hits, because the article itself and its namesakes are dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSettings(ClusterSettings):
    """Settings of a build from articles."""

    seed: int = 1
    """Seed of the order of clusters; shuffling makes each part a random sample."""


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
    """Build the clusters of articles into a folder, or resume an interrupted build.

    Args:
        articles: corpora of articles: the summary is the lead, the documents the body.
        out: the folder; created if needed.
        settings: the build settings.
        collection: further articles to search; they get no clusters of their own.
        kind: the kind of the corpora.
        skip_bad: count and skip articles that cannot be used.
        workers: the number of processes, if no engine is given.
        engine: runs the work.

    Returns:
        The report, which is also in `out/report.json`.

    Raises:
        InputError: the folder holds something else or cannot be written to.
        DataError: an article cannot be used, or there is none.
    """
    place = Workplace(out)
    plan = {
        "format": FORMAT,
        "settings": settings.as_plan(),
        "articles": [fingerprint(path) for path in articles],
        "collection": [fingerprint(path) for path in collection],
    }

    def build() -> dict[str, Any]:
        reading_path = place.folder / "reading.json"
        if not reading_path.exists():
            bad = BadRecords(skip=skip_bad)
            write_json(reading_path, _gather(place, articles, collection, kind, bad))
        reading: dict[str, Any] = read_json(reading_path)
        num_articles = reading["targets"]
        if not (place.folder / "index").exists():
            _index(place, num_articles)
        parts = [
            ClusterPart(f"part-{number:05}", start, min(start + PART_ARTICLES, num_articles))
            for number, start in enumerate(range(0, num_articles, PART_ARTICLES))
        ]
        run_stage(
            engine or LocalEngine(workers),
            partial(build_part, place=place, settings=settings),
            parts,
            tally_of=place.tally_of,
            verb="building",
        )
        tally = Counter(reading["tally"]) + sum_tallies(map(place.tally_of, parts))
        return {**report_of(tally), "parts": len(parts)}

    return place.build(plan, build)


def read_articles(paths: Iterable[Path], *, kind: str, bad: BadRecords) -> Iterator[Article]:
    """Yield the articles of corpora."""
    for path in paths:
        for cluster in read_corpus(path, kind, bad=bad):
            bodies = [split_document(document) for document in cluster.documents]
            paragraphs = tuple(text for body in bodies for text in body)
            yield Article(cluster.id, cluster.title, cluster.summary or "", paragraphs)


def write_articles(articles: Iterable[Article], path: Path) -> None:
    """Write articles as an Arrow file for a `RowStore`."""
    import pyarrow as pa

    text = pa.string()
    schema = pa.schema({"id": text, "title": text, "lead": text, "paragraphs": pa.list_(text)})
    rows = ({name: getattr(article, name) for name in schema.names} for article in articles)
    write_rows(rows, schema, path)


def _article(row: dict[str, Any]) -> Article:
    return Article(row["id"], row["title"], row["lead"], tuple(row["paragraphs"]))


def _gather(
    place: Workplace,
    articles: Sequence[Path],
    collection: Sequence[Path],
    kind: str,
    bad: BadRecords,
) -> dict[str, Any]:
    """Write all articles to one file, each id once, starting with those that get a cluster."""
    tally: Tally = Counter()
    ids: set[str] = set()
    num_targets = 0

    def read() -> Iterator[Article]:
        nonlocal num_targets
        for article in read_articles(articles, kind=kind, bad=bad):
            if article.id in ids:
                tally.update({"articles": 1, "dropped: seen before": 1})
                continue
            ids.add(article.id)
            num_targets += 1
            yield article
        tally.update({"articles": bad.count, "dropped: unreadable": bad.count})
        for article in read_articles(collection, kind=kind, bad=bad):
            if article.id not in ids:
                ids.add(article.id)
                yield article

    counts = [count_records(path) for path in (*articles, *collection)]
    total = None if None in counts else sum(filter(None, counts))
    write_articles(tracked(read(), "reading", total), place.folder / "articles.arrow")
    if not num_targets:
        raise DataError(f"{articles[0]}: contains no articles")
    return {"targets": num_targets, "tally": tally}


def _index(place: Workplace, num_targets: int) -> None:
    """Make the articles searchable by the titles of those that get a cluster."""
    store = RowStore(place.folder / "articles.arrow")
    titles = (row["title"] for row in islice(store, num_targets))
    save_array(hash_words(titles), place.folder / "words.npy")
    texts = (" ".join((row["title"], *row["paragraphs"])) for row in store)
    count_words(tracked(texts, "indexing", len(store)), 0, place)
    merge_counts(place, [np.arange(len(store), dtype=np.uint64)])


def build_part(part: ClusterPart, *, place: Workplace, settings: BuildSettings) -> None:
    """Write the clusters of one part, then its tally: a part with a tally is finished."""
    tally: Tally = Counter()
    clusters = _open_builder(place, settings).clusters(range(part.start, part.stop), tally)
    write_clusters(clusters, place.clusters_of(part))
    write_json(place.tally_of(part), tally)


class _Builder:
    """Makes clusters in an order determined by the seed."""

    def __init__(self, place: Workplace, settings: BuildSettings) -> None:
        self._rows = RowStore(place.folder / "articles.arrow")
        self._search = TitleSearch(place)
        self._num_wanted = settings.search
        self._maker = ClusterMaker(settings)
        self._order = list(range(read_json(place.folder / "reading.json")["targets"]))
        random.Random(settings.seed).shuffle(self._order)

    def clusters(self, numbers: range, tally: Tally) -> Iterator[Cluster]:
        for number in numbers:
            article = _article(self._rows[self._order[number]])
            if cluster := self._maker.make(article, partial(self._documents_of, article), tally):
                yield cluster

    def _documents_of(self, article: Article) -> list[Document]:
        """Return the bodies of an article and of the best matches for its title."""
        # An article in two files may have two ids, but only one title.
        found = {article.title.casefold(): article}
        if self._num_wanted:
            for row in self._search.find(article.title, self._num_wanted + _MORE_HITS):
                hit = _article(self._rows[row])
                found.setdefault(hit.title.casefold(), hit)
        sources = list(found.values())[: 1 + self._num_wanted]
        return [Document.from_paragraphs(source.paragraphs, source.title) for source in sources]


@lru_cache(maxsize=1)
def _open_builder(place: Workplace, settings: BuildSettings) -> _Builder:
    """Open the files of a build once per process."""
    return _Builder(place, settings)
