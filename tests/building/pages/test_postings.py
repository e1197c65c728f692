"""The search on disk finds what bm25s finds, and does not care how the pages are cut into parts."""

from __future__ import annotations

from pathlib import Path

import bm25s
import numpy as np
import pytest
from made_up_web import MadeUpPage, made_up_wiki, write_page_lines

from hiersum.building.guard import Limits
from hiersum.building.pages.addresses import hash_text
from hiersum.building.pages.postings import (
    PageSearch,
    PostingsFolder,
    count_part,
    merge_counts,
    title_words,
)
from hiersum.building.pages.sources import find_sources
from hiersum.building.pages.store import PageFolder, PageStore, build_lookup, read_part, save_array
from hiersum.building.search import query_words

ARTICLES, PAGES = made_up_wiki(30)
TITLES = [article.title for article in ARTICLES]


def searchable(folder: Path, parts: list[list[MadeUpPage]]) -> tuple[PageStore, PageSearch]:
    folder.mkdir()
    paths = [write_page_lines(folder / f"{n}.jsonl", pages) for n, pages in enumerate(parts)]
    pages, place = PageFolder(folder), PostingsFolder(folder)
    for files in find_sources(paths):
        read_part(files, place=pages, limits=Limits(), language="en")
    build_lookup(pages, len(parts))
    words = sorted({word for title in TITLES for word in title_words(title)})
    save_array(np.array(words, np.uint64), place.words)
    for part in range(len(parts)):
        count_part(part, pages=pages, place=place)
    store = PageStore(pages)
    merge_counts(len(parts), store=store, place=place)
    return store, PageSearch(place)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    store, search = searchable(tmp_path_factory.mktemp("one") / "w", [PAGES])
    return {title: [store.at(p).url for p in search.find(title, 10)] for title in TITLES}


def test_results_are_those_of_bm25s(found: dict[str, list[str]]) -> None:
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


def test_parts_do_not_matter_and_pages_that_stand_twice_are_found_once(
    tmp_path: Path, found: dict[str, list[str]]
) -> None:
    parts = [PAGES[:20], [*PAGES[10:50], *PAGES[:3]], PAGES[40:]]
    store, search = searchable(tmp_path / "w", parts)
    assert len(store) == len(PAGES)
    for title, urls in found.items():
        assert [store.at(p).url for p in search.find(title, 10)] == urls


def test_a_title_without_known_words_finds_nothing(tmp_path: Path) -> None:
    _, search = searchable(tmp_path / "w", [PAGES[:5]])
    assert search.find("Zzyzx of the", 10) == []
    assert search.find(TITLES[0], 0) == []
    assert len(search.find(TITLES[0], 2)) == 2
    assert len(search.find(TITLES[0], 100)) <= 5
    again = search.find(TITLES[0], 2)
    assert again == search.find(TITLES[0], 2), "no score is left over from an earlier search"


def test_words_are_told_apart_by_64_bits() -> None:
    assert hash_text("harbour") != hash_text("harbor")
