"""A page becomes paragraphs: main text, prose only, in the language that is wanted.

This is what runs under a guard (`guard.py`): it meets arbitrary bytes from the web.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hiersum.building.pages.addresses import hash_text
from hiersum.config import DataConfig
from hiersum.errors import InputError, MissingDependencyError
from hiersum.text.encodings import clean_text, decode_text
from hiersum.text.languages import UNKNOWN, detect_language
from hiersum.text.paragraphs import is_fragment, split_text
from hiersum.text.words import split_words

_SAVED_FROM = re.compile(rb"<!-- saved from url=\(\d+\)(\S+) -->")
_MAX_TITLE_CHARACTERS = 300


def read_page(facts: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    """Return the paragraphs of a page, or why it is dropped.

    Args:
        facts: `kind` (html or text), `language` (a code, or any), and the page's `url` and `title`,
            where they are known.
        data: the page; text is UTF-8.

    Returns:
        `url`, `title`, `paragraphs` and `digest` (the same for pages of the same words); or `dropped`.
    """
    url, title = str(facts.get("url") or ""), str(facts.get("title") or "")
    if facts["kind"] == "html":
        try:
            text, found_title, found_url = _html_text(data)
        except InputError:
            return {"dropped": "not text"}
        url, title = url or found_url, title or found_title
    else:
        text = clean_text(data.decode("utf-8", "replace"))
    if not url:
        return {"dropped": "no address"}
    config = DataConfig()
    paragraphs = [
        paragraph
        for paragraph in dict.fromkeys(split_text(text, config.max_paragraph_words))
        if not is_fragment(paragraph, config.min_paragraph_words)
    ]
    if not paragraphs:
        return {"dropped": "no text"}
    if facts["language"] != "any":
        language = detect_language(" ".join(paragraphs[:20]))
        if language not in (facts["language"], UNKNOWN):
            return {"dropped": "other language"}
    digest = hash_text(" ".join(word for text in paragraphs for word in split_words(text)))
    title = " ".join(clean_text(title).split())[:_MAX_TITLE_CHARACTERS]
    return {"url": url, "title": title, "paragraphs": paragraphs, "digest": digest}


def _html_text(data: bytes) -> tuple[str, str, str]:
    """Return the main text of a page, its title, and the address that it gives itself."""
    try:
        from resiliparse.extract.html2text import extract_plain_text
        from resiliparse.parse.encoding import detect_encoding
        from resiliparse.parse.html import HTMLTree
    except ImportError as error:
        raise MissingDependencyError("reading web pages", "build") from error
    try:
        html = data.decode("utf-8")
    except UnicodeDecodeError:
        encoding = detect_encoding(data, from_html_meta=True)
        try:
            html = data.decode(encoding, "replace") if encoding else decode_text(data, "page")
        except LookupError:
            html = decode_text(data, "page")
    if html.count("\x00") > len(html) // 100:
        raise InputError("page: looks like a binary file, not text")
    tree = HTMLTree.parse(html)
    text = extract_plain_text(
        tree, main_content=True, alt_texts=False, links=False, list_bullets=False
    )
    return clean_text(text), str(tree.title or ""), _own_address(tree, data)


def _own_address(tree: Any, data: bytes) -> str:
    if saved := _SAVED_FROM.search(data[:2048]):
        return saved[1].decode("ascii", "replace")
    if tree.head is not None:
        for selector, attribute in (
            ("link[rel=canonical]", "href"),
            ("meta[property='og:url']", "content"),
        ):
            element = tree.head.query_selector(selector)
            address = str(element.getattr(attribute) or "") if element is not None else ""
            if address.startswith(("http://", "https://")):
                return address
    return ""
