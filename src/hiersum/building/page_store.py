"""Source pages on disk: workers extract text, then pages are looked up by URL.

    pages/00000.arrow    the pages of one source: url, key, title, digest, paragraphs
    pages/00000.npy      their keys
    pages/00000.json     the number of dropped pages, by reason; written last
    lookup/keys.npy      the keys of all pages, sorted, each once
    lookup/places.npy    their places: the part in the upper 32 bits, the row in the lower

If two sources have a page, the first one counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from hiersum.building.guard import Guard, Limits
from hiersum.building.lookup import (
    ROW_BITS,
    Keys,
    contains,
    count_words,
    hash_text,
    is_wikipedia,
    key_of,
    keys_of,
)
from hiersum.building.page_files import PageFiles, read_source
from hiersum.building.workplace import (
    RowStore,
    Tally,
    Workplace,
    new_folder,
    save_array,
    write_rows,
)
from hiersum.data.files import write_json
from hiersum.text.encodings import clean_text
from hiersum.text.languages import UNKNOWN, detect_language
from hiersum.text.paragraphs import is_fragment, split_text
from hiersum.text.words import split_words

_SAVED_FROM = re.compile(rb"<!-- saved from url=\(\d+\)(\S+) -->")
_OWN_URLS = (("link[rel=canonical]", "href"), ("meta[property='og:url']", "content"))
_MAX_TITLE_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Page:
    """A source page."""

    url: str
    title: str
    paragraphs: tuple[str, ...]
    digest: int
    """Equal for pages with the same words."""


def extract_page(facts: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    """Return `url`, `title`, `paragraphs` and `digest`, or why a page is `dropped`; under a guard.

    The facts are `kind` (html or text), `language` (a code, or any), and `url` and `title` if known.
    """
    url, title = str(facts.get("url") or ""), str(facts.get("title") or "")
    if facts["kind"] == "html":
        found = _html_text(data)
        if found is None:
            return {"dropped": "not text"}
        text, url, title = found[0], url or found[2], title or found[1]
    else:
        text = clean_text(data.decode("utf-8", "replace"))
    if not url:
        return {"dropped": "no address"}
    paragraphs = [part for part in dict.fromkeys(split_text(text)) if not is_fragment(part)]
    if not paragraphs:
        return {"dropped": "no text"}
    if facts["language"] != "any":
        language = detect_language(" ".join(paragraphs[:20]))
        if language not in (facts["language"], UNKNOWN):
            return {"dropped": "other language"}
    digest = hash_text(" ".join(word for text in paragraphs for word in split_words(text)))
    title = " ".join(clean_text(title).split())[:_MAX_TITLE_CHARACTERS]
    return {"url": url, "title": title, "paragraphs": paragraphs, "digest": digest}


def _html_text(data: bytes) -> tuple[str, str, str] | None:
    """Return the main text of a page, its title, and its canonical URL; None if it is binary."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding
    from resiliparse.parse.html import HTMLTree

    try:
        html = data.decode("utf-8")
    except UnicodeDecodeError:
        encoding = detect_encoding(data, from_html_meta=True) or "utf-8"
        html = bytes_to_str(data, encoding, "replace")
    if html.count("\x00") > len(html) // 100:
        return None
    tree = HTMLTree.parse(html)
    text = extract_plain_text(
        tree, main_content=True, alt_texts=False, links=False, list_bullets=False
    )
    return clean_text(text), str(tree.title or ""), _own_url(tree, data)


def _own_url(tree: Any, data: bytes) -> str:
    if saved := _SAVED_FROM.search(data[:2048]):
        return saved[1].decode("ascii", "replace")
    for selector, attribute in _OWN_URLS:
        element = tree.head and tree.head.query_selector(selector)
        url = str(element.getattr(attribute) or "") if element else ""
        if url.startswith(("http://", "https://")):
            return url
    return ""


