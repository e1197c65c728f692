"""URLs and titles as 64-bit keys that are looked up in sorted arrays.

URLs that differ only in `http` or `https`, `www.`, a trailing slash, a fragment or tracking parameters
name the same page and have the same key. Tens of millions of keys fit in a file of eight bytes each.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

_DEFAULT_PORTS = (None, 80, 443)
_TRACKERS = re.compile(r"utm_\w+|fbclid|gclid|ocid|cmpid|mc_[ce]id", re.I)
_SAFE_IN_PATH = "/:@!$&'()*+,;=~-._"
_WIKIPEDIA = re.compile(r"(?:^|\.)(?:wikipedia|wikimedia|wiktionary|wikidata)\.org$")


def normalize_url(url: str) -> str:
    """Return one form for all URLs of the same page, empty for what is no web address."""
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
    """Return the key of a URL, 0 for what is no web address."""
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
    """Return the keys of URLs."""
    return np.fromiter(map(key_of, urls), np.uint64)


def is_wikipedia(url: str) -> bool:
    """Is this a page of Wikipedia itself? Its articles are targets, not sources."""
    host = normalize_url(url).partition("/")[0].partition(":")[0].partition("?")[0]
    return _WIKIPEDIA.search(host) is not None


def contains(sorted_keys: Keys, keys: Keys) -> NDArray[np.bool_]:
    """Tell for each key whether a sorted array contains it."""
    if not len(sorted_keys):
        return np.zeros(len(keys), dtype=bool)
    places = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[places] == keys)


def union(arrays: Iterable[Keys]) -> Keys:
    """Return all keys of some arrays, sorted, without repeats."""
    return np.unique(np.concatenate([*arrays, np.empty(0, np.uint64)]))
