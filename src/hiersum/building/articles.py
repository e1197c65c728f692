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
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from hiersum.building.clusters import Article, ClusterSettings, report_of, write_part
from hiersum.building.lookup import TitleSearch, count_words, hash_words, merge_counts
from hiersum.building.workplace import (
    ClusterPart,
    RowStore,
    Tally,
    Workplace,
    parts_between,
    run_stage,
    save_array,
    write_rows,
)
from hiersum.data.corpora import count_all, read_corpus
from hiersum.data.files import checksum, read_json, write_json
from hiersum.data.records import BadRecords
from hiersum.errors import DataError
from hiersum.jobs.parallel import Engine, LocalEngine
from hiersum.jobs.progress import tracked
from hiersum.text.paragraphs import split_document
from hiersum.types import Document

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
    engine: Engine | None = None,
) -> dict[str, Any]:
    """Build the clusters of articles into a folder, or resume an interrupted build.

    Articles are corpora: the summary is the lead, the documents the body. Those of the collection
    are only searched. Returns the report, which is also in `out/report.json`.
    """
    place = Workplace(out)
    plan = {
        "format": FORMAT,
        "settings": asdict(settings),
        "articles": [checksum([path]) for path in articles],
        "collection": [checksum([path]) for path in collection],
    }

    def build() -> dict[str, Any]:
        reading_path = place.folder / "reading.json"
        if not reading_path.exists():
            bad = BadRecords(skip=skip_bad)
            write_json(reading_path, _gather(place, articles, collection, kind, bad))
        reading: dict[str, Any] = read_json(reading_path)
        if not (place.folder / "index").exists():
            _index(place, reading["targets"])
        parts = parts_between(0, reading["targets"], PART_ARTICLES)
        tally = run_stage(
            engine or LocalEngine(),
            partial(build_part, place=place, settings=settings),
            parts,
            tally_of=place.tally_of,
            verb="building",
        )
        return {**report_of(tally + Counter(reading["tally"])), "parts": len(parts)}

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

    total = count_all([*articles, *collection])
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
    """Write the clusters of one part."""
    write_part(part, _open_collection(place, settings), settings.target, place)


class _Collection:
    """Articles in an order determined by the seed, and the bodies that a search finds."""

    def __init__(self, place: Workplace, settings: BuildSettings) -> None:
        self._rows = RowStore(place.folder / "articles.arrow")
        self._search = TitleSearch(place)
        self._num_wanted = settings.search
        self._order = list(range(read_json(place.folder / "reading.json")["targets"]))
        random.Random(settings.seed).shuffle(self._order)

    def article(self, number: int) -> Article:
        return self._at(self._order[number])

    def documents_of(self, article: Article, tally: Tally) -> list[Document]:
        """Return the bodies of an article and of the best matches for its title."""
        # An article in two files may have two ids, but only one title.
        found = {article.title.casefold(): article}
        if self._num_wanted:
            for row in self._search.find(article.title, self._num_wanted + _MORE_HITS):
                hit = self._at(row)
                found.setdefault(hit.title.casefold(), hit)
        sources = list(found.values())[: 1 + self._num_wanted]
        return [Document.from_paragraphs(source.paragraphs, source.title) for source in sources]

    def _at(self, row: int) -> Article:
        found = self._rows[row]
        return Article(found["id"], found["title"], found["lead"], tuple(found["paragraphs"]))


@lru_cache(maxsize=1)
def _open_collection(place: Workplace, settings: BuildSettings) -> _Collection:
    """Open the files of a build once per process."""
    return _Collection(place, settings)
