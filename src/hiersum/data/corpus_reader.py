"""Read the clusters of a corpus with a progress bar, and say how many had to be skipped."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hiersum.config import DataConfig
from hiersum.data.corpora import count_records, read_corpus
from hiersum.data.records import BadRecords
from hiersum.errors import DataError
from hiersum.progress import tracked
from hiersum.types import Cluster

logger = logging.getLogger(__name__)


def counted(clusters: Iterable[Cluster], path: Path, verb: str) -> Iterator[Cluster]:
    """Yield the clusters of a corpus and show the progress through it."""
    return tracked(clusters, verb, lambda: count_records(path))


def report_count(path: Path, number: int, bad: BadRecords) -> None:
    """Log how many clusters of a corpus were skipped.

    Raises:
        DataError: none was used.
    """
    skipped = ""
    if bad.count:
        skipped = f"; {bad.count} skipped, among them: " + "; ".join(bad.messages)
    if number == 0:
        raise DataError(f"{path}: there are no clusters in it{skipped}")
    if bad.count:
        logger.warning("%s: clusters used: %d%s", path, number, skipped)


def clusters_with_targets(
    corpora: Sequence[Path], config: DataConfig, *, kind: str, skip_bad: bool
) -> Iterator[Cluster]:
    """Yield the clusters of corpora; each has a summary.

    Raises:
        DataError: a corpus has no clusters, or a cluster cannot be used or has no summary.
    """
    for path in corpora:
        number, bad = 0, BadRecords(skip=skip_bad)
        for cluster in read_corpus(path, kind, bad=bad, config=config):
            if not cluster.summary:
                bad.handle(
                    DataError(
                        f"{path}: cluster {cluster.id} has no summary; give it one, or leave such "
                        "clusters out with --skip-bad"
                    )
                )
                continue
            number += 1
            yield cluster
        report_count(path, number, bad)


def count_all(corpora: Sequence[Path], limit: int = 0) -> int | None:
    """Return the number of clusters, at most `limit`; None if counting them is slow."""
    counts = [count_records(path) for path in corpora]
    if None in counts:
        return limit or None
    total = sum(filter(None, counts))
    return min(total, limit) if limit else total
