"""The texts of a corpus, for whatever learns from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hiersum.commands.counting import counted
from hiersum.data.corpora import read_corpus


def corpus_texts(path: Path, *, kind: str = "auto") -> Iterator[str]:
    """Yield every text of a corpus: titles, documents and targets."""
    for cluster in counted(read_corpus(path, kind), path, "reading"):
        yield cluster.title
        yield from (document.text for document in cluster.documents)
        yield cluster.summary or ""
