"""A user's own search results: a file of titles and addresses, from any search engine.

Lines {"title": ..., "urls": [...]}, the best first; or title, tab, address, one result a line.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hiersum.building.pages.addresses import Keys, keys_of
from hiersum.building.pages.store import save_array
from hiersum.building.wikipedia.articles import title_hash
from hiersum.data.files import read_lines
from hiersum.data.records import parse_json
from hiersum.errors import DataError


def keep_results(path: Path, folder: Path) -> None:
    """Turn a file of results into arrays that all workers share.

    Raises:
        DataError: a line is neither of the two forms; `file:line` and what is wrong.
    """
    titles: list[int] = []
    keys: list[Keys] = []
    for title, urls in _read(path):
        of_title = keys_of(urls)
        titles += [title_hash(title)] * len(of_title)
        keys.append(of_title)
    hashes = np.array(titles, np.uint64)
    order = np.argsort(hashes, kind="stable")  # the best of a title stay first
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    save_array(hashes[order], partial / "titles.npy")
    save_array(np.concatenate([*keys, np.empty(0, np.uint64)])[order], partial / "keys.npy")
    partial.rename(folder)


class SearchResults:
    """Results that `keep_results` kept."""

    def __init__(self, folder: Path) -> None:
        self._titles: Keys = np.load(folder / "titles.npy", mmap_mode="r")
        self.keys: Keys = np.load(folder / "keys.npy", mmap_mode="r")

    def of(self, title: str, num_pages: int) -> Keys:
        """Return the keys of a title's first results."""
        hashed = np.uint64(title_hash(title))
        start = int(np.searchsorted(self._titles, hashed, "left"))
        end = int(np.searchsorted(self._titles, hashed, "right"))
        return np.array(self.keys[start : min(end, start + num_pages)])


def _read(path: Path) -> Iterator[tuple[str, list[str]]]:
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        if not line.lstrip().startswith(b"{"):
            title, tab, url = line.decode("utf-8", "replace").partition("\t")
            if not tab or not url.strip():
                raise DataError(
                    f'{where}: expected {{"title": ..., "urls": [...]}} or a title, a tab, an address'
                )
            yield title, [url.strip()]
            continue
        record: Any = parse_json(line, where)
        title, urls = record.get("title"), record.get("urls")
        if not isinstance(title, str) or not isinstance(urls, list):
            raise DataError(f'{where}: expected "title" as text and "urls" as a list of addresses')
        if not all(isinstance(url, str) for url in urls):
            raise DataError(f'{where}: "urls" must be a list of addresses')
        yield title, urls
