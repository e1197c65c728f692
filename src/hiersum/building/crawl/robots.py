"""What a host allows: robots.txt as RFC 9309 reads it.

The group that names us counts, else the one for all. The longest rule that matches a path decides, and
of two equally long ones the one that allows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

MAX_BYTES = 500 * 1024
_MAX_RULES = 5_000
_LINE = re.compile(r"\s*([A-Za-z-]+)\s*:\s*([^#\r\n]*)")


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of one host for one agent."""

    rules: tuple[tuple[str, bool], ...] = ()
    """Patterns, and whether they allow."""
    delay: float | None = None
    """Seconds between requests that the host asks for."""

    def allows(self, url: str) -> bool:
        """May this address be fetched?"""
        parts = urlsplit(url)
        path = _normal(parts.path or "/") + (f"?{_normal(parts.query)}" if parts.query else "")
        if path == "/robots.txt":
            return True
        matching = [(len(rule), allows) for rule, allows in self.rules if _matches(rule, path)]
        return max(matching)[1] if matching else True


ALLOW_ALL = Robots()
FORBID_ALL = Robots((("/", False),))


def parse_robots(text: str, agent: str) -> Robots:
    """Return the rules that a robots.txt has for an agent, named as in `Name/1.0 (...)`."""
    token = re.split(r"[/\s(]", agent.strip(), maxsplit=1)[0].casefold()
    groups: dict[str, list[tuple[str, str]]] = {}
    current: list[str] = []
    is_naming = False
    for line in text.splitlines():
        if (match := _LINE.match(line)) is None:
            continue
        name, value = match[1].lower(), match[2].strip()
        if name == "user-agent":
            current = [*current, value.casefold()] if is_naming else [value.casefold()]
            for one in current:
                groups.setdefault(one, [])
            is_naming = True
        elif name in ("allow", "disallow", "crawl-delay"):
            is_naming = False
            for one in current:
                groups[one].append((name, value))
    lines = groups.get(token, groups.get("*", []))
    rules = [(_normal(v), name == "allow") for name, v in lines if name != "crawl-delay" and v]
    delays = [float(v) for name, v in lines if name == "crawl-delay" and _is_number(v)]
    return Robots(tuple(rules[:_MAX_RULES]), max(delays) if delays else None)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d{1,6}(?:\.\d+)?", text) is not None


def _normal(path: str) -> str:
    """Write a path so that the same one is always written alike."""
    return quote(unquote(path, errors="replace"), safe="/*$?&=+:;,@!~'()-._[]%")


def _matches(rule: str, path: str) -> bool:
    """Does a rule match the beginning of a path? `*` is anything, `$` at the end is the end."""
    is_whole = rule.endswith("$")
    first, *rest = (rule[:-1] if is_whole else rule).split("*")
    if not path.startswith(first):
        return False
    place = len(first)
    for number, piece in enumerate(rest):
        if is_whole and number == len(rest) - 1:
            return len(path) - len(piece) >= place and path.endswith(piece)
        place = path.find(piece, place)
        if place < 0:
            return False
        place += len(piece)
    return not is_whole or place == len(path)
