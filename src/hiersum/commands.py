"""The work behind the commands: files and corpora in, summaries and facts out."""

from __future__ import annotations

import json
import logging
import os
import platform
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from hiersum import __version__
from hiersum.config import Config
from hiersum.data.corpora import CLUSTER_SUFFIXES, count_records, read_corpus
from hiersum.data.files import kind_of, write_atomically
from hiersum.data.records import BadRecords
from hiersum.errors import DataError, InputError
from hiersum.pipeline import Summarizer
from hiersum.text.documents import read_documents
from hiersum.text.duplicates import merge_duplicates, remove_clones
from hiersum.text.paragraphs import split_document
from hiersum.text.words import count_words
from hiersum.types import Cluster, Paragraph, Summary

logger = logging.getLogger(__name__)

_PACKAGES = ("torch", "sentencepiece", "safetensors", "numpy", "scipy", "pyarrow", "rapidfuzz")


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
        _report_count(path, number, bad)


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
    clusters = _counted(
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
    _report_count(source, number, bad)


def describe_corpus(path: Path, config: Config, *, kind: str, skip_bad: bool) -> dict[str, Any]:
    """Count what a corpus holds: clusters, documents, paragraphs, duplicates, clones of the target."""
    bad = BadRecords(skip=skip_bad)
    num_documents: list[int] = []
    num_paragraphs: list[int] = []
    paragraph_words: list[int] = []
    target_words: list[int] = []
    num_duplicates = num_clones = 0
    for cluster in _counted(read_corpus(path, kind, bad=bad), path, "reading"):
        texts = [split_document(d, config.data.max_paragraph_words) for d in cluster.documents]
        paragraphs = [
            Paragraph(text, n, i) for n, split in enumerate(texts) for i, text in enumerate(split)
        ]
        merged = merge_duplicates(paragraphs, near=config.data.near_duplicate)
        num_documents.append(len(cluster.documents))
        num_paragraphs.append(len(paragraphs))
        paragraph_words += [count_words(paragraph.text) for paragraph in paragraphs]
        num_duplicates += len(paragraphs) - len(merged)
        num_clones += remove_clones(cluster, texts, recall=config.data.clone_recall)[1]
        if cluster.summary:
            target_words.append(count_words(cluster.summary))
    _report_count(path, len(num_documents), bad)
    return {
        "clusters": len(num_documents),
        "skipped": bad.count,
        "documents per cluster": _mean(num_documents),
        "paragraphs per cluster": _mean(num_paragraphs),
        "words per paragraph": _mean(paragraph_words),
        "words per target": _mean(target_words),
        "clusters with a target": len(target_words),
        "duplicate paragraphs": num_duplicates,
        "clone paragraphs": num_clones,
    }


def corpus_texts(path: Path, *, kind: str = "auto") -> Iterator[str]:
    """Yield every text of a corpus: titles, documents and targets."""
    for cluster in _counted(read_corpus(path, kind), path, "reading"):
        yield cluster.title
        yield from (document.text for document in cluster.documents)
        yield cluster.summary or ""


def describe_installation() -> dict[str, Any]:
    """Say what runs here: versions, devices, and the models that were found."""
    import torch

    devices = ["cpu"] + [f"cuda:{n}" for n in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        devices.append("mps")
    return {
        "hiersum": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
        "devices": devices,
        "cores": os.cpu_count(),
        "systems": Summarizer().systems,
        "models": _found_models(),
    }


def _found_models() -> list[str]:
    """Model folders inside the package; an installation may hold none."""
    folder = Path(__file__).parent / "pretrained"
    return sorted(str(path.parent) for path in folder.glob("**/config.json"))


def _check_target(source: Path, target: Path | None) -> None:
    """Refuse a place for results that would cost the user something."""
    if target is None:
        return
    if target.exists() and target.samefile(source):
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


def _counted(clusters: Iterable[Cluster], path: Path, verb: str) -> Iterator[Cluster]:
    """Pass clusters on, and show on stderr how many there have been and how long the rest takes."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from clusters
        return
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(verb, total=count_records(path))
        for cluster in clusters:
            yield cluster
            bar.advance(task)


def _report_count(path: Path, number: int, bad: BadRecords) -> None:
    if number == 0:
        raise DataError(f"{path}: there are no clusters in it{_skipped(bad)}")
    if bad.count:
        logger.warning("%s: clusters used: %d%s", path, number, _skipped(bad))


def _skipped(bad: BadRecords) -> str:
    if not bad.count:
        return ""
    return f"; {bad.count} skipped, among them: " + "; ".join(bad.messages)


def _mean(values: Sequence[int]) -> float:
    return round(statistics.fmean(values), 1) if values else 0.0


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
