"""The articles of a dump on disk: read by many workers into parts, then put in order.

    articles/00000.arrow    the articles of one chunk: id, title, lead, urls
    articles/00000.npz      as numbers: hashes of titles, keys of addresses, hashes of title words
    articles/00000.json     what was skipped, by kind; written last
    order.npy               all articles, each title once: split, hash, chunk, row

The hash of its title says in which split an article is, and where it stands in it: neither depends on
the dump, on the number of workers, or on what else is in the set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiersum.building.guard import Guard, Limits
from hiersum.building.pages.addresses import Keys, hash_text, key_of
from hiersum.building.pages.postings import title_words
from hiersum.building.pages.store import save_array
from hiersum.building.rows import RowStore, write_rows
from hiersum.building.wikipedia.dump import DumpChunk, WikiPage, read_pages
from hiersum.building.wikipedia.wikitext import read_article
from hiersum.building.workplace import write_json
from hiersum.data.files import write_atomically

SPLITS = ("train", "valid", "test")
_READING = "hiersum.building.wikipedia.articles:read_wikitext"
_ORDER = np.dtype([("split", "u1"), ("hash", "u8"), ("chunk", "u4"), ("row", "u4")])


@dataclass(frozen=True, slots=True)
class CitingArticle:
    """An article and what it cites."""

    id: str
    title: str
    lead: str
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArticleFolder:
    """Where articles lie."""

    folder: Path

    def rows_of(self, chunk: int) -> Path:
        return self.folder / "articles" / f"{chunk:05}.arrow"

    def numbers_of(self, chunk: int) -> Path:
        return self.folder / "articles" / f"{chunk:05}.npz"

    def tally_of(self, chunk: int) -> Path:
        return self.folder / "articles" / f"{chunk:05}.json"

    @property
    def order(self) -> Path:
        return self.folder / "order.npy"


def read_wikitext(facts: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    """Return the lead and the addresses of an article; this runs under a guard."""
    article = read_article(facts["title"], data.decode("utf-8", "surrogatepass"))
    if article.skipped:
        return {"dropped": article.skipped}
    return {"lead": article.lead, "urls": article.urls}


def read_chunk(chunk: DumpChunk, *, place: ArticleFolder, limits: Limits) -> None:
    """Write the articles of a chunk, then what was skipped of it."""
    import pyarrow as pa

    text = pa.string()
    schema = pa.schema({"id": text, "title": text, "lead": text, "urls": pa.list_(text)})
    tally: Counter[str] = Counter()
    numbers = _Numbers()
    place.rows_of(chunk.number).parent.mkdir(exist_ok=True)
    with Guard(_READING, limits) as guard:
        rows = numbers.watch(_rows(chunk, guard, limits, tally))
        write_rows(rows, schema, place.rows_of(chunk.number), is_packed=True)
    with write_atomically(place.numbers_of(chunk.number)) as file:
        np.savez(file, **numbers.arrays())  # type: ignore[arg-type]
    write_json(place.tally_of(chunk.number), tally)


def _rows(
    chunk: DumpChunk, guard: Guard, limits: Limits, tally: Counter[str]
) -> Iterator[dict[str, Any]]:
    problems: Counter[str] = Counter()
    for page in read_pages(chunk, problems):
        tally["pages of the dump"] += 1
        found = _article(page, guard, limits)
        if "dropped" in found:
            problems[found["dropped"]] += 1
        else:
            tally["articles"] += 1
            yield {"id": page.id, "title": page.title, **found}
    tally.update({f"skipped: {kind}": number for kind, number in problems.items() if number})


def _article(page: WikiPage, guard: Guard, limits: Limits) -> dict[str, Any]:
    if page.namespace != 0:
        return {"dropped": "no article"}
    if page.is_redirect:
        return {"dropped": "redirect"}
    data = page.text.encode("utf-8", "surrogatepass")
    if len(data) > limits.page_bytes:
        return {"dropped": "too large"}
    return guard({"title": page.title}, data)


class _Numbers:
    """The numbers of articles that pass by."""

    def __init__(self) -> None:
        self._titles: list[int] = []
        self._urls: set[int] = set()
        self._words: set[int] = set()

    def watch(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for row in rows:
            self._titles.append(title_hash(row["title"]))
            self._urls.update(key_of(url) for url in row["urls"])
            self._words.update(title_words(row["title"]))
            yield row

    def arrays(self) -> dict[str, NDArray[np.uint64]]:
        return {
            "titles": np.array(self._titles, np.uint64),
            "urls": np.array(sorted(self._urls - {0}), np.uint64),
            "words": np.array(sorted(self._words), np.uint64),
        }


def title_hash(title: str) -> int:
    """Return the number of a title; capitals and blanks do not count."""
    return hash_text(" ".join(title.replace("_", " ").casefold().split()))


def put_in_order(
    place: ArticleFolder, num_chunks: int, *, valid_share: float, test_share: float
) -> tuple[NDArray[Any], int]:
    """Order all articles by split and hash; return them, and how many titles stood twice."""
    parts = []
    for chunk in range(num_chunks):
        hashes = numbers_of(place, chunk, "titles")
        part = np.zeros(len(hashes), _ORDER)
        part["hash"], part["chunk"], part["row"] = hashes, chunk, np.arange(len(hashes))
        parts.append(part)
    articles = np.concatenate([*parts, np.zeros(0, _ORDER)])
    _, first = np.unique(articles["hash"], return_index=True)
    kept = articles[np.sort(first)]
    share = kept["hash"] / 2.0**64
    kept["split"] = np.where(
        share < valid_share, 1, np.where(share < valid_share + test_share, 2, 0)
    )
    kept = np.sort(kept, order=("split", "hash"))
    save_array(kept, place.order)
    return kept, len(articles) - len(kept)


def numbers_of(place: ArticleFolder, chunk: int, name: str) -> Keys:
    """Return the numbers of one kind of a chunk."""
    with np.load(place.numbers_of(chunk)) as file:
        numbers: Keys = file[name]
    return numbers


class CitingArticles:
    """The articles of a build, in their order."""

    def __init__(self, place: ArticleFolder) -> None:
        self._order = np.load(place.order, mmap_mode="r")
        self._open = lru_cache(maxsize=256)(lambda chunk: RowStore(place.rows_of(chunk)))

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, number: int) -> CitingArticle:
        entry = self._order[number]
        row = self._open(int(entry["chunk"]))[int(entry["row"])]
        return CitingArticle(row["id"], row["title"], row["lead"], tuple(row["urls"]))
