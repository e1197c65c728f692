"""The live page: what a browser gets from a server besides the API.

All of it lies in `assets/` and is served as it is; nothing is built, and nothing is fetched from
elsewhere, which the policy also forbids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from threading import Thread

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.params import Depends

from hiersum.config import DataConfig
from hiersum.reporting.html import ASSETS, asset, empty_report
from hiersum.reporting.record import warm_up
from hiersum.reporting.uploads import upload_router

_TYPES = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "json": "application/json",
    "html": "text/html; charset=utf-8",
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",  # asked for anew, and not sent again while it is the same
}
_PAGE = "page.html"
_REPORT = "report.html"


def mount_pages(
    app: FastAPI, config: DataConfig | None = None, dependencies: Sequence[Depends] = ()
) -> None:
    """Add the page, its files, and the route that reads uploaded files to an application.

    Args:
        app: the application that answers `/v1/models` and `/v1/summarize/stream`.
        config: limits on what is read of an uploaded document.
        dependencies: what a request to read a file must pass, such as a key; the page itself is free.
    """

    @app.get("/", include_in_schema=False)
    def page(request: Request) -> Response:
        _warm_up_once()
        return _answer(request, _PAGE)

    @app.get("/assets/{name}", include_in_schema=False)
    def file(request: Request, name: str) -> Response:
        if name not in _asset_names() - {_PAGE}:
            raise HTTPException(404, f"there is no file {name!r} here")
        return _answer(request, name)

    app.include_router(upload_router(config or DataConfig()), dependencies=dependencies)


@cache
def _warm_up_once() -> None:
    """Who opens the page will soon want a report, and finding names takes seconds to load."""
    Thread(target=warm_up, daemon=True).start()


def _answer(request: Request, name: str) -> Response:
    content, tag = _content(name)
    headers = {**_HEADERS, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_TYPES[name.rpartition(".")[2]], headers=headers)


@cache
def _asset_names() -> frozenset[str]:
    return frozenset(path.name for path in ASSETS.iterdir())


@cache
def _content(name: str) -> tuple[bytes, str]:
    """Return a file and the tag that tells whether it is still the same."""
    text = empty_report() if name == _REPORT else asset(name)
    content = text.encode()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'
