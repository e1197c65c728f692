"""Search gives the order of BM25 as its authors of Lucene's variant write it, computed by hand."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest
from made_up import made_up_articles

from hiersum.building.articles import Article
from hiersum.building.search import ArticleSearch, build_index
from hiersum.errors import MissingDependencyError
from hiersum.text.words import FUNCTION_WORDS, split_words


def searched(articles: list[Article], folder: Path) -> ArticleSearch:
    build_index(articles, [article.title for article in articles], folder)
    return ArticleSearch(folder)


def words_of(text: str) -> list[str]:
    return [word for word in split_words(text) if word not in FUNCTION_WORDS]


def bm25_by_hand(articles: list[Article], title: str) -> dict[int, float]:
    """Lucene's formula with k1 1.5 and b 0.75, summed over the words of the title."""
    bodies = [words_of(f"{a.title} {' '.join(a.paragraphs)}") for a in articles]
    mean_length = sum(map(len, bodies)) / len(bodies)
    scores = dict.fromkeys(range(len(bodies)), 0.0)
    for word in words_of(title):
        containing = sum(word in body for body in bodies)
        idf = math.log(1 + (len(bodies) - containing + 0.5) / (containing + 0.5))
        for row, body in enumerate(bodies):
            count = body.count(word)
            length = 1 - 0.75 + 0.75 * len(body) / mean_length
            scores[row] += idf * count / (count + 1.5 * length)
    return scores


def test_the_order_is_that_of_bm25(tmp_path: Path) -> None:
    articles = made_up_articles(80)
    search = searched(articles, tmp_path / "index")
    for article in articles[:20]:
        scores = bm25_by_hand(articles, article.title)
        found = search.find(article.title, 7)
        best = sorted(scores.values(), reverse=True)[:7]
        assert [scores[row] for row in found] == pytest.approx(best, rel=1e-5)


def test_of_equals_the_first_comes_first_and_what_shares_no_word_is_not_found(
    tmp_path: Path,
) -> None:
    bodies = ["red fox", "blue fox", "green hen", "grey fox"]
    articles = [Article(str(n), "Thing", "", (body,)) for n, body in enumerate(bodies)]
    build_index(articles, ["The Fox", "Of the"], tmp_path / "index")
    search = ArticleSearch(tmp_path / "index")
    assert search.find("The Fox", 2) == [0, 1]
    assert search.find("A Fox", 9) == [0, 1, 3]
    assert search.find("Of the", 9) == []
    assert search.find("Dog", 9) == []
    assert search.find("Fox", 0) == []


def test_without_the_package_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(MissingDependencyError, match=r"searching articles needs the extra 'build'"):
        build_index([], [], tmp_path / "index")