def read_part(files: PageFiles, *, place: Workplace, limits: Limits, language: str) -> None:
    """Write the pages of some files, then the tally of what was dropped."""
    import pyarrow as pa

    text, number = pa.string(), pa.uint64()
    schema = pa.schema(
        {"url": text, "key": number, "title": text, "digest": number, "paragraphs": pa.list_(text)}
    )
    path = place.folder / "wanted.npy"
    wanted = np.load(path, mmap_mode="r") if path.exists() else None

    def is_wanted(url: str) -> bool:
        return not url or wanted is None or bool(contains(wanted, keys_of([url]))[0])

    tally: Tally = Counter()
    keys: dict[int, None] = {}

    def rows(extract: Guard) -> Iterator[dict[str, Any]]:
        for raw in read_source(files, limits.page_bytes, is_wanted):
            if isinstance(raw, str):
                tally[f"dropped: {raw}"] += 1
                continue
            facts = {"kind": raw.kind, "url": raw.url, "title": raw.title, "language": language}
            page = extract(facts, raw.data)
            if reason := page.get("dropped") or _reason_to_drop(page["url"], keys, is_wanted):
                tally[f"dropped: {reason}"] += 1
                continue
            page["key"] = key_of(page["url"])
            keys[page["key"]] = None
            tally.update({"pages": 1, "paragraphs": len(page["paragraphs"])})
            yield page

    with Guard(f"{__name__}:{extract_page.__name__}", limits) as guard:
        write_rows(rows(guard), schema, place.part("pages", files.number, "arrow"), is_packed=True)
    save_array(np.array(list(keys), np.uint64), place.part("pages", files.number, "npy"))
    write_json(place.part("pages", files.number, "json"), tally)


def _reason_to_drop(
    url: str, seen: Mapping[int, None], is_wanted: Callable[[str], bool]
) -> str | None:
    if not key_of(url):
        return "no address"
    if is_wikipedia(url):
        return "Wikipedia itself"
    if key_of(url) in seen:
        return "address seen before"
    return None if is_wanted(url) else "not needed"


def count_page_words(part: int, *, place: Workplace) -> None:
    """Count the words of titles in the pages of one part."""
    rows = RowStore(place.part("pages", part, "arrow"))
    count_words((" ".join((row["title"], *row["paragraphs"])) for row in rows), part, place)
    write_json(place.part("counts", part, "json"), {})


def build_lookup(place: Workplace, num_parts: int) -> None:
    """Sort the keys of all parts; the first page with a key is kept."""
    keys = [np.load(place.part("pages", part, "npy")) for part in range(num_parts)]
    places = [
        (np.uint64(part) << np.uint64(ROW_BITS)) + np.arange(len(of_part), dtype=np.uint64)
        for part, of_part in enumerate(keys)
    ]
    none = np.empty(0, np.uint64)
    unique, first = np.unique(np.concatenate([*keys, none]), return_index=True)
    with new_folder(place.folder / "lookup") as folder:
        save_array(unique, folder / "keys.npy")
        save_array(np.concatenate([*places, none])[first], folder / "places.npy")


class PageStore:
    """The pages of a build, by key or by place."""

    def __init__(self, place: Workplace) -> None:
        lookup = place.folder / "lookup"
        self._keys: Keys = np.load(lookup / "keys.npy", mmap_mode="r")
        self._places: Keys = np.load(lookup / "places.npy", mmap_mode="r")
        self._open = lru_cache(maxsize=256)(
            lambda part: RowStore(place.part("pages", part, "arrow"))
        )

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, keys: Keys) -> list[Page | None]:
        """Return the pages with these keys, None for missing ones."""
        found = contains(self._keys, keys)
        where = np.searchsorted(self._keys, keys)
        return [
            self.at(int(self._places[place])) if is_there else None
            for place, is_there in zip(where.tolist(), found.tolist())
        ]

    def at(self, place: int) -> Page:
        row = self._open(place >> ROW_BITS)[place & ((1 << ROW_BITS) - 1)]
        return Page(row["url"], row["title"], tuple(row["paragraphs"]), row["digest"])

    def places_by_part(self, num_parts: int) -> list[Keys]:
        """Return the places of each part's pages, without those in earlier parts."""
        places = np.sort(self._places)
        starts = np.arange(num_parts + 1, dtype=np.uint64) << np.uint64(ROW_BITS)
        ends = np.searchsorted(places, starts)
        return [places[start:end] for start, end in pairwise(ends.tolist())]
