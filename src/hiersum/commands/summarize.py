"""Documents or corpora in, summaries out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hiersum.commands.counting import counted, report_count
from hiersum.config import Config
from hiersum.data.corpora import CLUSTER_SUFFIXES, read_corpus
from hiersum.data.files import write_atomically
from hiersum.data.records import BadRecords
from hiersum.errors import DataError, InputError
from hiersum.pipeline import Summarizer
from hiersum.text.documents import read_documents
from hiersum.text.formats import kind_of
from hiersum.types import Cluster, Summary


def summarize_files(
    files: Sequence[Path | str],
    title: str,
    config: Config,
    *,
    model: str | None = None,
    kind: str = "auto",
    skip_bad: bool = False,
    **options: Any,
) -> Iterator[Summary]:
    """Summarise documents as one cluster, or each cluster of cluster files."""
    if not files:
        raise InputError("nothing to summarise; give files or folders, - for stdin, or --input")
    summarizer = Summarizer.from_pretrained(model, config=config)
    cluster_files = [Path(path) for path in files if kind_of(Path(path)) in CLUSTER_SUFFIXES]
    if not cluster_files:
        if kind != "auto":
            raise InputError(f"--corpus {kind} goes with clusters, but {files[0]} is a document")
        documents, unread = read_documents(files, config.data)
        cluster = Cluster(title, tuple(documents))
        yield summarizer.summarize_cluster(cluster, unread=unread, **options)
        return
    if len(cluster_files) < len(files):
        other = next(path for path in files if Path(path) not in cluster_files)
        raise InputError(f"{cluster_files[0]} holds clusters and {other} does not; give one kind")
    for path in cluster_files:
        bad = BadRecords(skip=skip_bad)
        clusters = read_corpus(path, kind, bad=bad, config=config.data)
        if title:
            clusters = _retitled(clusters, title, path)
        number = 0
        summaries = _summaries(summarizer, clusters, path, bad, **options)
        for number, summary in enumerate(summaries, start=1):
            yield summary
        report_count(path, number, bad)


def summarize_corpus(
    source: Path,
    target: Path | None,
    config: Config,
    *,
    model: str | None = None,
    kind: str = "auto",
    skip_bad: bool = False,
    **options: Any,
) -> None:
    """Write a result line for every cluster of a corpus.

    The file gets its name when it is complete; without one, lines go to standard output.
    """
    _check_target(source, target)
    bad = BadRecords(skip=skip_bad)
    clusters = counted(
        read_corpus(source, kind, bad=bad, config=config.data), source, "summarising"
    )
    summarizer = Summarizer.from_pretrained(model, config=config)
    summaries = _summaries(summarizer, clusters, source, bad, **options)
    lines = (json.dumps(s.to_record(), ensure_ascii=False) + "\n" for s in summaries)
    number = 0
    if target is None:
        for number, line in enumerate(lines, start=1):
            print(line, end="")  # noqa: T201  results go to stdout
    else:
        with write_atomically(target) as file:
            for number, line in enumerate(lines, start=1):
                file.write(line.encode())
    report_count(source, number, bad)


def _check_target(source: Path, target: Path | None) -> None:
    """Refuse a place for results that would cost the user something."""
    if target is None:
        return
    if target.exists() and source.exists() and target.samefile(source):
        raise InputError(f"{target}: is the input too; give the results another name")
    if target.is_dir():
        raise InputError(f"{target}: is a folder; give the results a file name")
    if kind_of(target) == ".parquet":
        raise InputError(f"{target}: results are JSON Lines; give a name that ends in .jsonl")


def _summaries(
    summarizer: Summarizer,
    clusters: Iterable[Cluster],
    path: Path,
    bad: BadRecords,
    **options: Any,
) -> Iterator[Summary]:
    for cluster in clusters:
        try:
            summary = summarizer.summarize_cluster(cluster, **options)
        except InputError as error:
            bad.handle(DataError(f"{path}: cluster {cluster.id}: {error}"))
            continue
        yield summary


def _retitled(clusters: Iterable[Cluster], title: str, path: Path) -> Iterator[Cluster]:
    for number, cluster in enumerate(clusters):
        if number:
            raise InputError(
                f"{path}: holds more than one cluster, so --title cannot name them all"
            )
        yield replace(cluster, title=title)
