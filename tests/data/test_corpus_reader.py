"""Clusters without a summary are refused or counted, and empty corpora are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from hiersum.config import DataConfig
from hiersum.data.corpora import write_clusters
from hiersum.data.corpus_reader import clusters_with_targets, count_all
from hiersum.errors import DataError
from hiersum.types import Cluster, Document

WITH = Cluster("a", (Document("text"),), "summary", "with")
WITHOUT = Cluster("a", (Document("text"),), None, "without")


def read(path: Path, *, skip_bad: bool = False) -> list[str]:
    clusters = clusters_with_targets([path], DataConfig(), kind="auto", skip_bad=skip_bad)
    return [cluster.id for cluster in clusters]


def test_a_cluster_without_a_summary_is_refused_or_skipped(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    write_clusters([WITH, WITHOUT, WITH], path)
    with pytest.raises(DataError, match=r"c\.jsonl: cluster without has no summary; give it one"):
        read(path)
    assert read(path, skip_bad=True) == ["with", "with"]


def test_a_corpus_of_nothing_but_such_clusters_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    write_clusters([WITHOUT], path)
    with pytest.raises(DataError, match="there are no clusters in it; 1 skipped"):
        read(path, skip_bad=True)


def test_a_limit_bounds_the_count(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    write_clusters([WITH] * 3, path)
    assert (count_all([path, path]), count_all([path], 2), count_all([path], 9)) == (6, 2, 3)
