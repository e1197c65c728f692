"""Find pages by URL or by title.

URLs and titles become 64-bit keys that are looked up in sorted arrays. URLs that differ only in
`http` or `https`, `www.`, a trailing slash, a fragment or tracking parameters share a key.

Titles are searched by exact BM25 on disk, or in the user's own search results. Only words of titles
are indexed; all words count towards a text's length. Workers count the words of each part; then the
counts are merged, word by word, into weights (Lucene's form of BM25):

    weight = log(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * length / mean))

    words.npy               sorted hashes of the words of titles
    counts/00000.npz        words, rows, counts and lengths of one part
    index/starts.npy        where each word's entries begin
    index/pages.npy         the text of each entry, numbered over all parts
    index/weights.npy       the weight of each entry
    index/places.npy        the place of each text: part in the upper 32 bits, row in the lower
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import numpy as np
from numpy.typing import NDArray

from hiersum.building.workplace import Workplace, new_folder, save_array, save_arrays
from hiersum.data.files import read_lines
from hiersum.data.records import is_texts, parse_json
from hiersum.errors import DataError
from hiersum.text.words import FUNCTION_WORDS, split_words

Keys = NDArray[np.uint64]

ROW_BITS = 32
_K1, _B = 1.5, 0.75
_MAX_CACHED_WORDS = 1_000_000
_DEFAULT_PORTS = (None, 80, 443)
_TRACKERS = re.compile(r"utm_\w+|fbclid|gclid|ocid|cmpid|mc_[ce]id", re.I)
_SAFE_IN_PATH = "/:@!$&'()*+,;=~-._"
_WIKIPEDIA = re.compile(r"(?:^|\.)(?:wikipedia|wikimedia|wiktionary|wikidata)\.org$")


def normalize_url(url: str) -> str:
    """Return a canonical URL of a page, empty if it is not a web address."""
    try:
        parts = urlsplit(url.strip())
        port, host = parts.port, (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https") or not host:
        return ""
    host = host.lower().removeprefix("www.")
    if port not in _DEFAULT_PORTS:
        host = f"{host}:{port}"
    path = quote(
        unquote(parts.path, errors="surrogateescape"), _SAFE_IN_PATH, errors="surrogateescape"
    )
    query = parts.query
    if _TRACKERS.search(query):
        fields = parse_qsl(query, keep_blank_values=True)
        query = urlencode([(n, value) for n, value in fields if not _TRACKERS.fullmatch(n)])
    return f"{host}{path.rstrip('/')}{f'?{query}' if query else ''}"


def key_of(url: str) -> int:
    """Return the key of a URL, 0 if it is not a web address."""
    normal = normalize_url(url)
    return hash_text(normal) if normal else 0


def hash_text(text: str) -> int:
    """Return a 64-bit hash of a text, the same on every machine."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def title_hash(title: str) -> int:
    """Return the hash of a title; case and spacing do not matter."""
    return hash_text(" ".join(title.replace("_", " ").casefold().split()))


def keys_of(urls: Iterable[str]) -> Keys:
    return np.fromiter(map(key_of, urls), np.uint64)


def is_wikipedia(url: str) -> bool:
    """Whether this is a page of Wikipedia itself: its articles are targets, not sources."""
    host = re.split("[/:?]", normalize_url(url), maxsplit=1)[0]
    return _WIKIPEDIA.search(host) is not None


def contains(sorted_keys: Keys, keys: Keys) -> NDArray[np.bool_]:
    """Return for each key whether a sorted array contains it."""
    if not len(sorted_keys):
        return np.zeros(len(keys), dtype=bool)
    places = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[places] == keys)


def union(arrays: Iterable[Keys]) -> Keys:
    """Return all keys of some arrays, sorted, without repeats."""
    return np.unique(np.concatenate([*arrays, np.empty(0, np.uint64)]))


def query_words(text: str) -> list[str]:
    return [word for word in split_words(text) if word not in FUNCTION_WORDS]


def hash_words(titles: Iterable[str]) -> Keys:
    """Return the sorted hashes of the words of titles."""
    hashes = {hash_text(word) for title in titles for word in query_words(title)}
    return np.array(sorted(hashes), np.uint64)


class _Vocabulary:
    """Numbers the words of titles."""

    def __init__(self, place: Workplace) -> None:
        self._hashes: Keys = np.load(place.folder / "words.npy", mmap_mode="r")
        self.number = lru_cache(maxsize=_MAX_CACHED_WORDS)(self._look_up)

    def _look_up(self, word: str) -> int:
        """Return a word's number, -1 if no title has it."""
        hashed = np.uint64(hash_text(word))
        place = int(np.searchsorted(self._hashes, hashed))
        is_there = place < len(self._hashes) and self._hashes[place] == hashed
        return place if is_there else -1


def count_words(texts: Iterable[str], part: int, place: Workplace) -> None:
    """Count the words of titles in the texts of one part."""
    vocabulary = _Vocabulary(place)
    words, rows, counts, lengths = array("I"), array("I"), array("I"), array("I")
    for row, text in enumerate(texts):
        found = query_words(text)
        lengths.append(len(found))
        for word, count in sorted(Counter(map(vocabulary.number, found)).items()):
            if word >= 0:
                words.append(word)
                rows.append(row)
                counts.append(count)
    arrays = {"words": words, "rows": rows, "counts": counts, "lengths": lengths}
    as_numbers = {name: np.array(values, np.uint32) for name, values in arrays.items()}
    save_arrays(place.part("counts", part, "npz"), **as_numbers)


