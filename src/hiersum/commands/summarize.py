"""Documents or corpora in, summaries out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from hiersum.commands.batch import summarize_to_file
from hiersum.commands.counting import counted, report_count
from hiersum.config import Config
from hiersum.data.corpora import CLUSTER_SUFFIXES, read_corpus
from hiersum.data.records import BadRecords
from hiersum.errors import DataError, InputError
from hiersum.parallel import Engine, in_order
from hiersum.pipeline import Failure, Summarizer
from hiersum.reporting.html import result_with_report, write_results
from hiersum.text.documents import read_documents
from hiersum.text.formats import kind_of
from hiersum.types import Cluster, Summary

_MAX_REPORTED = 50  # summaries in one report


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
    summarizer = Summarizer.from_pretrained(model, config=config, system=options.get("system"))
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


def keep_report(
    summaries: Iterable[Summary], target: Path, files: Sequence[Path | str], config: Config
) -> Iterator[Summary]:
    """Yield summaries as they come, and at their end write a report of them.

    Raises:
        InputError: the place is no good for a report; said before anything is summarised.
    """
    _check_report_place(target, files)
    return _reported(summaries, target, config)


def _reported(summaries: Iterable[Summary], target: Path, config: Config) -> Iterator[Summary]:
    results = []
    number = 0
    for number, summary in enumerate(summaries, start=1):
        if number <= _MAX_REPORTED:
            results.append(result_with_report(summary, config))
        yield summary
    write_results(results, target, num_summaries=number)


def _check_report_place(target: Path, files: Sequence[Path | str]) -> None:
    """Refuse a place for a report that would cost the user something, or mislead the next run."""
    if target.is_dir():
        raise InputError(f"{target}: is a folder; give the report a file name")
    if not target.resolve().parent.is_dir():
        raise InputError(f"{target}: cannot be written; make its folder first")
    for source in map(Path, files):
        if target.exists() and source.exists() and target.samefile(source):
            raise InputError(f"{target}: is an input too; give the report another name")
        if source.is_dir() and target.resolve().is_relative_to(source.resolve()):
            raise InputError(
                f"{target}: lies in {source}, which is summarised, so that it would be read as a "
                "document next time; write the report elsewhere"
            )


def summarize_corpus(
    source: Path,
    target: Path | None,
    config: Config,
    *,
    model: str | None = None,
    kind: str = "auto",
    skip_bad: bool = False,
    engine: Engine | None = None,
    **options: Any,
) -> None:
    """Write a result for every cluster of a corpus: to a file, or as lines to standard output.

    A run into a file that was interrupted goes on where it was, and a cluster that cannot be summarised
    does not end it.

    Raises:
        DataError: some clusters could not be summarised; the others are in the file all the same.
    """
    _check_target(source, target)
    if target is not None and (target.is_file() or not target.exists()):
        summarize_to_file(
            source,
            target,
            config,
            model=model,
            kind=kind,
            skip_bad=skip_bad,
            engine=engine,
            **options,
        )
        return
    if engine is not None:
        raise InputError("--engine and --workers go with --input and an --output that is a file")
    bad = BadRecords(skip=skip_bad)
    clusters = counted(
        read_corpus(source, kind, bad=bad, config=config.data), source, "summarising"
    )
    summarizer = Summarizer.from_pretrained(model, config=config, system=options.get("system"))
    number = 0
    with nullcontext() if target is None else target.open("wb") as file:  # a device or a pipe
        summaries = _summaries(summarizer, clusters, source, bad, **options)
        for number, summary in enumerate(summaries, start=1):
            line = json.dumps(summary.to_record(), ensure_ascii=False) + "\n"
            if file is None:
                print(line, end="")  # noqa: T201  results go to stdout
            else:
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


def _summaries(
    summarizer: Summarizer,
    clusters: Iterable[Cluster],
    path: Path,
    bad: BadRecords,
    **options: Any,
) -> Iterator[Summary]:
    for outcome in in_order(summarizer.summarize_each(clusters, **options)):
        if isinstance(outcome, Failure):
            bad.handle(DataError(f"{path}: cluster {outcome.id}: {outcome.error}"))
        else:
            yield outcome


def _retitled(clusters: Iterable[Cluster], title: str, path: Path) -> Iterator[Cluster]:
    for number, cluster in enumerate(clusters):
        if number:
            raise InputError(
                f"{path}: holds more than one cluster, so --title cannot name them all"
            )
        yield replace(cluster, title=title)
