"""Corpora of several kinds, each read as clusters.

    clusters     our own: a cluster per line (.jsonl) or row (.parquet), or one or a list (.json);
                 or a folder of parts (part-*.parquet), as `hiersum build` writes it
    wikilead     Wikipedia articles in Parquet: the lead is the target, the body the one document
    multi-news   NAME.src with a cluster per line, documents between |||||; targets in NAME.tgt
    wcep         JSON Lines with "articles" and "summary"
    written      Parquet with ranked "paragraphs" and the summary's "sentences" with citations
    annotated    a folder of JSON files, one cluster each: "documents" of "name" and "text", and
                 "sentences" as [text, [[document name, paragraph], ...]]
    folders      a folder of folders of documents, each one cluster; summary.txt is its target
    released     the authors' shards of piece ids: WIKI.test.0.pt, or all that WIKI.test.*.pt matches

An unusable record raises an error that names `file:line`; with `BadRecords(skip=True)` it is
counted.
"""

from __future__ import annotations

import gzip
import json
import logging
import os
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hiersum.config import DataConfig
from hiersum.data.files import (
    check_parquet,
    checksum,
    open_binary,
    parquet_rows,
    read_lines,
    read_parquet,
    read_whole,
    write_atomically,
    write_parquet,
)
from hiersum.data.records import (
    BadRecords,
    annotated_cluster,
    cluster_from_record,
    cluster_to_record,
    multi_news_cluster,
    parse_json,
    wcep_cluster,
    wikilead_cluster,
    written_cluster,
)
from hiersum.data.released import SUFFIX, read_released
from hiersum.errors import DataError, InputError
from hiersum.jobs.progress import tracked
from hiersum.text.documents import folder_files, read_document, read_documents
from hiersum.text.encodings import clean_text
from hiersum.text.formats import kind_of
from hiersum.types import Cluster

if TYPE_CHECKING:
    import pyarrow as pa

logger = logging.getLogger(__name__)

CLUSTER_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".parquet", ".src", SUFFIX})
BUILDING = ".building"
"""A file that marks a folder of parts as incomplete."""
_SUMMARY_FILE = "summary.txt"
Parse = Callable[[Any, str], Cluster]


def read_corpus(
    path: Path,
    kind: str = "auto",
    *,
    bad: BadRecords | None = None,
    config: DataConfig | None = None,
) -> Iterator[Cluster]:
    """Yield the clusters of a corpus.

    Args:
        path: a file; a folder for `folders`, or of parts for `clusters`.
        kind: one of `CORPORA`, or `auto` to look at the file.
        bad: what to do with unusable records; None: raise an error.
        config: limits on documents, for `folders`.
    """
    if kind == "auto":
        kind = detect_corpus(path)
    if kind not in CORPORA:
        raise InputError(f"corpus kind {kind!r} is unknown; known: auto, {', '.join(CORPORA)}")
    bad = bad or BadRecords()
    if kind == "folders":
        return _read_folders(path, bad, config or DataConfig())
    return CORPORA[kind](path, bad)


def detect_corpus(path: Path) -> str:
    """Return the kind of a corpus, detected by its name and its first record."""
    if os.path.isdir(path):
        if _parts(path):
            return "clusters"
        return "annotated" if any(path.glob("*.json")) else "folders"
    suffix = kind_of(path)
    for file in corpus_files(path) if suffix == SUFFIX else [path]:
        open_binary(file).close()  # report a missing file as missing, whatever its name
    if suffix == SUFFIX:
        return "released"
    if suffix == ".src" or path.name.endswith((".src.txt", ".src.cleaned")):
        return "multi-news"
    if suffix not in CLUSTER_SUFFIXES:
        raise DataError(
            f"{path}: not a corpus; expected {' '.join(sorted(CLUSTER_SUFFIXES))} or a folder"
        )
    if suffix == ".json":
        return "clusters"
    records = (
        read_parquet(path) if suffix == ".parquet" else _json_lines(path, BadRecords(skip=True))
    )
    record = next(iter(records), None)
    if isinstance(record, tuple):
        record = record[1]
    names = record.keys() if isinstance(record, dict) else set()
    if {"lead", "paragraphs"} <= names:
        return "wikilead"
    if {"sentences", "paragraphs"} <= names:
        return "written"
    return "wcep" if "articles" in names else "clusters"


