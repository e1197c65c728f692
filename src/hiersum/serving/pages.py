"""The live page, and the route that reads the files dropped on it.

The page is served from `reporting/assets/` as it is: there is no build step, and its policy forbids
loading anything from other sites. Uploads go through the same readers as files on disk, with limits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import PurePosixPath
from threading import Thread
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.params import Depends
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

from hiersum.errors import InputError
from hiersum.reporting.html import empty_report, warm_up
from hiersum.serving.messages import (
    ErrorAnswer,
    ReadAnswer,
    RequestError,
    error_answers,
    read_body,
)
from hiersum.text.documents import document_of
from hiersum.text.encodings import clean_text
from hiersum.text.formats import kind_of

MAX_UPLOAD_BYTES = 25_000_000
_MAX_NAME_CHARACTERS = 255
_MAX_SECONDS = 60
_KIND = "application/octet-stream"
_MAX_AT_ONCE = 2  # a large PDF takes seconds of CPU time
_CLUSTER_SUFFIXES = (".json", ".jsonl", ".parquet")
# FastAPI would refuse a name in words of its own.
_REQUEST = {
    "parameters": [
        {
            "name": "name",
            "in": "query",
            "required": True,
            "description": "The file's name.",
            "schema": {"type": "string", "minLength": 1, "maxLength": _MAX_NAME_CHARACTERS},
        }
    ],
    "requestBody": {
        "required": True,
        "content": {_KIND: {"schema": {"type": "string", "format": "binary"}}},
    },
}
_ANSWERS = {
    **error_answers(_KIND),
    422: {"model": ErrorAnswer, "description": "The name is missing, or the file unreadable."},
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


def mount_pages(app: FastAPI, dependencies: Sequence[Depends]) -> None:
    """Add the page, its files, and the route that reads uploaded files to an application.

    The dependencies check uploads, for instance an API key; the page itself is open to all.
    """
    assets = StaticFiles(packages=[("hiersum.reporting", "assets")])
    readers = asyncio.Semaphore(_MAX_AT_ONCE)

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        _warm_up_once()
        response = await assets.get_response("page.html", request.scope)
        response.headers.update(_HEADERS)
        return response

    @app.get("/assets/{name}", include_in_schema=False)
    async def file(request: Request, name: str) -> Response:
        if name == "page.html":
            raise RequestError(404, "the page is at /")
        if name == "report.html":
            response: Response = HTMLResponse(empty_report())
        else:
            response = await assets.get_response(name, request.scope)
        response.headers.update(_HEADERS)
        return response

    @app.post(
        "/v1/read",
        summary="Read a file as text",
        dependencies=dependencies,
        response_model=ReadAnswer,
        responses=_ANSWERS,
        openapi_extra=_REQUEST,
    )
    async def read(request: Request) -> dict[str, list[dict[str, Any]]]:
        """Return the document in a file (.txt .md .html .pdf .docx, plain or gzipped).

        The body is the file's bytes, sent as application/octet-stream; the suffix of `name` tells
        Markdown from plain text. Answers 413 if it is too large, 422 if it cannot be read.
        """
        shown = _file_name(request.query_params.get("name", ""))
        data = await read_body(
            request, shown, kind=_KIND, max_bytes=MAX_UPLOAD_BYTES, seconds=_MAX_SECONDS
        )
        async with readers:
            return await asyncio.to_thread(_read_file, data, shown)


@cache
def _warm_up_once() -> None:
    """Load the named-entity model, which takes seconds, before the first report."""
    Thread(target=warm_up, daemon=True).start()


def _file_name(name: str) -> str:
    """Return the last part of a path, as one line of text."""
    last = PurePosixPath(clean_text(name).replace("\\", "/").replace("\n", " ")).name
    if not last or len(last) > _MAX_NAME_CHARACTERS:
        raise InputError(
            f"a file needs a name of at most {_MAX_NAME_CHARACTERS} characters (?name=a.txt)"
        )
    return last


def _read_file(data: bytes, name: str) -> dict[str, list[dict[str, Any]]]:
    suffix = kind_of(PurePosixPath(name))
    if not data:
        raise InputError(f"{name}: the file is empty")
    if suffix in _CLUSTER_SUFFIXES:
        raise InputError(f"{name}: holds clusters; summarise it with: hiersum summarize {name}")
    document, unread = document_of(data, name, suffix)
    return {
        "documents": [{"name": document.name, "url": document.url, "text": document.text}],
        "unread": [] if unread is None else [asdict(unread)],
    }
