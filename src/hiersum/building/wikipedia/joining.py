"""Articles, cited pages and search results become clusters: one part of the work at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from hiersum.building.articles import Article
from hiersum.building.clusters import without_clones
from hiersum.building.guard import Limits
from hiersum.building.pages.addresses import keys_of
from hiersum.building.pages.postings import PageSearch, PostingsFolder
from hiersum.building.pages.store import Page, PageFolder, PageStore
from hiersum.building.report import (
    SAMPLE_PER_PART,
    Tally,
    count_cluster,
    count_dropped,
    measure_sample,
)
from hiersum.building.targets import TargetRules, choose_target
from hiersum.building.wikipedia.articles import (
    SPLITS,
    ArticleFolder,
    CitingArticle,
    CitingArticles,
)
from hiersum.building.wikipedia.report import count_sizes
from hiersum.building.wikipedia.results import SearchResults
from hiersum.building.workplace import Workplace, write_json
from hiersum.config import DataConfig
from hiersum.data.corpora import write_clusters
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster, Document

PART_CLUSTERS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiSettings:
    """What clusters are to be like."""

    search: int = 10
    """Pages that a search adds to the cited ones."""
    language: str = "en"
    """Pages in other languages are dropped; `any` keeps all."""
    target: TargetRules = field(default_factory=TargetRules)
    valid_share: float = 0.023
    test_share: float = 0.023
    """As in the paper: 38,144 and 38,205 of 1,655,709."""
    tokenizer: Path | None = None
    """Counts tokens for the report."""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class WikiPlace(Workplace):
    """Where the files of a build lie."""

    @property
    def pages(self) -> PageFolder:
        return PageFolder(self.folder)

    @property
    def citing(self) -> ArticleFolder:
        return ArticleFolder(self.folder)

    @property
    def postings(self) -> PostingsFolder:
        return PostingsFolder(self.folder)

    @property
    def results(self) -> Path:
        """A user's search results."""
        return self.folder / "results"

    @property
    def cited(self) -> Path:
        """The keys of all cited addresses."""
        return self.folder / "cited.npy"

    @property
    def reading(self) -> Path:
        """The tally of the dump; written when all of it is read and in order."""
        return self.folder / "reading.json"

    def clusters_in(self, part: WikiPart) -> Path:
        return self.out / SPLITS[part.split] / f"part-{part.number:05}.parquet"

    def tally_in(self, part: WikiPart) -> Path:
        return self.folder / f"{SPLITS[part.split]}-{part.number:05}.json"


@dataclass(frozen=True, slots=True)
class WikiPart:
    """Articles of one split that follow each other."""

    split: int
    number: int
    start: int
    stop: int


def parts_of(num_in_split: list[int]) -> list[WikiPart]:
    """Cut the articles of each split into parts."""
    parts = []
    first = 0
    for split, number in enumerate(num_in_split):
        for part, start in enumerate(range(first, first + number, PART_CLUSTERS)):
            stop = min(start + PART_CLUSTERS, first + number)
            parts.append(WikiPart(split, part, start, stop))
        first += number
    return parts


def join_part(part: WikiPart, *, place: WikiPlace, settings: WikiSettings) -> None:
    """Write the clusters of one part, then its tally: a part with a tally is finished."""
    library = _open_library(place, settings)
    tally: Tally = Counter()
    place.clusters_in(part).parent.mkdir(exist_ok=True)
    clusters = library.clusters(range(part.start, part.stop), tally)
    number = write_clusters(clusters, place.clusters_in(part))
    tally[f"split: {SPLITS[part.split]}"] = number
    write_json(place.tally_in(part), tally)


class Library:
    """Turns articles into clusters of the pages that they cite and that a search finds."""

    def __init__(self, place: WikiPlace, settings: WikiSettings) -> None:
        self._articles = CitingArticles(place.citing)
        self._pages = PageStore(place.pages)
        self._results = SearchResults(place.results) if place.results.exists() else None
        self._search = PageSearch(place.postings) if place.postings.index.exists() else None
        self._settings = settings
        path = settings.tokenizer
        self._tokenizer = None if path is None else Tokenizer.load(path, "paper")
        self._clone_recall = DataConfig().clone_recall

    def clusters(self, numbers: range, tally: Tally) -> Iterator[Cluster]:
        """Yield the clusters of some articles, and count in the tally what was made and dropped."""
        for number in numbers:
            article = self._articles[number]
            tally["articles"] += 1
            target = choose_target(
                Article(article.id, article.title, article.lead, ()), self._settings.target
            )
            if target.dropped:
                tally.update(count_dropped(target.dropped))
                continue
            pages = self._pages_of(article, tally)
            if not pages:
                tally.update(count_dropped("no page found"))
                continue
            documents = tuple(Document.from_paragraphs(p.paragraphs, p.title, p.url) for p in pages)
            cluster, num_clones = without_clones(
                Cluster(article.title, documents, target.text, article.id),
                clone_recall=self._clone_recall,
            )
            if not cluster.documents:
                tally.update(count_dropped("nothing left but clones"))
                continue
            if tally["clusters"] < SAMPLE_PER_PART:
                tally.update(measure_sample(cluster, self._tokenizer))
            tally.update(count_cluster(cluster, num_clones=num_clones))
            tally.update(count_sizes(cluster))
            yield cluster

    def _pages_of(self, article: CitingArticle, tally: Tally) -> list[Page]:
        """Return the cited pages, then those that a search found, no two with the same words."""
        cited = self._pages.find(keys_of(article.urls))
        found = self._searched(article.title)
        tally["cited"] += len(cited)
        tally["cited and found"] += sum(page is not None for page in cited)
        tally["searched and found"] += len(found)
        kept: dict[int, Page] = {}
        urls: set[str] = set()
        for page in (*cited, *found):
            if page is None or page.url in urls:
                continue
            urls.add(page.url)
            if page.digest in kept:
                tally["duplicate pages"] += 1
            kept.setdefault(page.digest, page)
        return list(kept.values())

    def _searched(self, title: str) -> list[Page]:
        if self._results is not None:
            keys = self._results.of(title, self._settings.search)
            return [page for page in self._pages.find(keys) if page is not None]
        if self._search is None:
            return []
        return [self._pages.at(where) for where in self._search.find(title, self._settings.search)]


@lru_cache(maxsize=1)
def _open_library(place: WikiPlace, settings: WikiSettings) -> Library:
    """Open the files of a build once per process."""
    return Library(place, settings)
