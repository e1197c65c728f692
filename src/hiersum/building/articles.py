"""Articles (a title, a lead that sums up, a body): read from corpora, kept where processes share them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiersum.config import DataConfig
from hiersum.data.corpora import read_corpus
from hiersum.data.files import write_atomically
from hiersum.data.records import BadRecords
from hiersum.text.paragraphs import split_document

_BATCH_ROWS = 64


@dataclass(frozen=True, slots=True)
class Article:
    """What was written about one title."""

    id: str
    title: str
    lead: str
    """The target; empty where an article is only there to be found."""
    paragraphs: tuple[str, ...]


def read_articles(paths: Iterable[Path], *, kind: str, bad: BadRecords) -> Iterator[Article]:
    """Yield the articles of corpora: the summary of a cluster is the lead, its documents the body."""
    max_words = DataConfig().max_paragraph_words
    for path in paths:
        for cluster in read_corpus(path, kind, bad=bad):
            bodies = [split_document(document, max_words) for document in cluster.documents]
            paragraphs = tuple(text for body in bodies for text in body)
            yield Article(cluster.id, cluster.title, cluster.summary or "", paragraphs)


def write_articles(articles: Iterable[Article], path: Path) -> None:
    """Write articles as an Arrow file that an `ArticleStore` opens."""
    import pyarrow as pa

    text = pa.string()
    schema = pa.schema({"id": text, "title": text, "lead": text, "paragraphs": pa.list_(text)})
    with write_atomically(path) as file, pa.ipc.new_file(file, schema) as writer:
        for rows in _batched(articles):
            columns = [[getattr(row, name) for row in rows] for name in schema.names]
            writer.write_batch(pa.record_batch(columns, schema=schema))


class ArticleStore(Sequence[Article]):
    """Articles by row, read from disk when asked for; processes share what the system has cached."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        self._reader = pa.ipc.open_file(pa.memory_map(str(path)))
        num_batches = self._reader.num_record_batches
        last = self._reader.get_batch(num_batches - 1).num_rows if num_batches else 0
        self._length: int = max(num_batches - 1, 0) * _BATCH_ROWS + last

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        if not 0 <= row < len(self):
            raise IndexError(row)
        batch = self._reader.get_batch(row // _BATCH_ROWS)
        record = batch.slice(row % _BATCH_ROWS, 1).to_pylist()[0]
        return Article(record["id"], record["title"], record["lead"], tuple(record["paragraphs"]))


def _batched(articles: Iterable[Article]) -> Iterator[list[Article]]:
    rows: list[Article] = []
    for article in articles:
        rows.append(article)
        if len(rows) == _BATCH_ROWS:
            yield rows
            rows = []
    if rows:
        yield rows
