"""Source pages on disk: read by many workers into parts, then looked up by address.

    pages/00000.arrow    the pages of one source file: url, key, title, digest, paragraphs
    pages/00000.json     what was dropped of it, by kind; written last
    lookup/keys.npy      the keys of all pages, sorted, each once
    lookup/places.npy    where they stand: the part in the upper 32 bits, the row in the lower
    lookup/sorted-places.npy   the same, part by part

A page that stands in two sources is taken from the first.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiersum.building.guard import Guard, Limits
from hiersum.building.pages.addresses import Keys, contains, is_wikipedia, key_of, keys_of
from hiersum.building.pages.sources import PageFiles, read_source
from hiersum.building.rows import RowStore, write_rows
from hiersum.building.workplace import write_json
from hiersum.data.files import write_atomically

_EXTRACTION = "hiersum.building.pages.extraction:read_page"
_ROW_BITS = 32


@dataclass(frozen=True, slots=True)
class Page:
    """A source page as clusters need it."""

    url: str
    title: str
    paragraphs: tuple[str, ...]
    digest: int
    """The same for pages of the same words."""


@dataclass(frozen=True, slots=True)
class PageFolder:
    """Where pages lie."""

    folder: Path

    def rows_of(self, part: int) -> Path:
        return self.folder / "pages" / f"{part:05}.arrow"

    def keys_of(self, part: int) -> Path:
        return self.folder / "pages" / f"{part:05}.npy"

    def tally_of(self, part: int) -> Path:
        return self.folder / "pages" / f"{part:05}.json"

    @property
    def wanted(self) -> Path:
        """The keys of pages that are needed, where not all are."""
        return self.folder / "wanted.npy"

    @property
    def lookup(self) -> Path:
        return self.folder / "lookup"


def read_part(files: PageFiles, *, place: PageFolder, limits: Limits, language: str) -> None:
    """Write the pages of some files, then what was dropped of them."""
    import pyarrow as pa

    text, number = pa.string(), pa.uint64()
    schema = pa.schema(
        {"url": text, "key": number, "title": text, "digest": number, "paragraphs": pa.list_(text)}
    )
    wanted = np.load(place.wanted, mmap_mode="r") if place.wanted.exists() else None
    tally: Counter[str] = Counter()
    keys: list[int] = []
    place.rows_of(files.number).parent.mkdir(exist_ok=True)
    with Guard(_EXTRACTION, limits) as guard:
        rows = _rows(files, guard, limits, language, wanted, tally, keys)
        write_rows(rows, schema, place.rows_of(files.number), is_packed=True)
    save_array(np.array(keys, np.uint64), place.keys_of(files.number))
    write_json(place.tally_of(files.number), tally)


def _rows(
    files: PageFiles,
    guard: Guard,
    limits: Limits,
    language: str,
    wanted: Keys | None,
    tally: Counter[str],
    keys: list[int],
) -> Iterator[dict[str, Any]]:
    seen: set[int] = set()

    def is_wanted(url: str) -> bool:
        if not url or wanted is None:
            return True
        return bool(contains(wanted, keys_of([url]))[0])

    problems: Counter[str] = Counter()
    for raw in read_source(files, limits.page_bytes, problems, is_wanted):
        facts = {"kind": raw.kind, "url": raw.url, "title": raw.title, "language": language}
        page = guard(facts, raw.data)
        if "dropped" not in page:
            page = _checked(page, seen, is_wanted)
        if "dropped" in page:
            problems[page["dropped"]] += 1
            continue
        seen.add(page["key"])
        keys.append(page["key"])
        tally["pages"] += 1
        tally["paragraphs"] += len(page["paragraphs"])
        yield page
    tally.update({f"dropped: {kind}": number for kind, number in problems.items() if number})


def _checked(page: dict[str, Any], seen: set[int], is_wanted: Any) -> dict[str, Any]:
    key = key_of(page["url"])
    if not key:
        return {"dropped": "no address"}
    if is_wikipedia(page["url"]):
        return {"dropped": "Wikipedia itself"}
    if key in seen:
        return {"dropped": "address seen before"}
    return {**page, "key": key} if is_wanted(page["url"]) else {"dropped": "not needed"}


def build_lookup(place: PageFolder, num_parts: int) -> int:
    """Sort the keys of all parts; return how many pages stood in an earlier part already."""
    keys = [np.load(place.keys_of(part)) for part in range(num_parts)]
    places = [
        (np.uint64(part) << np.uint64(_ROW_BITS)) + np.arange(len(of_part), dtype=np.uint64)
        for part, of_part in enumerate(keys)
    ]
    all_keys = np.concatenate([*keys, np.empty(0, np.uint64)])
    unique, first = np.unique(all_keys, return_index=True)
    partial = place.lookup.with_name("lookup.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    save_array(unique, partial / "keys.npy")
    found = np.concatenate([*places, np.empty(0, np.uint64)])[first]
    save_array(found, partial / "places.npy")
    save_array(np.sort(found), partial / "sorted-places.npy")
    partial.rename(place.lookup)
    return len(all_keys) - len(unique)


class PageStore:
    """The pages of a build, by key or by place."""

    def __init__(self, place: PageFolder) -> None:
        self._place = place
        self.keys: Keys = np.load(place.lookup / "keys.npy", mmap_mode="r")
        self._places: NDArray[np.uint64] = np.load(place.lookup / "places.npy", mmap_mode="r")
        self._sorted_places = np.load(place.lookup / "sorted-places.npy", mmap_mode="r")
        self._open = lru_cache(maxsize=256)(lambda part: RowStore(place.rows_of(part)))

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, keys: Keys) -> list[Page | None]:
        """Return the pages of some keys, None where there is no such page."""
        found = contains(self.keys, keys)
        where = np.searchsorted(self.keys, keys)
        return [
            self.at(int(self._places[place])) if is_there else None
            for place, is_there in zip(where.tolist(), found.tolist())
        ]

    def at(self, place: int) -> Page:
        """Return the page at a place."""
        row = self._open(place >> _ROW_BITS)[place & ((1 << _ROW_BITS) - 1)]
        return Page(row["url"], row["title"], tuple(row["paragraphs"]), row["digest"])

    def kept_rows(self, part: int) -> NDArray[np.uint32]:
        """Return the rows of a part that are looked up; others stand in an earlier part."""
        ends = np.array([part, part + 1], np.uint64) << np.uint64(_ROW_BITS)
        first, last = np.searchsorted(self._sorted_places, ends)
        rows: NDArray[np.uint32] = (self._sorted_places[first:last] - ends[0]).astype(np.uint32)
        return rows


def save_array(array: NDArray[Any], path: Path) -> None:
    """Write an array so that the file is there whole or not at all."""
    with write_atomically(path) as file:
        np.save(file, array)


def union(arrays: Iterable[Keys]) -> Keys:
    """Return all keys of some arrays, sorted, each once."""
    return np.unique(np.concatenate([*arrays, np.empty(0, np.uint64)]))
