"""What a host allows: its robots.txt (RFC 9309), read by protego."""

from __future__ import annotations

import re

MAX_BYTES = 500 * 1024
_MAX_DELAY_SECONDS = 1_000_000.0  # a robots.txt must not overflow a timer


class Robots:
    """The rules of one host for one agent, which is named as in `Name/1.0 (...)`."""

    def __init__(self, text: str, agent: str) -> None:
        from protego import Protego

        self._rules = Protego.parse(text)
        self._token = re.split(r"[/\s(]", agent.strip(), maxsplit=1)[0]

    def allows(self, url: str) -> bool:
        """May this address be fetched?"""
        return self._rules.can_fetch(url, self._token)

    @property
    def delay(self) -> float:
        """Seconds between requests that the host asks for."""
        return min(self._rules.crawl_delay(self._token) or 0.0, _MAX_DELAY_SECONDS)


ALLOW_ALL = ""
FORBID_ALL = "User-agent: *\nDisallow: /"