def count_records(path: Path) -> int | None:
    """Return how many records a corpus has, for progress bars; None if counting is slow."""
    if parts := _parts(path):
        counts = [parquet_rows(part) for part in parts]
        return None if None in counts else sum(filter(None, counts))
    if os.path.isdir(path):
        return sum(folder.is_dir() for folder in path.iterdir())
    if kind_of(path) == ".parquet":
        return parquet_rows(path)
    if kind_of(path) in (".json", SUFFIX) or path.suffix.lower() == ".gz":
        return None
    with open_binary(path) as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def corpus_files(path: Path) -> list[Path]:
    """Return the files of a corpus, in order."""
    if os.path.isdir(path):
        return sorted(file for file in path.rglob("*") if file.is_file())
    if kind_of(path) == SUFFIX:
        return sorted(path.parent.glob(path.name)) or [path]
    is_multi_news = detect_corpus(path) == "multi-news"
    return [path, _multi_news_targets(path)] if is_multi_news else [path]


def write_clusters(clusters: Iterable[Cluster], path: Path) -> int:
    """Write clusters as JSON Lines or Parquet, by the path's suffix; return how many."""
    if kind_of(path) == ".parquet":
        return write_parquet(path, map(cluster_to_record, clusters), _schema())
    number = 0
    with ExitStack() as stack:
        file = stack.enter_context(write_atomically(path))
        if path.name.lower().endswith(".gz"):
            packed = gzip.GzipFile(fileobj=file, mode="wb", mtime=0)
            file = typing.cast(IO[bytes], stack.enter_context(packed))
        for number, cluster in enumerate(clusters, start=1):
            line = json.dumps(cluster_to_record(cluster), ensure_ascii=False)
            file.write(line.encode("utf-8", "replace") + b"\n")
    return number


def identify_corpus(path: Path) -> dict[str, Any]:
    """Return a corpus's name and checksum, to check that a resumed run has the same input."""
    return {"name": path.name, "checksum": checksum(corpus_files(path))}


def counted(clusters: Iterable[Cluster], path: Path, verb: str) -> Iterator[Cluster]:
    """Yield the clusters of a corpus and show progress."""
    return tracked(clusters, verb, lambda: count_records(path))


def report_count(path: Path, number: int, bad: BadRecords) -> None:
    """Log how many clusters of a corpus were skipped; refuse a corpus of which none was used."""
    skipped = ""
    if bad.count:
        skipped = f"; {bad.count} skipped, among them: " + "; ".join(bad.messages)
    if number == 0:
        raise DataError(f"{path}: contains no clusters{skipped}")
    if bad.count:
        logger.warning("%s: clusters used: %d%s", path, number, skipped)


def read_corpora(
    paths: Sequence[Path],
    kind: str = "auto",
    *,
    skip_bad: bool = False,
    config: DataConfig | None = None,
    with_targets: bool = False,
) -> Iterator[tuple[Path, Cluster]]:
    """Yield the clusters of corpora, each with its corpus, and report what was skipped.

    With `with_targets`, a cluster without a summary is unusable.
    """
    for path in paths:
        number, bad = 0, BadRecords(skip=skip_bad)
        for cluster in read_corpus(path, kind, bad=bad, config=config):
            if with_targets and not cluster.summary:
                bad.handle(
                    DataError(
                        f"{path}: cluster {cluster.id} has no summary; give it one, or leave such "
                        "clusters out with --skip-bad"
                    )
                )
                continue
            number += 1
            yield path, cluster
        report_count(path, number, bad)


def count_all(corpora: Sequence[Path], limit: int = 0) -> int | None:
    """Return the number of clusters, at most `limit`; None if counting them is slow."""
    counts = [count_records(path) for path in corpora]
    if None in counts:
        return limit or None
    total = sum(filter(None, counts))
    return min(total, limit or total)


def _parts(path: Path) -> list[Path]:
    """Return the parts of a folder, in order; empty for other folders and for files."""
    return sorted(path.glob("part-*.parquet")) if os.path.isdir(path) else []


def _read_clusters(path: Path, bad: BadRecords) -> Iterator[Cluster]:
    if os.path.isdir(path):
        if (path / BUILDING).exists() or (path.parent / BUILDING).exists():
            raise DataError(f"{path}: its build is unfinished; run the same hiersum build again")
        for part in _parts(path):
            yield from _read_clusters(part, bad)
        return
    yield from _read_records(path, bad, cluster_from_record)


def _read_records(path: Path, bad: BadRecords, parse: Parse) -> Iterator[Cluster]:
    yield from _each(read_records(path, bad), parse, bad)


def read_records(path: Path, bad: BadRecords) -> Iterable[tuple[str, Any]]:
    """Return the records of a .jsonl, .json or .parquet file, each with its place."""
    suffix = kind_of(path)
    if suffix == ".parquet":
        rows = enumerate(read_parquet(path), start=1)
        return ((f"{path}:{number}", _without_nulls(record)) for number, record in rows)
    return _json_file(path, bad) if suffix == ".json" else _json_lines(path, bad)


