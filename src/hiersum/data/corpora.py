"""Corpora of several kinds, each read as clusters.

    clusters     our own: one cluster per line (.jsonl), per row (.parquet), or one or a list (.json);
                 or a folder of parts (part-*.parquet), as `hiersum build` writes it
    wikilead     Wikipedia articles in Parquet: the lead is the target, the body the one document
    multi-news   NAME.src with a cluster per line, documents between |||||; targets in NAME.tgt
    wcep         JSON Lines with "articles" and "summary"
    written      Parquet with ranked "paragraphs" and the summary's "sentences", each with what it cites
    annotated    a folder of JSON files, one cluster each: "documents" of "name" and "text", and
                 "sentences" as [text, [[document name, paragraph], ...]]
    folders      a folder of folders of documents, each one cluster; summary.txt is its target

A record that cannot be used is refused as `file:line`, or with `BadRecords(skip=True)` counted.
"""

from __future__ import annotations

import gzip
import json
import logging
import os
import typing
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

from hiersum.config import DataConfig
from hiersum.data.cited import annotated_cluster, written_cluster
from hiersum.data.files import (
    open_binary,
    parquet_rows,
    read_lines,
    read_parquet,
    read_whole,
    write_atomically,
)
from hiersum.data.records import (
    BadRecords,
    cluster_from_record,
    cluster_to_record,
    is_texts,
    join_lead,
    parse_json,
    record_id,
)
from hiersum.errors import DataError, InputError
from hiersum.text.documents import folder_files, read_document, read_documents
from hiersum.text.encodings import clean_text
from hiersum.text.formats import kind_of
from hiersum.types import Cluster, Document

logger = logging.getLogger(__name__)

CLUSTER_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".parquet", ".src"})
BUILDING = ".building"
"""Stands in a folder of parts until all of them are there."""
_SEPARATOR = "|||||"
_LINE_BREAK = "NEWLINE_CHAR"  # what Multi-News writes for a line break within a document
_SUMMARY_FILE = "summary.txt"


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
        bad: what to do with records that cannot be used; refuse them if None.
        config: limits on the documents of `folders`.

    Raises:
        DataError: the file or a record cannot be used; `file:line` and what is wrong.
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
    """Say of which kind a corpus is, by its name and its first record."""
    if os.path.isdir(path):
        if _parts(path):
            return "clusters"
        return "annotated" if any(path.glob("*.json")) else "folders"
    open_binary(path).close()  # a missing file is said to be missing, whatever its name
    suffix = kind_of(path)
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
    if isinstance(record, dict) and "lead" in record and "paragraphs" in record:
        return "wikilead"
    if isinstance(record, dict) and "sentences" in record and "paragraphs" in record:
        return "written"
    if isinstance(record, dict) and "articles" in record:
        return "wcep"
    return "clusters"


def count_records(path: Path) -> int | None:
    """Return how many records a corpus has, where that is cheap to tell; for progress bars."""
    if parts := _parts(path):
        counts = [parquet_rows(part) for part in parts]
        return None if None in counts else sum(filter(None, counts))
    if os.path.isdir(path):
        return sum(folder.is_dir() for folder in path.iterdir())
    if kind_of(path) == ".parquet":
        return parquet_rows(path)
    if kind_of(path) == ".json" or path.suffix.lower() == ".gz":
        return None
    with open_binary(path) as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def corpus_files(path: Path) -> list[Path]:
    """Return the files that a corpus is in, in order."""
    if os.path.isdir(path):
        return sorted(file for file in path.rglob("*") if file.is_file())
    is_multi_news = detect_corpus(path) == "multi-news"
    return [path, _multi_news_targets(path)] if is_multi_news else [path]


def write_clusters(clusters: Iterable[Cluster], path: Path) -> int:
    """Write clusters as JSON Lines or Parquet, by the path's suffix; return how many."""
    if kind_of(path) == ".parquet":
        return _write_parquet(clusters, path)
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


def _parts(path: Path) -> list[Path]:
    """The parts of a folder, in order; none if it is a folder of another kind, or a file."""
    return sorted(path.glob("part-*.parquet")) if os.path.isdir(path) else []


def _read_clusters(path: Path, bad: BadRecords) -> Iterator[Cluster]:
    if os.path.isdir(path):
        if (path / BUILDING).exists() or (path.parent / BUILDING).exists():
            raise DataError(f"{path}: its clusters are unfinished; run their hiersum build again")
        for part in _parts(path):
            yield from _read_clusters(part, bad)
        return
    yield from _each(read_records(path, bad), cluster_from_record, bad)


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
    yield from _each(((f"{path}:{n}", row) for n, row in rows), _wikilead_cluster, bad)


