"""How far through a corpus the work is, and what of it was left out."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

from hiersum.data.corpora import count_records
from hiersum.data.records import BadRecords
from hiersum.errors import DataError
from hiersum.progress import tracked
from hiersum.types import Cluster

logger = logging.getLogger(__name__)


def counted(clusters: Iterable[Cluster], path: Path, verb: str) -> Iterator[Cluster]:
    """Pass the clusters of a corpus on, and show how far through it they are."""
    return tracked(clusters, verb, lambda: count_records(path))


def report_count(path: Path, number: int, bad: BadRecords) -> None:
    if number == 0:
        raise DataError(f"{path}: there are no clusters in it{_skipped(bad)}")
    if bad.count:
        logger.warning("%s: clusters used: %d%s", path, number, _skipped(bad))


def _skipped(bad: BadRecords) -> str:
    if not bad.count:
        return ""
    return f"; {bad.count} skipped, among them: " + "; ".join(bad.messages)
