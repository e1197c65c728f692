"""Cluster records: our JSON format, and those of other corpora.

{"id", "title", "documents": [{"name", "url", "text"} | {"name", "url", "paragraphs"} | "text"],
 "summary"?: "text" | [{"text", "paragraphs": [number]}], "graph"?}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from typing import Any, TypeGuard

from hiersum.errors import DataError
from hiersum.text.encodings import clean_text
from hiersum.types import CitedSentence, Cluster, Document

_KEYS = ("id", "title", "documents", "summary", "graph")
_DOCUMENT_KEYS = ("name", "url", "text", "paragraphs")
_SEPARATOR = "|||||"
_LINE_BREAK = "NEWLINE_CHAR"  # a line break within a Multi-News document


@dataclass(slots=True)
class BadRecords:
    """How to handle unusable records: raise, or count and skip."""

    skip: bool = False
    count: int = 0
    messages: list[str] = field(default_factory=list)
    """The first five messages."""

    def handle(self, error: DataError) -> None:
        """Raise the error, or count it if `skip` is set."""
        if not self.skip:
            raise error
        self.count += 1
        if len(self.messages) < 5:
            self.messages.append(str(error))


def parse_json(text: str | bytes, where: str) -> Any:
    """Parse JSON; errors name the place."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: not valid JSON ({error.msg} at column {error.colno})") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 text") from error
    except RecursionError as error:
        raise DataError(f"{where}: JSON nested too deeply") from error
    except ValueError as error:  # an integer with too many digits
        raise DataError(f"{where}: not valid JSON ({error})") from error


def cluster_from_record(record: Any, where: str) -> Cluster:
    """Turn a cluster line into a cluster; errors name the field."""
    if not isinstance(record, Mapping):
        raise DataError(
            f'{where}: expected an object with "documents", got {describe_kind(record)}'
        )
    for key in record:
        if key not in _KEYS:
            raise DataError(f"{where}: unknown field {key!r}; known: {', '.join(_KEYS)}")
    documents = record.get("documents")
    if not _is_list(documents):
        raise DataError(f'{where}: "documents" must be a list, got {describe_kind(documents)}')
    if not documents:
        raise DataError(f"{where}: a cluster without documents; give at least one")
    cited = _cited(record["summary"], where) if _is_list(record.get("summary")) else ()
    summary = " ".join(s.text for s in cited) if cited else _text(record, "summary", where)
    cluster = Cluster(
        title=_text(record, "title", where),
        documents=tuple(
            document_from_record(document, f"{where}: documents[{number}]")
            for number, document in enumerate(documents)
        ),
        summary=summary or None,
        id=record_id(record),
        graph=None if record.get("graph") is None else _graph(record["graph"], where),
        cited=cited,
    )
    if cited or cluster.graph is not None:
        _check_numbers(cluster, where)
    return cluster


def document_from_record(record: Any, where: str) -> Document:
    """Turn one entry of "documents" into a document."""
    if isinstance(record, str):
        return Document(clean_text(record))
    if not isinstance(record, Mapping):
        raise DataError(f"{where}: expected text or an object, got {describe_kind(record)}")
    for key in record:
        if key not in _DOCUMENT_KEYS:
            raise DataError(f"{where}: unknown field {key!r}; known: {', '.join(_DOCUMENT_KEYS)}")
    name, url = _text(record, "name", where), _text(record, "url", where)
    paragraphs = record.get("paragraphs")
    if paragraphs is None:
        if record.get("text") is None:
            raise DataError(f'{where}: expected "text" or "paragraphs"')
        return Document(_text(record, "text", where), name, url)
    if not is_texts(paragraphs):
        raise DataError(f'{where}: "paragraphs" must be a list of texts')
    return Document.from_paragraphs([clean_text(text) for text in paragraphs], name, url)


def cluster_to_record(cluster: Cluster) -> dict[str, Any]:
    """Return the cluster line of a cluster; reading it gives the same cluster."""
    record: dict[str, Any] = {
        "id": cluster.id,
        "title": cluster.title,
        "documents": [_document_to_record(document) for document in cluster.documents],
    }
    if cluster.cited:
        record["summary"] = [
            {"text": s.text, "paragraphs": list(s.paragraphs)} for s in cluster.cited
        ]
    elif cluster.summary is not None:
        record["summary"] = cluster.summary
    if cluster.graph is not None:
        record["graph"] = [list(row) for row in cluster.graph]
    return record


def _document_to_record(document: Document) -> dict[str, Any]:
    record: dict[str, Any] = {"name": document.name, "url": document.url}
    if document.paragraphs is None:
        record["text"] = document.text
    else:
        record["paragraphs"] = list(document.paragraphs)
    return record


