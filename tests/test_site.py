"""The site is whole: it builds without a warning, names every public class and command, and all its links
lead somewhere. It is built once, in the slow tests."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import typer
from browsers import WatchedPage, browser, open_page  # noqa: F401
from support import REPOSITORY

from hiersum.cli.app import app

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    completed = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served, on this machine alone."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Links(HTMLParser):
    """The addresses that a page links to or loads, and the places in it that links can name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value is not None}
        if "id" in found:
            self.places.add(found["id"])
        if "src" in found:
            self.loaded.append(found["src"])
        if "href" in found:
            (self.links if tag == "a" else self.loaded).append(found["href"])


@cache
def links_of(page: Path) -> Links:
    return Links(page.read_text())


def test_site_links_lead_somewhere(site: Path) -> None:
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) > 40
    for page in pages:
        for link in {*links_of(page).links, *links_of(page).loaded}:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{page.relative_to(site)}: {link}"
            if parts.fragment and not parts.fragment.startswith("__"):
                assert unquote(parts.fragment) in links_of(target).places, f"{page.name}: {link}"


def test_site_loads_nothing_from_other_hosts(site: Path) -> None:
    for page in site.rglob("*.html"):
        foreign = [link for link in links_of(page).loaded if urlsplit(link).netloc]
        assert not foreign, f"{page.relative_to(site)}: {foreign}"


def test_site_reference_has_every_public_class_and_function(site: Path) -> None:
    from mkdocstrings import Inventory

    with (site / "objects.inv").open("rb") as file:
        named = set(Inventory.parse_sphinx(file))
    package = REPOSITORY / "src" / "hiersum"
    expected = [
        ".".join([*path.relative_to(package.parent).with_suffix("").parts, node.name])
        for path in package.rglob("*.py")
        if path.parent != package / "cli" and not path.name.startswith("__")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    ]
    assert len(expected) > 500
    assert set(expected) <= named


def test_site_reference_has_every_command_with_its_options(site: Path) -> None:
    sections = re.split(r"<h2|<h3", (site / "reference" / "commands.html").read_text())
    section_of = {
        match[1]: text for text in sections if (match := re.search(r"<code>(.+?)<", text))
    }

    def check(command: Any, name: str) -> None:
        text = section_of[name] if name != "hiersum" else sections[0]
        for parameter in command.params:
            names = parameter.opts if parameter.param_type_name == "option" else [parameter.metavar]
            for shown in names:
                assert shown.strip("[].") in text, f"{name}: {shown}"
        for below, other in getattr(command, "commands", {}).items():
            check(other, f"{name} {below}")

    check(typer.main.get_command(app), "hiersum")


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_site_pages_fit_the_screen(
    address: str,
    open_page: Callable[..., WatchedPage],  # noqa: F811
    width: int,
    scheme: str,
) -> None:
    for name in ("index", "tutorials/summarise", "architecture", "reference/python/writing"):
        watched = open_page(f"{address}{name}.html", width=width, color_scheme=scheme)
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width, name
        background = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
        is_dark = sum(map(int, re.findall(r"\d+", background)[:3])) < 200
        assert is_dark == (scheme == "dark"), background
        watched.assert_quiet(address)


def test_site_search_finds_a_page(
    address: str,
    open_page: Callable[..., WatchedPage],  # noqa: F811
) -> None:
    watched = open_page(address)
    box = watched.page.get_by_role("textbox", name="Search")
    box.click()
    box.press_sequentially("glossary")
    watched.page.locator(".md-search-result__link[href*='glossary.html']").first.wait_for()
    watched.assert_quiet(address)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_site_text_and_links_can_be_told_apart(
    address: str,
    open_page: Callable[..., WatchedPage],  # noqa: F811
    scheme: str,
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    rules = ["color-contrast", "link-in-text-block", "aria-dialog-name"]
    options = {"runOnly": {"type": "rule", "values": rules}}
    for name in ("index", "architecture", "extending", "human-evaluation", "tutorials/train"):
        page = open_page(f"{address}{name}.html", color_scheme=scheme).page
        results = Axe().run(page, options=options)
        assert results.violations_count == 0, f"{name}: {results.generate_report()}"
