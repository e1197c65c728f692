"""Clusters whose summary is known, for what learns from it or is measured by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from hiersum.commands.counting import report_count
from hiersum.config import DataConfig
from hiersum.data.corpora import count_records, read_corpus
from hiersum.data.records import BadRecords
from hiersum.errors import DataError
from hiersum.types import Cluster


def clusters_with_targets(
    corpora: Sequence[Path], config: DataConfig, *, kind: str, skip_bad: bool
) -> Iterator[Cluster]:
    """Yield the clusters of corpora.

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
    """Return how many clusters there are at most, where that is cheap to tell; for progress bars."""
    counts = [count_records(path) for path in corpora]
    if None in counts:
        return limit or None
    total = sum(filter(None, counts))
    return min(total, limit) if limit else total