def _wikilead_cluster(record: Any, where: str) -> Cluster:
    if not record["paragraphs"] or not record["lead"]:
        raise DataError(f"{where}: an article without a lead or without a body")
    for column in ("lead", "paragraphs"):
        if not is_texts(record[column]):
            raise DataError(f"{where}: {column} must be a list of texts")
    if not isinstance(record["title"], str):
        raise DataError(f"{where}: title must be text")
    title = clean_text(record["title"])
    paragraphs = [clean_text(text) for text in record["paragraphs"]]
    document = Document.from_paragraphs(paragraphs, name=title)
    return Cluster(title, (document,), join_lead(record["lead"]), record_id(record))


def _read_written(path: Path, bad: BadRecords) -> Iterator[Cluster]:
    yield from _each(read_records(path, bad), written_cluster, bad)


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
        yield from _each(records, _multi_news_cluster, bad)


def _multi_news_targets(path: Path) -> Path:
    target_path = path.with_name(path.name.replace(".src", ".tgt", 1))
    if target_path == path or not target_path.exists():
        raise DataError(f"{path}: no targets beside it; expected {target_path.name}")
    return target_path


def _multi_news_cluster(record: Any, where: str) -> Cluster:
    source, target, cluster_id = record
    try:
        text, summary = source.decode("utf-8").strip(), target.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 text") from error
    parts = [part.replace(_LINE_BREAK, "\n").strip() for part in text.split(_SEPARATOR)]
    documents = tuple(Document(clean_text(part)) for part in parts if part)
    if not documents:
        raise DataError(f"{where}: a cluster without documents")
    # Targets open with a dash in the published files.
    return Cluster("", documents, clean_text(summary).removeprefix("\u2013").strip(), cluster_id)


def _read_wcep(path: Path, bad: BadRecords) -> Iterator[Cluster]:
    yield from _each(_json_lines(path, bad), _wcep_cluster, bad)


def _wcep_cluster(record: Any, where: str) -> Cluster:
    if not isinstance(record, dict) or not isinstance(record.get("articles"), list):
        raise DataError(f'{where}: expected an object with "articles"')
    documents = []
    for number, article in enumerate(record["articles"]):
        if not isinstance(article, dict) or not isinstance(article.get("text"), str):
            raise DataError(f'{where}: articles[{number}] has no "text"')
        name, url = str(article.get("title") or ""), str(article.get("url") or "")
        documents.append(Document(clean_text(article["text"]), clean_text(name), clean_text(url)))
    if not documents:
        raise DataError(f"{where}: a cluster without documents")
    summary = record.get("summary")
    if summary is not None and not isinstance(summary, str):
        raise DataError(f'{where}: "summary" must be text')
    return Cluster("", tuple(documents), clean_text(summary or "") or None, record_id(record))


def _read_folders(path: Path, bad: BadRecords, config: DataConfig) -> Iterator[Cluster]:
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
        target = read_document(summary, config)[0].text if summary.exists() else None
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
    "written": _read_written,
    "annotated": _read_annotated,
    "multi-news": _read_multi_news,
    "wcep": _read_wcep,
    "folders": _read_folders,
}


def _each(
    records: Iterable[tuple[str, Any]], parse: Callable[[Any, str], Cluster], bad: BadRecords
) -> Iterator[Cluster]:
    for where, record in records:
        try:
            cluster = parse(record, where)
        except DataError as error:
            bad.handle(error)
            continue
        # A cluster without an id gets its place: results are joined on ids, and errors name them.
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
    """A .json file holds one cluster or a list of them; JSON Lines under that name are read too."""
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
    """Parquet gives every field of a struct to every row; those a row does not have are null."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _write_parquet(clusters: Iterable[Cluster], path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.string()
    document = pa.struct({"name": text, "url": text, "text": text, "paragraphs": pa.list_(text)})
    schema = pa.schema(
        {
            "id": text,
            "title": text,
            "documents": pa.list_(document),
            "summary": text,
            "graph": pa.list_(pa.list_(pa.float64())),
        }
    )
    number = 0
    with (
        write_atomically(path) as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        rows: list[dict[str, Any]] = []
        for number, cluster in enumerate(clusters, start=1):
            rows.append(cluster_to_record(cluster))
            if len(rows) == 256:
                writer.write_table(pa.Table.from_pylist(rows, schema))
                rows = []
        writer.write_table(pa.Table.from_pylist(rows, schema))
    return number
