"""Articles (a title, a lead that sums up, a body): read from corpora, kept where processes share them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiersum.building.rows import RowStore, write_rows
from hiersum.config import DataConfig
from hiersum.data.corpora import read_corpus
from hiersum.data.records import BadRecords
from hiersum.text.paragraphs import split_document


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
    rows = ({name: getattr(article, name) for name in schema.names} for article in articles)
    write_rows(rows, schema, path)


class ArticleStore(Sequence[Article]):
    """Articles by row, read from disk when asked for."""

    def __init__(self, path: Path) -> None:
        self._rows = RowStore(path)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        record = self._rows[row]
        return Article(record["id"], record["title"], record["lead"], tuple(record["paragraphs"]))
