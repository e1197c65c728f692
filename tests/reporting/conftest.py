"""Pages for tests: reports on disk, a server on loopback, and a browser that looks at both."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsers import browser, open_page
from servers import running
from support import EXAMPLES

from hiersum import Summarizer
from hiersum.types import Summary

__all__ = ["bridge", "browser", "live_address", "open_page"]


@pytest.fixture(scope="session")
def bridge() -> Summary:
    """The example's summary."""
    return Summarizer().summarize([EXAMPLES / "harbour-bridge"], title="Harbour bridge")


@pytest.fixture(scope="session")
def live_address() -> Iterator[str]:
    """The address of a server whose systems are the extractive ones."""
    with running(Summarizer()) as client:
        yield f"{client.base_url}/"
