"""Which of two documents is later, by the dates in their names and first lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hiersum.text.numbers import find_numbers_and_dates

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = re.compile(
    r"(?<![a-z])(mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?(?:day)?(?![a-z])", re.I
)
_DAY = re.compile(r"(?<![a-z])(day|week)[\s_-]?(\d{1,3})(?!\d)", re.I)
_NAMED = re.compile(r"[_\s-]+")
OPENING_CHARACTERS = 160


def document_order(names: Sequence[str], openings: Sequence[str]) -> dict[tuple[int, int], int]:
    """Return the later document of each pair whose names or opening words say so."""
    moments = [_moments(name, opening) for name, opening in zip(names, openings, strict=True)]
    dated = [(number, found) for number, found in enumerate(moments) if found]
    order = {}
    for one, mine in dated:
        for other, others in dated:
            for kind, moment in mine.items():
                if one != other and kind in others and moment != others[kind]:
                    order[one, other] = one if moment > others[kind] else other
                    break
    return order


def document_ages(names: Sequence[str], openings: Sequence[str]) -> list[str]:
    """Return "latest" or "earlier" for documents whose dates compare; empty for the others.

    A document counts by its most telling kind of date that another one has too.
    """
    moments = [_moments(name, opening) for name, opening in zip(names, openings, strict=True)]
    by_kind: dict[str, list[tuple[int, ...]]] = {}
    for of_document in moments:
        for kind, moment in of_document.items():
            by_kind.setdefault(kind, []).append(moment)
    last = {kind: max(found) for kind, found in by_kind.items()}
    differs = {kind for kind, found in by_kind.items() if len(set(found)) > 1}
    ages = []
    for of_document in moments:
        kind = next((kind for kind in of_document if len(by_kind[kind]) > 1), "")
        age = "latest" if of_document.get(kind) == last.get(kind) else "earlier"
        ages.append(age if kind in differs else "")
    return ages


def _moments(name: str, opening: str) -> dict[str, tuple[int, ...]]:
    """Return what is known of a document's date by kind, the most telling first.

    Only dates of one kind compare.
    """
    found: dict[str, tuple[int, ...]] = {}
    spaced = _NAMED.sub(" ", name.rpartition(".")[0] or name)
    start = opening[:OPENING_CHARACTERS]
    for text in (name, start):
        for date in find_numbers_and_dates(text)[1]:
            parts = date.value.split("-")
            if len(parts) == 3 and "*" not in parts:
                found.setdefault("date", tuple(map(int, parts)))
            if len(parts) == 3 and "*" not in parts[1:]:
                found.setdefault("day of a year", (int(parts[1]), int(parts[2])))
    day = _DAY.search(spaced)
    if day is not None:
        found.setdefault("day", (int(day[2]) * (7 if day[1].lower() == "week" else 1),))
    weekday = _WEEKDAY.search(spaced) or _WEEKDAY.search(start)
    if weekday is not None and day is None and "day of a year" not in found:
        found.setdefault("weekday", (_WEEKDAYS.index(weekday[1].lower()),))
    return found