def _read_wikilead(path: Path, bad: BadRecords) -> Iterator[Cluster]:
    columns = ["id", "title", "lead", "paragraphs"]
    rows = enumerate(read_parquet(path, columns), start=1)
    yield from _each(((f"{path}:{n}", row) for n, row in rows), wikilead_cluster, bad)


def _read_annotated(path: Path, bad: BadRecords) -> Iterator[Cluster]:
    files = sorted(path.glob("*.json")) if os.path.isdir(path) else [path]
    records = ((str(file), parse_json(read_whole(file), str(file))) for file in files)
    yield from _each(records, annotated_cluster, bad)


def _read_multi_news(path: Path, bad: BadRecords) -> Iterator[Cluster]:
    target_path = _multi_news_targets(path)
    sources = read_lines(path, keep_blank=True)
    targets = read_lines(target_path, keep_blank=True)
    for number, (source, target) in enumerate(zip_longest(sources, targets), start=1):
        where = f"{path}:{number}"
        if source is None or target is None:
            raise DataError(f"{where}: {path.name} and {target_path.name} differ in length")
        records = [(where, (source[1], target[1], f"{path.name}-{number}"))]
        yield from _each(records, multi_news_cluster, bad)


def _multi_news_targets(path: Path) -> Path:
    target_path = path.with_name(path.name.replace(".src", ".tgt", 1))
    if target_path == path or not target_path.exists():
        raise DataError(f"{path}: no targets beside it; expected {target_path.name}")
    return target_path


def _read_folders(path: Path, bad: BadRecords, config: DataConfig) -> Iterator[Cluster]:
    if not os.path.isdir(path):
        raise DataError(f"{path}: not a folder; expected one with a folder per cluster")
    folders = sorted(folder for folder in path.iterdir() if folder.is_dir())
    if not folders:
        raise DataError(f"{path}: no folders in it; expected one folder per cluster")
    parse = partial(_folder_cluster, config=config)
    yield from _each(((str(folder), folder) for folder in folders), parse, bad)


def _folder_cluster(folder: Path, where: str, config: DataConfig) -> Cluster:
    summary = folder / _SUMMARY_FILE
    files = [file for file in folder_files(folder) if file != summary]
    if not files:
        raise DataError(f"{where}: a cluster without documents")
    try:
        documents, unread = read_documents(files, config, as_found=True)
        target = read_document(summary)[0].text if summary.exists() else None
    except InputError as error:
        raise DataError(str(error)) from error
    for part in unread:
        logger.warning("%s: %s", part.name, part.reason)
    title = clean_text(folder.name.replace("_", " "))
    return Cluster(
        title, tuple(documents), target.strip() if target else None, clean_text(folder.name)
    )


CORPORA: dict[str, Callable[..., Iterator[Cluster]]] = {
    "clusters": _read_clusters,
    "wikilead": _read_wikilead,
    "written": partial(_read_records, parse=written_cluster),
    "annotated": _read_annotated,
    "multi-news": _read_multi_news,
    "wcep": partial(_read_records, parse=wcep_cluster),
    "folders": _read_folders,
    "released": read_released,
}


def _each(records: Iterable[tuple[str, Any]], parse: Parse, bad: BadRecords) -> Iterator[Cluster]:
    for where, record in records:
        try:
            cluster = parse(record, where)
        except DataError as error:
            bad.handle(error)
            continue
        # Results are joined on ids and errors name them, so a missing id becomes the place.
        yield cluster if cluster.id else replace(cluster, id=Path(where).name)


def _json_lines(path: Path, bad: BadRecords) -> Iterator[tuple[str, Any]]:
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        try:
            record = parse_json(line, where)
        except DataError as error:
            bad.handle(error)
            continue
        yield where, record


def _json_file(path: Path, bad: BadRecords) -> Iterable[tuple[str, Any]]:
    """Return the records of a .json file: one, a list, or JSON Lines despite the name."""
    data = read_whole(path)
    try:
        value = parse_json(data, str(path))
    except DataError:
        if b"\n" not in data.strip():
            raise
        return _json_lines(path, bad)
    if isinstance(value, list):
        return [(f"{path}[{number}]", record) for number, record in enumerate(value)]
    return [(str(path), value)]


def _without_nulls(value: Any) -> Any:
    """Remove null fields, which Parquet adds for missing values."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _schema() -> pa.Schema:
    """Return the columns of a cluster."""
    check_parquet()
    import pyarrow as pa

    text = pa.string()
    document = pa.struct({"name": text, "url": text, "text": text, "paragraphs": pa.list_(text)})
    return pa.schema(
        {
            "id": text,
            "title": text,
            "documents": pa.list_(document),
            "summary": text,
            "graph": pa.list_(pa.list_(pa.float64())),
        }
    )
