"""The live page of a server, and the route that reads the files dropped on it.

The page is served from `assets/` as it is: there is no build step, and its policy forbids loading
anything from other sites. Uploads go through the same readers as files on disk, with limits.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import PurePosixPath
from threading import Thread
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.params import Depends

from hiersum.errors import InputError
from hiersum.reporting.html import ASSETS, asset, empty_report
from hiersum.reporting.record import warm_up
from hiersum.text.documents import document_of
from hiersum.text.encodings import clean_text
from hiersum.text.formats import kind_of

MAX_UPLOAD_BYTES = 25_000_000
_MAX_NAME_CHARACTERS = 255
_MAX_SECONDS = 60
_KIND = "application/octet-stream"
_MAX_AT_ONCE = 2  # a large PDF takes seconds of CPU time
_CLUSTER_SUFFIXES = (".json", ".jsonl", ".parquet")
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
    "Cache-Control": "no-cache",  # revalidate; an unchanged file is not sent again
}
_PAGE = "page.html"
_REPORT = "report.html"


def mount_pages(app: FastAPI, dependencies: Sequence[Depends] = ()) -> None:
    """Add the page, its files, and the route that reads uploaded files to an application.

    Args:
        app: the application that answers `/v1/models` and `/v1/summarize/stream`.
        dependencies: checks for uploads, such as an API key; the page itself is open to all.
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

    app.include_router(upload_router(), dependencies=dependencies)


@cache
def _warm_up_once() -> None:
    """Load the named-entity model, which takes seconds, before the first report."""
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
    """Return a file and its ETag."""
    text = empty_report() if name == _REPORT else asset(name)
    content = text.encode()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def upload_router(*, max_bytes: int = MAX_UPLOAD_BYTES) -> APIRouter:
    """Return the route that reads an uploaded file."""
    router = APIRouter()
    limiter: CapacityLimiter | None = None

    @router.post("/v1/read", tags=["summarize"], summary="Read a file as text", openapi_extra=_BODY)
    async def read(request: Request, name: str = "") -> dict[str, list[dict[str, Any]]]:
        """Return the document in a file (.txt .md .html .pdf .docx, plain or gzipped).

        The body is the file's bytes, sent as application/octet-stream; the suffix of `name` tells
        Markdown from plain text. Answers 413 if it is too large, 422 if it cannot be read.
        """
        nonlocal limiter
        limiter = limiter or CapacityLimiter(_MAX_AT_ONCE)  # needs a running event loop
        shown = _file_name(name)
        try:
            async with asyncio.timeout(_MAX_SECONDS):
                data = await _body(request, shown, max_bytes)
        except TimeoutError:
            detail = f"{shown}: took longer than {_MAX_SECONDS} s to arrive"
            raise HTTPException(408, detail) from None
        try:
            return await to_thread.run_sync(_read_file, data, shown, limiter=limiter)
        except InputError as error:
            raise HTTPException(422, str(error)) from error

    return router


_BODY = {
    "requestBody": {
        "required": True,
        "content": {_KIND: {"schema": {"type": "string", "format": "binary"}}},
    }
}


def _file_name(name: str) -> str:
    """Return the last part of a path, as one line of text."""
    last = PurePosixPath(clean_text(name).replace("\\", "/").replace("\n", " ")).name
    if not last or len(last) > _MAX_NAME_CHARACTERS:
        raise HTTPException(
            422, f"a file needs a name of at most {_MAX_NAME_CHARACTERS} characters (?name=a.txt)"
        )
    return last


async def _body(request: Request, name: str, max_bytes: int) -> bytes:
    """Return the body; refuse it as soon as it is too large."""
    kind = request.headers.get("content-type", "")
    if kind != _KIND:
        # Browsers let other sites send other content types without a CORS check.
        raise HTTPException(415, f"{name}: must be sent as {_KIND}, got {kind or 'nothing'}")
    refusal = HTTPException(413, f"{name}: larger than {max_bytes:,} bytes; send a smaller file")
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > max_bytes:
        raise refusal
    chunks, size = [], 0
    async for chunk in request.stream():
        chunks.append(chunk)
        size += len(chunk)
        if size > max_bytes:
            raise refusal
    if not size:
        raise HTTPException(422, f"{name}: the file is empty")
    return b"".join(chunks)


def _read_file(data: bytes, name: str) -> dict[str, list[dict[str, Any]]]:
    suffix = kind_of(PurePosixPath(name))
    if suffix in _CLUSTER_SUFFIXES:
        raise InputError(f"{name}: holds clusters; summarise it with: hiersum summarize {name}")
    document, unread = document_of(data, name, suffix)
    return {
        "documents": [{"name": document.name, "url": document.url, "text": document.text}],
        "unread": [] if unread is None else [asdict(unread)],
    }