def _text(record: Mapping[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(f'{where}: "{key}" must be text, got {describe_kind(value)}')
    return clean_text(value)


def _graph(value: Any, where: str) -> tuple[tuple[float, ...], ...]:
    import numpy as np  # slow, and few clusters carry a graph

    try:
        matrix = np.array(value, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f'{where}: "graph" must be a square matrix of numbers') from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f'{where}: "graph" must be a square matrix, got shape {matrix.shape}')
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise DataError(f'{where}: "graph" holds a weight that is negative or not a number')
    return tuple(tuple(row) for row in matrix.tolist())


def _cited(value: Any, where: str) -> tuple[CitedSentence, ...]:
    """Return the sentences of a cited summary."""
    sentences = []
    for number, record in enumerate(value):
        place = f"{where}: summary[{number}]"
        if not isinstance(record, Mapping) or not isinstance(record.get("text"), str):
            raise DataError(f'{place}: expected an object with "text" and "paragraphs"')
        paragraphs: Any = record.get("paragraphs")
        if not _is_list(paragraphs) or not all(type(n) is int and n >= 0 for n in paragraphs):
            raise DataError(f'{place}: "paragraphs" must be a list of numbers, counted from 0')
        text = clean_text(record["text"]).strip()
        if not text:
            raise DataError(f"{place}: a sentence without text")
        sentences.append(CitedSentence(text, tuple(paragraphs)))
    return tuple(sentences)


def _check_numbers(cluster: Cluster, where: str) -> None:
    """Check that citations and the graph refer to the paragraphs that are there."""
    if any(document.paragraphs is None for document in cluster.documents):
        what = "cited summary" if cluster.cited else '"graph"'
        raise DataError(f'{where}: with a {what}, every document must give its "paragraphs"')
    num_paragraphs = sum(len(document.paragraphs or ()) for document in cluster.documents)
    for number, sentence in enumerate(cluster.cited):
        if not sentence.paragraphs or max(sentence.paragraphs) >= num_paragraphs:
            raise DataError(
                f"{where}: summary[{number}] must cite at least one of the {num_paragraphs} "
                f"paragraphs, numbered from 0; got {list(sentence.paragraphs)}"
            )
    if cluster.graph is not None and len(cluster.graph) != num_paragraphs:
        raise DataError(
            f'{where}: "graph" has {len(cluster.graph)} rows for {num_paragraphs} paragraphs'
        )


def wikilead_cluster(record: Any, where: str) -> Cluster:
    """Turn a row of a `wikilead` corpus into a cluster: the lead is its target."""
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


def wcep_cluster(record: Any, where: str) -> Cluster:
    """Turn a record of WCEP into a cluster."""
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


def multi_news_cluster(record: Any, where: str) -> Cluster:
    """Turn a source line, a target line and an id of Multi-News into a cluster."""
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


def written_cluster(record: Any, where: str) -> Cluster:
    """Turn a record of a `written` corpus, whose paragraphs are ranked, into a cluster.

    Paragraphs are grouped by document, and citations renumbered.
    """
    try:
        paragraphs = [(int(p["document"]), str(p["text"])) for p in record["paragraphs"]]
        sentences = [(str(s["text"]), [*map(int, s["paragraphs"])]) for s in record["sentences"]]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f'{where}: expected "paragraphs" of "document" and "text", and "sentences" of "text" '
            f'and "paragraphs" ({type(error).__name__}: {error})'
        ) from error
    order = sorted(range(len(paragraphs)), key=lambda number: paragraphs[number][0])
    new_number = {old: new for new, old in enumerate(order)}
    documents = [
        {"name": f"document-{number}", "paragraphs": [paragraphs[n][1] for n in group]}
        for number, group in groupby(order, key=lambda n: paragraphs[n][0])
    ]
    summary = [
        {"text": text, "paragraphs": sorted(new_number.get(n, len(order)) for n in cited)}
        for text, cited in sentences
    ]
    line = {"title": record.get("title"), "documents": documents, "summary": summary}
    return cluster_from_record({"id": record.get("id"), **line}, where)


def annotated_cluster(record: Any, where: str) -> Cluster:
    """Turn a record of an `annotated` corpus into a cluster.

    Documents are split at line breaks, and citations numbered through all documents.
    """
    try:
        texts = {str(d["name"]): str(d["text"]).split("\n") for d in record["documents"]}
        cited = [(str(text), [(str(d), int(p)) for d, p in of]) for text, of in record["sentences"]]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f'{where}: expected "documents" of "name" and "text", and "sentences" with what they '
            f"cite ({type(error).__name__}: {error})"
        ) from error
    first = dict(zip(texts, accumulate([0, *map(len, texts.values())])))
    num_paragraphs = sum(map(len, texts.values()))

    def number(document: str, paragraph: int) -> int:
        is_there = document in texts and 0 <= paragraph < len(texts[document])
        return first[document] + paragraph if is_there else num_paragraphs

    line = {
        "id": record.get("id"),
        "title": record.get("title"),
        "documents": [{"name": name, "paragraphs": of} for name, of in texts.items()],
        "summary": [{"text": t, "paragraphs": [number(*place) for place in of]} for t, of in cited],
    }
    return cluster_from_record(line, where)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def describe_kind(value: Any) -> str:
    """Describe a JSON value, for an error message."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    if value is None:
        return "nothing"
    return names.get(type(value), f"the number {value!r}"[:60])


def record_id(record: Mapping[str, Any]) -> str:
    """Return a record's id as text, empty if it has none."""
    return "" if record.get("id") is None else clean_text(str(record["id"]))


def is_texts(value: Any) -> TypeGuard[list[str]]:
    """Whether this is a list of texts."""
    return _is_list(value) and all(isinstance(text, str) for text in value)


def join_lead(paragraphs: Iterable[str]) -> str:
    """Join the paragraphs of a target into one text."""
    return clean_text(" ".join(text.strip() for text in paragraphs if text.strip()))
