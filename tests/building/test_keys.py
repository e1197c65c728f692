"""Two addresses of one page have one key; two pages have two."""

from __future__ import annotations

import numpy as np
import pytest

from hiersum.building.keys import contains, is_wikipedia, key_of, keys_of, normalize_url

ONE_PAGE = [
    "http://example.org/a/b?x=1",
    "https://www.example.org/a/b/?x=1",
    "HTTPS://WWW.Example.ORG:443/a/b?x=1#part",
    "http://example.org./a/b?x=1&utm_source=feed&fbclid=9",
    "http://example.org/%61/b?x=1",
]


@pytest.mark.parametrize("url", ONE_PAGE)
def test_differences_that_do_not_matter(url: str) -> None:
    assert normalize_url(url) == "example.org/a/b?x=1"


@pytest.mark.parametrize(
    "url",
    ["http://example.org/a/B?x=1", "http://example.org/a/b", "http://example.org:8080/a/b?x=1"],
)
def test_differences_that_matter(url: str) -> None:
    assert key_of(url) not in (0, key_of(ONE_PAGE[0]))


@pytest.mark.parametrize(
    "url", ["", "ftp://a.example/x", "/a/b", "http://", "http://[::1", "mailto:a@b"]
)
def test_what_is_no_web_address_has_no_key(url: str) -> None:
    assert key_of(url) == 0


def test_keys_are_found_in_sorted_arrays() -> None:
    urls = [f"http://a.example/{n}" for n in range(50)]
    kept = np.sort(keys_of(urls[::2]))
    assert contains(kept, keys_of(urls)).tolist() == [n % 2 == 0 for n in range(50)]
    assert contains(kept[:0], keys_of(urls[:2])).tolist() == [False, False]


def test_wikipedia_is_known_in_all_languages() -> None:
    assert is_wikipedia("https://de.m.wikipedia.org/wiki/Haus")
    assert not is_wikipedia("https://notwikipedia.org/wiki/Haus")
