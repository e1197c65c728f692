"""A page as it was found, before anything is known about it but perhaps its address."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RawPage:
    """The bytes of one page."""

    kind: str
    """`html`, or `text` in UTF-8."""
    data: bytes
    url: str = ""
    """Empty where only the page itself can tell."""
    title: str = ""
