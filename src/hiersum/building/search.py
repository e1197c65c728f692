"""BM25 over the bodies of articles, with titles as queries: what a search engine would return.

Only words of titles are ever asked for, so only they are indexed; all others still count towards the
length of a body.
"""

from __future__ import annotations

import logging
import shutil
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hiersum.building.articles import Article
from hiersum.errors import MissingDependencyError
from hiersum.text.words import FUNCTION_WORDS, split_words

_OTHER_WORD = ""


def build_index(articles: Iterable[Article], titles: Iterable[str], folder: Path) -> None:
    """Index the titles and bodies of articles for queries that are titles, and save that in a folder."""
    bm25s = _bm25s()
    vocabulary = {_OTHER_WORD: 0}
    for title in titles:
        for word in query_words(title):
            vocabulary.setdefault(word, len(vocabulary))
    ids = []
    for article in articles:
        words = query_words(" ".join((article.title, *article.paragraphs)))
        ids.append(array("i", (vocabulary.get(word, 0) for word in words)))
    index = bm25s.BM25()
    index.index(bm25s.tokenization.Tokenized(ids=ids, vocab=vocabulary), show_progress=False)
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    index.save(partial, show_progress=False)
    partial.rename(folder)


class ArticleSearch:
    """An index that `build_index` saved, read from disk as needed."""

    def __init__(self, folder: Path) -> None:
        self._index = _bm25s().BM25.load(folder, mmap=True, load_corpus=False)

    def find(self, title: str, num_articles: int) -> list[int]:
        """Return the rows of the articles that fit a title best, the best first.

        Only articles that share a word with the title are found; of equals the first comes first.
        """
        words = [word for word in query_words(title) if word in self._index.vocab_dict]
        if not words or num_articles < 1:
            return []
        scores = self._index.get_scores(words)
        cutoff = 0.0
        if num_articles < len(scores):
            cutoff = np.partition(scores, -num_articles)[-num_articles]
        rows = np.flatnonzero((scores >= cutoff) & (scores > 0))
        order: Sequence[int] = rows[np.argsort(-scores[rows], kind="stable")].tolist()
        return list(order[:num_articles])


def query_words(text: str) -> list[str]:
    """Return the words of a text that a search looks for."""
    return [word for word in split_words(text) if word not in FUNCTION_WORDS]


def _bm25s() -> Any:
    try:
        import bm25s
    except ImportError as error:
        raise MissingDependencyError("searching articles", "build") from error
    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets itself to say everything
    return bm25s
