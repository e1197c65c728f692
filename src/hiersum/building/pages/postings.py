"""BM25 over pages on disk, exact and in flat memory: titles are the queries.

Only words of titles are indexed. Each part of the pages is counted by a worker; then all counts are
put in one file, word by word, as finished weights (Lucene's form of BM25):

    weight = log(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * length / mean length))

    words.npy               hashes of the words of titles, sorted
    counts/00000.npz        words, rows, counts, lengths of one part
    index/starts.npy        where each word's entries begin
    index/pages.npy         the pages of each entry: their number over all parts
    index/weights.npy       their weights
"""

from __future__ import annotations

import shutil
from array import array
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hiersum.building.pages.addresses import hash_text
from hiersum.building.pages.store import PageFolder, PageStore
from hiersum.building.rows import RowStore
from hiersum.building.search import query_words
from hiersum.data.files import write_atomically

_K1, _B = 1.5, 0.75
_MAX_CACHED_WORDS = 1_000_000


@dataclass(frozen=True, slots=True)
class PostingsFolder:
    """Where the index lies."""

    folder: Path

    @property
    def words(self) -> Path:
        return self.folder / "words.npy"

    @property
    def index(self) -> Path:
        return self.folder / "index"

    def counts_of(self, part: int) -> Path:
        return self.folder / "counts" / f"{part:05}.npz"


class _Vocabulary:
    """From words to their numbers."""

    def __init__(self, place: PostingsFolder) -> None:
        self._hashes: NDArray[np.uint64] = np.load(place.words, mmap_mode="r")
        self._known: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._hashes)

    def number(self, word: str) -> int:
        """Return a word's number, -1 if no title has it."""
        if (known := self._known.get(word)) is not None:
            return known
        if len(self._known) >= _MAX_CACHED_WORDS:
            self._known.clear()
        hashed = np.uint64(hash_text(word))
        place = int(np.searchsorted(self._hashes, hashed))
        is_there = place < len(self._hashes) and self._hashes[place] == hashed
        self._known[word] = number = place if is_there else -1
        return number


def title_words(title: str) -> list[int]:
    """Return the hashes of the words that a title asks for."""
    return [hash_text(word) for word in query_words(title)]


def count_part(part: int, *, pages: PageFolder, place: PostingsFolder) -> None:
    """Count the words of titles in the pages of one part."""
    vocabulary = _Vocabulary(place)
    words, rows, counts, lengths = array("I"), array("I"), array("I"), array("I")
    for row, page in enumerate(RowStore(pages.rows_of(part))):
        found = query_words(" ".join((page["title"], *page["paragraphs"])))
        lengths.append(len(found))
        for word, count in sorted(Counter(map(vocabulary.number, found)).items()):
            if word >= 0:
                words.append(word)
                rows.append(row)
                counts.append(count)
    place.counts_of(part).parent.mkdir(exist_ok=True)
    with write_atomically(place.counts_of(part)) as file:
        arrays = {"words": words, "rows": rows, "counts": counts, "lengths": lengths}
        as_numbers = {name: np.array(values, np.uint32) for name, values in arrays.items()}
        np.savez(file, **as_numbers)  # type: ignore[arg-type]


def merge_counts(num_parts: int, *, store: PageStore, place: PostingsFolder) -> None:
    """Turn the counts of all parts into one index; memory holds one part at a time."""
    num_words = len(np.load(place.words, mmap_mode="r"))
    frequency = np.zeros(num_words, np.int64)
    num_pages, total_length = 0, 0
    for part in range(num_parts):
        counts = _kept(part, store, place)
        frequency += np.bincount(counts["words"], minlength=num_words)
        num_pages += len(counts["lengths"])
        total_length += int(counts["lengths"].sum())
    rarity = np.log(1 + (num_pages - frequency + 0.5) / (frequency + 0.5))
    mean_length = total_length / max(num_pages, 1) or 1.0
    starts = np.concatenate([[0], np.cumsum(frequency)])
    partial = place.index.with_name("index.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    np.save(partial / "starts.npy", starts)
    shape = (max(int(starts[-1]), 1),)  # nothing cannot be mapped
    pages = np.lib.format.open_memmap(partial / "pages.npy", "w+", np.uint32, shape)
    weights = np.lib.format.open_memmap(partial / "weights.npy", "w+", np.float32, shape)
    cursor = starts[:-1].copy()
    places = []
    first = 0
    for part in range(num_parts):
        counts = _kept(part, store, place)
        order = np.argsort(counts["words"], kind="stable")
        words, rows = counts["words"][order], counts["rows"][order]
        times = counts["counts"][order].astype(np.float64)
        run_starts = np.flatnonzero(np.diff(words, prepend=-1))
        runs = np.diff(run_starts, append=len(words))
        within = np.arange(len(words)) - np.repeat(run_starts, runs)
        target = cursor[words] + within
        norm = _K1 * (1 - _B + _B * counts["lengths"][rows] / mean_length)
        pages[target] = first + rows
        weights[target] = rarity[words] * times / (times + norm)
        cursor[words[run_starts]] += runs
        places.append((np.uint64(part) << np.uint64(32)) + store.kept_rows(part))
        first += len(counts["lengths"])
    np.save(partial / "places.npy", np.concatenate([*places, np.empty(0, np.uint64)]))
    pages.flush()
    weights.flush()
    partial.rename(place.index)


def _kept(part: int, store: PageStore, place: PostingsFolder) -> dict[str, NDArray[np.int64]]:
    """Return the counts of a part for those of its pages that are looked up, numbered anew."""
    with np.load(place.counts_of(part)) as file:
        counts = {name: file[name].astype(np.int64) for name in file}
    kept = store.kept_rows(part)
    number = np.full(len(counts["lengths"]), -1, np.int64)
    number[kept] = np.arange(len(kept))
    counts["rows"] = number[counts["rows"]]
    is_kept = counts["rows"] >= 0
    return {
        "lengths": counts["lengths"][kept],
        **{name: counts[name][is_kept] for name in ("words", "rows", "counts")},
    }


class PageSearch:
    """Finds pages by titles."""

    def __init__(self, place: PostingsFolder) -> None:
        self._vocabulary = _Vocabulary(place)
        self._starts = np.load(place.index / "starts.npy", mmap_mode="r")
        self._pages = np.load(place.index / "pages.npy", mmap_mode="r")
        self._weights = np.load(place.index / "weights.npy", mmap_mode="r")
        self._places = np.load(place.index / "places.npy", mmap_mode="r")
        self._scores = np.zeros(len(self._places), np.float32)

    def find(self, title: str, num_pages: int) -> list[int]:
        """Return the places of the pages that fit a title best, the best first.

        Only pages that share a word with the title are found; of equals the first comes first.
        """
        touched = []
        for word in query_words(title):
            if (number := self._vocabulary.number(word)) < 0:
                continue
            start, end = self._starts[number : number + 2].tolist()
            pages = self._pages[start:end]
            self._scores[pages] += self._weights[start:end]  # a word has a page only once
            touched.append(pages)
        if not touched or num_pages < 1:
            return []
        candidates = np.unique(np.concatenate(touched)) if len(touched) > 1 else touched[0]
        scores = self._scores[candidates]
        self._scores[candidates] = 0
        if num_pages < len(scores):
            cutoff = np.partition(scores, -num_pages)[-num_pages]
            is_best = scores >= cutoff
            candidates, scores = candidates[is_best], scores[is_best]
        best = candidates[np.argsort(-scores, kind="stable")][:num_pages]
        return [int(place) for place in self._places[best]]
