"""The clusters of an experiment: drawn from corpora, and built from articles where that is wanted."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hiersum.building.articles import BuildSettings, build_clusters
from hiersum.data.corpora import count_records, read_corpus, write_clusters
from hiersum.data.records import BadRecords
from hiersum.progress import tracked
from hiersum.reproduction.experiment import CorpusSettings
from hiersum.types import Cluster


def draw(paths: Sequence[Path], number: int, out: Path, settings: CorpusSettings) -> Path:
    """Write so many records of corpora, drawn at random, as a cluster file; all if there are fewer."""
    if out.exists():
        return out
    bad = BadRecords(skip=settings.skip_bad)
    counts = [count_records(path) for path in paths]
    known = sum(filter(None, counts)) if None not in counts else None
    total = sum(1 for _ in _read(paths, bad)) if known is None else known
    chosen = set(random.Random(settings.seed).sample(range(total), min(number, total)))
    records = tracked(_read(paths, bad), "drawing", total)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_clusters((record for n, record in enumerate(records) if n in chosen), out)
    return out


def _read(paths: Sequence[Path], bad: BadRecords) -> Iterator[Cluster]:
    for path in paths:
        yield from read_corpus(path, bad=bad)


def build_split(
    articles: Sequence[Path],
    collection: Sequence[Path],
    out: Path,
    settings: CorpusSettings,
    *,
    workers: int,
) -> dict[str, Any]:
    """Build the clusters of a split, or go on with it; `collection` is searched besides its own."""
    report = build_clusters(
        articles,
        out,
        BuildSettings(search=settings.search, seed=settings.seed),
        collection=collection,
        skip_bad=settings.skip_bad,
        workers=workers,
    )
    return {name: value for name, value in report.items() if name != "plan"}


def count_all(paths: Sequence[Path], limit: int) -> int:
    """Return about how many records there are, for estimates."""
    counts = [count_records(path) or 0 for path in paths]
    return min(sum(counts), limit) if limit else sum(counts)