def merge_counts(place: Workplace, places: Sequence[Keys]) -> None:
    """Merge the counts of all parts into one index, with one part in memory at a time.

    `places` lists each part's searchable texts, in order.
    """

    def counts_of_parts() -> Iterator[dict[str, NDArray[np.int64]]]:
        for part, found in enumerate(places):
            yield _kept_counts(place.part("counts", part, "npz"), found)

    num_words = len(np.load(place.folder / "words.npy", mmap_mode="r"))
    frequency = np.zeros(num_words, np.int64)
    num_texts, total_length = 0, 0
    for counts in counts_of_parts():
        frequency += np.bincount(counts["words"], minlength=num_words)
        num_texts += len(counts["lengths"])
        total_length += int(counts["lengths"].sum())
    rarity = np.log(1 + (num_texts - frequency + 0.5) / (frequency + 0.5))
    mean_length = total_length / max(num_texts, 1) or 1.0
    starts = np.concatenate([[0], np.cumsum(frequency)])
    with new_folder(place.folder / "index") as folder:
        np.save(folder / "starts.npy", starts)
        shape = (max(int(starts[-1]), 1),)  # empty files cannot be mapped
        texts = np.lib.format.open_memmap(folder / "pages.npy", "w+", np.uint32, shape)
        weights = np.lib.format.open_memmap(folder / "weights.npy", "w+", np.float32, shape)
        cursor = starts[:-1].copy()
        first = 0
        for counts in counts_of_parts():
            order = np.argsort(counts["words"], kind="stable")
            words, rows = counts["words"][order], counts["rows"][order]
            times = counts["counts"][order].astype(np.float64)
            run_starts = np.flatnonzero(np.diff(words, prepend=-1))
            runs = np.diff(run_starts, append=len(words))
            within = np.arange(len(words)) - np.repeat(run_starts, runs)
            target = cursor[words] + within
            norm = _K1 * (1 - _B + _B * counts["lengths"][rows] / mean_length)
            texts[target] = first + rows
            weights[target] = rarity[words] * times / (times + norm)
            cursor[words[run_starts]] += runs
            first += len(counts["lengths"])
        np.save(folder / "places.npy", np.concatenate([*places, np.empty(0, np.uint64)]))
        texts.flush()
        weights.flush()


def _kept_counts(path: Path, places: Keys) -> dict[str, NDArray[np.int64]]:
    """Return the counts of the texts at these places, renumbered 0, 1, ..."""
    with np.load(path) as file:
        counts = {name: file[name].astype(np.int64) for name in file}
    kept = (places & np.uint64((1 << ROW_BITS) - 1)).astype(np.int64)
    number = np.full(len(counts["lengths"]), -1, np.int64)
    number[kept] = np.arange(len(kept))
    counts["rows"] = number[counts["rows"]]
    is_kept = counts["rows"] >= 0
    return {
        "lengths": counts["lengths"][kept],
        **{name: counts[name][is_kept] for name in ("words", "rows", "counts")},
    }


class TitleSearch:
    """Finds texts by titles."""

    def __init__(self, place: Workplace) -> None:
        self._vocabulary = _Vocabulary(place)
        self._starts, self._texts, self._weights, self._places = (
            np.load(place.folder / "index" / f"{name}.npy", mmap_mode="r")
            for name in ("starts", "pages", "weights", "places")
        )
        self._scores = np.zeros(len(self._places), np.float32)

    def find(self, title: str, number: int) -> list[int]:
        """Return the places of the texts that best match a title, best first.

        A text must share a word with the title. Ties keep the order of texts.
        """
        if number < 1:
            return []
        touched = []
        for word in query_words(title):
            if (word_number := self._vocabulary.number(word)) < 0:
                continue
            start, end = self._starts[word_number : word_number + 2].tolist()
            texts = self._texts[start:end]
            self._scores[texts] += self._weights[start:end]  # each word lists a text only once
            touched.append(texts)
        if not touched:
            return []
        candidates = np.unique(np.concatenate(touched)) if len(touched) > 1 else touched[0]
        scores = self._scores[candidates]
        self._scores[candidates] = 0
        if number < len(scores):
            is_best = scores >= np.partition(scores, -number)[-number]
            candidates, scores = candidates[is_best], scores[is_best]
        best = candidates[np.argsort(-scores, kind="stable")][:number]
        return [int(place) for place in self._places[best]]


def keep_results(path: Path, folder: Path) -> None:
    """Store search results, lines {"title": ..., "urls": [...]}, as arrays that workers share."""
    titles: list[int] = []
    keys: list[Keys] = []
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        record: Any = parse_json(line, where)
        fields: dict[str, Any] = record if isinstance(record, dict) else {}
        title, urls = fields.get("title"), fields.get("urls")
        if not isinstance(title, str) or not is_texts(urls):
            raise DataError(f'{where}: expected {{"title": ..., "urls": [...]}}, all of it text')
        titles += [title_hash(title)] * len(urls)
        keys.append(keys_of(urls))
    hashes = np.array(titles, np.uint64)
    order = np.argsort(hashes, kind="stable")  # keeps each title's results in order
    with new_folder(folder) as partly:
        save_array(hashes[order], partly / "titles.npy")
        save_array(np.concatenate([*keys, np.empty(0, np.uint64)])[order], partly / "keys.npy")


class SearchResults:
    """Search results stored by `keep_results`."""

    def __init__(self, folder: Path) -> None:
        self._titles: Keys = np.load(folder / "titles.npy", mmap_mode="r")
        self.keys: Keys = np.load(folder / "keys.npy", mmap_mode="r")

    def of(self, title: str, number: int) -> Keys:
        """Return the keys of a title's first results."""
        hashed = np.uint64(title_hash(title))
        start = int(np.searchsorted(self._titles, hashed))
        end = int(np.searchsorted(self._titles, hashed, "right"))
        return np.array(self.keys[start:end][:number])
