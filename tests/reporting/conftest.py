"""Pages for tests: reports on disk, a server on loopback, and a browser that looks at both."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from servers import running
from support import EXAMPLES

from hiersum import Summarizer
from hiersum.types import Summary

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync""".split()


@pytest.fixture(scope="session")
def bridge() -> Summary:
    """The example's summary."""
    return Summarizer().summarize([EXAMPLES / "harbour-bridge"], title="Harbour bridge")


@pytest.fixture(
    scope="module"
)  # while it is open, its event loop is in the way of other tests' own
def browser() -> Iterator[Browser]:
    """Debian's Chromium, or a skip that says how to get it."""
    path = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if path is None:
        reason = "no Chromium found; install it with: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(f"CI must not skip: {reason}")
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page, what it asked the network for, and what it complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def assert_quiet(self, origin: str = "file:") -> None:
        """Nothing was asked of another place, and nothing went wrong."""
        own = (origin, "data:", "blob:")
        assert [url for url in self.requests if not url.startswith(own)] == []
        assert self.complaints == []


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Watched]]:
    """Open an address; options are those of a browser context, such as `color_scheme`."""
    contexts = []

    def open_it(address: str, *, width: int = 1280, height: int = 860, **options: Any) -> Watched:
        viewport = {"width": width, "height": height}
        context = browser.new_context(viewport=viewport, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)  # a machine at work takes its time
        watched = Watched(page)
        page.on("request", lambda request: watched.requests.append(request.url))
        page.on("pageerror", lambda error: watched.complaints.append(str(error)))
        page.on(
            "console",
            lambda message: (
                message.type in ("error", "warning") and watched.complaints.append(message.text)
            ),
        )
        page.goto(address)
        return watched

    yield open_it
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def live_address() -> Iterator[str]:
    """The address of a server whose systems are the extractive ones."""
    with running(Summarizer()) as client:
        yield f"{client.base_url}/"
