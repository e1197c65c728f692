"""URL keys identify pages; title search agrees with bm25s however the pages are split into parts."""

from __future__ import annotations

import math
from pathlib import Path

import bm25s
import numpy as np
import pytest
from made_up import made_up_articles
from made_up_web import MadeUpPage, made_up_wiki, write_page_lines

from hiersum.building.guard import Limits
from hiersum.building.lookup import (
    TitleSearch,
    contains,
    count_words,
    hash_text,
    hash_words,
    is_wikipedia,
    key_of,
    keys_of,
    merge_counts,
    normalize_url,
    query_words,
)
from hiersum.building.page_files import find_sources
from hiersum.building.page_store import (
    PageStore,
    build_lookup,
    count_page_words,
    read_part,
)
from hiersum.building.workplace import Workplace, save_array
from hiersum.text.words import FUNCTION_WORDS, split_words

ARTICLES, PAGES = made_up_wiki(30)
TITLES = [article.title for article in ARTICLES]


def searchable(folder: Path, parts: list[list[MadeUpPage]]) -> tuple[PageStore, TitleSearch]:
    folder.mkdir()
    paths = [write_page_lines(folder / f"{n}.jsonl", pages) for n, pages in enumerate(parts)]
    place = Workplace(folder)
    place.folder.mkdir()
    for files in find_sources(paths):
        read_part(files, place=place, limits=Limits(), language="en")
    build_lookup(place, len(parts))
    save_array(hash_words(TITLES), place.folder / "words.npy")
    for part in range(len(parts)):
        count_page_words(part, place=place)
    store = PageStore(place)
    merge_counts(place, store.places_by_part(len(parts)))
    return store, TitleSearch(place)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    store, search = searchable(tmp_path_factory.mktemp("one") / "w", [PAGES])
    return {title: [store.at(p).url for p in search.find(title, 10)] for title in TITLES}


def test_title_search_agrees_with_bm25s(found: dict[str, list[str]]) -> None:
    """bm25s is given the same words; equal scores may stand in any order."""
    texts = [query_words(" ".join((page.title, *page.paragraphs))) for page in PAGES]
    index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    index.index(texts, show_progress=False)
    url_to_row = {page.url: row for row, page in enumerate(PAGES)}
    for title, urls in found.items():
        scores = index.get_scores(query_words(title))
        best = np.sort(scores[scores > 0])[::-1][:10]
        ours = np.array([scores[url_to_row[url]] for url in urls])
        np.testing.assert_allclose(ours, best, rtol=1e-5)


def test_title_search_ignores_parts_and_repeated_pages(
    tmp_path: Path, found: dict[str, list[str]]
) -> None:
    parts = [PAGES[:20], [*PAGES[10:50], *PAGES[:3]], PAGES[40:]]
    store, search = searchable(tmp_path / "w", parts)
    assert len(store) == len(PAGES)
    for title, urls in found.items():
        assert [store.at(p).url for p in search.find(title, 10)] == urls


def test_title_search_finds_nothing_for_unknown_words(tmp_path: Path) -> None:
    _, search = searchable(tmp_path / "w", [PAGES[:5]])
    assert search.find("Zzyzx of the", 10) == []
    assert search.find(TITLES[0], 0) == []
    assert len(search.find(TITLES[0], 2)) == 2
    assert len(search.find(TITLES[0], 100)) <= 5
    again = search.find(TITLES[0], 2)
    assert again == search.find(TITLES[0], 2), "no score is left over from an earlier search"


def test_hash_text_tells_words_apart() -> None:
    assert hash_text("harbour") != hash_text("harbor")


def indexed(texts: list[str], titles: list[str], folder: Path) -> TitleSearch:
    place = Workplace(folder)
    place.folder.mkdir()
    save_array(hash_words(titles), place.folder / "words.npy")
    count_words(texts, 0, place)
    merge_counts(place, [np.arange(len(texts), dtype=np.uint64)])
    return TitleSearch(place)


def words_of(text: str) -> list[str]:
    return [word for word in split_words(text) if word not in FUNCTION_WORDS]


def bm25_by_hand(texts: list[str], title: str) -> dict[int, float]:
    """Lucene's formula with k1 1.5 and b 0.75, summed over the words of the title."""
    bodies = [words_of(text) for text in texts]
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


def test_title_search_orders_by_bm25(tmp_path: Path) -> None:
    articles = made_up_articles(80)
    titles = [article.title for article in articles]
    texts = [" ".join((article.title, *article.paragraphs)) for article in articles]
    search = indexed(texts, titles, tmp_path)
    for title in titles[:20]:
        scores = bm25_by_hand(texts, title)
        found = search.find(title, 7)
        best = sorted(scores.values(), reverse=True)[:7]
        assert [scores[row] for row in found] == pytest.approx(best, rel=1e-5)


def test_title_search_breaks_ties_by_order(
    tmp_path: Path,
) -> None:
    texts = ["Thing red fox", "Thing blue fox", "Thing green hen", "Thing grey fox"]
    search = indexed(texts, ["The Fox", "Of the"], tmp_path)
    assert search.find("The Fox", 2) == [0, 1]
    assert search.find("A Fox", 9) == [0, 1, 3]
    assert search.find("Of the", 9) == []
    assert search.find("Dog", 9) == []
    assert search.find("Fox", 0) == []


ONE_PAGE = [
    "http://example.org/a/b?x=1",
    "https://www.example.org/a/b/?x=1",
    "HTTPS://WWW.Example.ORG:443/a/b?x=1#part",
    "http://example.org./a/b?x=1&utm_source=feed&fbclid=9",
    "http://example.org/%61/b?x=1",
]


@pytest.mark.parametrize("url", ONE_PAGE)
def test_normalize_url_ignores_trivial_differences(url: str) -> None:
    assert normalize_url(url) == "example.org/a/b?x=1"


@pytest.mark.parametrize(
    "url",
    ["http://example.org/a/B?x=1", "http://example.org/a/b", "http://example.org:8080/a/b?x=1"],
)
def test_key_of_differs_for_other_pages(url: str) -> None:
    assert key_of(url) not in (0, key_of(ONE_PAGE[0]))


@pytest.mark.parametrize(
    "url", ["", "ftp://a.example/x", "/a/b", "http://", "http://[::1", "mailto:a@b"]
)
def test_key_of_other_text_is_zero(url: str) -> None:
    assert key_of(url) == 0


def test_contains_finds_keys_in_sorted_arrays() -> None:
    urls = [f"http://a.example/{n}" for n in range(50)]
    kept = np.sort(keys_of(urls[::2]))
    assert contains(kept, keys_of(urls)).tolist() == [n % 2 == 0 for n in range(50)]
    assert contains(kept[:0], keys_of(urls[:2])).tolist() == [False, False]


def test_is_wikipedia_knows_all_languages() -> None:
    assert is_wikipedia("https://de.m.wikipedia.org/wiki/Haus")
    assert not is_wikipedia("https://notwikipedia.org/wiki/Haus")
