"""One part of the work: some articles become one file of clusters and its tally."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from hiersum.building.articles import Article, ArticleStore
from hiersum.building.clusters import build_cluster
from hiersum.building.report import (
    SAMPLE_PER_PART,
    Tally,
    count_cluster,
    count_dropped,
    measure_sample,
)
from hiersum.building.search import ArticleSearch
from hiersum.building.targets import TargetRules, choose_target
from hiersum.building.workplace import Workplace
from hiersum.config import DataConfig
from hiersum.data.corpora import write_clusters
from hiersum.data.files import write_atomically
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster

PART_ARTICLES = 512
"""Articles of one part: a few seconds of work, and what a killed run has to do again."""
_MORE_HITS = 4  # asked for besides, because the article itself and its namesakes are left out


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSettings:
    """What clusters are to be like."""

    search: int = 10
    """Further articles in a cluster, the best for its title."""
    target: TargetRules = field(default_factory=TargetRules)
    seed: int = 1
    """Draws the order of clusters, so that each part is a fair sample."""
    tokenizer: Path | None = None
    """Counts tokens for the report."""


def build_part(part: int, *, place: Workplace, settings: BuildSettings, num_articles: int) -> None:
    """Write the clusters of one part, then its tally: a part with a tally is finished."""
    builder = _open_builder(place, settings)
    rows = _order(num_articles, settings.seed)[part * PART_ARTICLES :][:PART_ARTICLES]
    tally: Tally = Counter()
    write_clusters(builder.clusters(rows, tally), place.clusters_of(part))
    with write_atomically(place.tally_of(part)) as file:
        file.write(json.dumps(tally).encode())


class ClusterBuilder:
    """Turns rows of a store into clusters."""

    def __init__(
        self,
        articles: ArticleStore,
        search: ArticleSearch,
        settings: BuildSettings,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        self.articles = articles
        self.search = search
        self.settings = settings
        self.tokenizer = tokenizer
        self.clone_recall = DataConfig().clone_recall

    def clusters(self, rows: tuple[int, ...], tally: Tally) -> Iterator[Cluster]:
        """Yield the clusters of some articles, and count in the tally what was made and dropped."""
        for row in rows:
            article = self.articles[row]
            target = choose_target(article, self.settings.target)
            tally["articles"] += 1
            tally["supported"] += target.is_supported
            if target.dropped:
                tally.update(count_dropped(target.dropped))
                continue
            cluster, num_clones = build_cluster(
                article, target.text, self.found_for(article), clone_recall=self.clone_recall
            )
            if not cluster.documents:
                tally.update(count_dropped("nothing left but clones"))
                continue
            if tally["clusters"] < SAMPLE_PER_PART:
                tally.update(measure_sample(cluster, self.tokenizer))
            tally.update(count_cluster(cluster, num_clones=num_clones))
            yield cluster

    def found_for(self, article: Article) -> list[Article]:
        """Return the best other articles for an article's title."""
        num_wanted = self.settings.search
        if not num_wanted:
            return []
        # An article that stands in two files may have two ids; its title gives it away.
        titles = {article.title.casefold()}
        found: list[Article] = []
        for row in self.search.find(article.title, num_wanted + _MORE_HITS):
            hit = self.articles[row]
            if hit.title.casefold() not in titles and len(found) < num_wanted:
                titles.add(hit.title.casefold())
                found.append(hit)
        return found


@lru_cache(maxsize=1)
def _open_builder(place: Workplace, settings: BuildSettings) -> ClusterBuilder:
    """Open the files of a build once per process."""
    path = settings.tokenizer
    tokenizer = None if path is None else Tokenizer.load(path, "paper")
    return ClusterBuilder(
        ArticleStore(place.articles), ArticleSearch(place.index), settings, tokenizer
    )


@lru_cache(maxsize=1)
def _order(num_articles: int, seed: int) -> tuple[int, ...]:
    rows = list(range(num_articles))
    random.Random(seed).shuffle(rows)
    return tuple(rows)
