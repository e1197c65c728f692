"""Addresses of pages: when two are the same, as numbers that fit in a sorted array.

`http` and `https`, `www.` and none, a trailing slash and none, a fragment, a tracker's parameters: such
differences name the same page. A key is 64 bits of a hash, so that tens of millions are looked up in a
file of eight bytes each.
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
    """Return one form for all addresses of the same page, empty for what is no web address."""
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
    """Return the number of a page's address; 0 for what is no web address."""
    normal = normalize_url(url)
    return hash_text(normal) if normal else 0


def hash_text(text: str) -> int:
    """Return 64 bits that stand for a text, the same on every machine."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def keys_of(urls: Iterable[str]) -> Keys:
    """Return the numbers of addresses."""
    return np.fromiter(map(key_of, urls), np.uint64)


def host_of(url: str) -> str:
    """Return the host of an address, empty if it has none."""
    try:
        return (urlsplit(url.strip()).hostname or "").lower()
    except ValueError:
        return ""


def is_wikipedia(url: str) -> bool:
    """Is this a page of Wikipedia itself? Its articles are targets, not sources."""
    return _WIKIPEDIA.search(host_of(url)) is not None


def contains(sorted_keys: Keys, keys: Keys) -> NDArray[np.bool_]:
    """Say of each key whether it stands in a sorted array."""
    if not len(sorted_keys):
        return np.zeros(len(keys), dtype=bool)
    places = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[places] == keys)
