"""A real browser for tests: Chromium without a window, and pages that are watched while they work."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from support import skip_unless_ci

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_PATIENCE = 60_000  # milliseconds; a machine at work takes its time
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync""".split()


@dataclass
class WatchedPage:
    """A page, what it asked for, and what it complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def assert_quiet(self, origin: str = "file:") -> None:
        """Nothing went wrong, and nothing was asked of anyone else."""
        own = (origin, "data:", "blob:")
        assert [url for url in self.requests if not url.startswith(own)] == []
        assert self.complaints == []


@pytest.fixture(scope="module")  # open, its event loop is in the way of other tests' own
def browser() -> Iterator[Browser]:
    """The installed Chromium; without one the test is skipped, but never in CI."""
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        skip_unless_ci("no Chromium found; install it with: apt-get install chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=_PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., WatchedPage]]:
    """Open an address; options are those of a browser context, such as `color_scheme`."""
    contexts = []

    def open_it(
        address: str, *, width: int = 1280, height: int = 860, **options: Any
    ) -> WatchedPage:
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, reduced_motion="reduce", **options)  # type: ignore[arg-type]
        contexts.append(context)
        watched = WatchedPage(context.new_page())
        page = watched.page
        page.set_default_timeout(_PATIENCE)
        page.on("request", lambda request: watched.requests.append(request.url))
        page.on("pageerror", lambda error: watched.complaints.append(str(error)))
        page.on("console", lambda said: _note(watched, said.type, said.text))
        page.goto(address)
        return watched

    yield open_it
    for context in contexts:
        context.close()


def marked(page: Page) -> list[str]:
    """Return the paragraphs that are highlighted, by the name that a screen reader says."""
    return [
        element.get_attribute("aria-label") or ""
        for element in page.locator(".paragraph.is-source").all()
    ]


def wait_until_in_view(page: Page, selector: str) -> None:
    """Wait for the first such element to be seen whole, within its panel and on the screen."""
    page.wait_for_function(
        """selector => {
            const element = document.querySelector(selector);
            const box = element.getBoundingClientRect();
            const panel = element.closest(".panel-body").getBoundingClientRect();
            const [top, bottom] = [Math.max(panel.top, 0), Math.min(panel.bottom, innerHeight)];
            return box.top >= top - 1 && box.bottom <= bottom + 1;
        }""",
        arg=selector,
    )


def _note(watched: WatchedPage, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        watched.complaints.append(text)
