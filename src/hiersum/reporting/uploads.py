"""Files that a browser sends become documents: the same readers as for files on disk, behind limits."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, HTTPException, Request

from hiersum.config import DataConfig
from hiersum.errors import InputError
from hiersum.text.documents import document_of
from hiersum.text.encodings import clean_text
from hiersum.text.formats import kind_of

MAX_UPLOAD_BYTES = 25_000_000
_MAX_NAME_CHARACTERS = 255
_MAX_SECONDS = 60
_KIND = "application/octet-stream"
_MAX_AT_ONCE = 2  # a large PDF takes seconds of a processor
_CLUSTER_SUFFIXES = (".json", ".jsonl", ".parquet")


def upload_router(config: DataConfig, *, max_bytes: int = MAX_UPLOAD_BYTES) -> APIRouter:
    """Return the route that reads a file.

    Args:
        config: limits on what is read of a document.
        max_bytes: larger files are refused.
    """
    router = APIRouter()
    limiter: CapacityLimiter | None = None

    @router.post("/v1/read", tags=["summarize"], summary="Read a file as text", openapi_extra=_BODY)
    async def read(request: Request, name: str = "") -> dict[str, list[dict[str, Any]]]:
        """Return the documents in a file (.txt .md .html .pdf .docx, or gzip of these).

        The body is the file as it is, declared as application/octet-stream; the end of `name` tells
        Markdown from plain text. Answers 413 if it is too large, 422 if it cannot be read.
        """
        nonlocal limiter
        limiter = limiter or CapacityLimiter(_MAX_AT_ONCE)  # it needs a running loop
        shown = _file_name(name)
        try:
            async with asyncio.timeout(_MAX_SECONDS):
                data = await _body(request, shown, max_bytes)
        except TimeoutError:
            detail = f"{shown}: took longer than {_MAX_SECONDS} s to arrive"
            raise HTTPException(408, detail) from None
        try:
            return await to_thread.run_sync(_read_file, data, shown, config, limiter=limiter)
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
    """Return the body, or refuse it as soon as it is too large, before all of it has come."""
    kind = request.headers.get("content-type", "")
    if kind != _KIND:
        # A web page elsewhere could send other kinds without asking.
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


def _read_file(data: bytes, name: str, config: DataConfig) -> dict[str, list[dict[str, Any]]]:
    suffix = kind_of(PurePosixPath(name))
    if suffix in _CLUSTER_SUFFIXES:
        raise InputError(f"{name}: holds clusters; summarise it with: hiersum summarize {name}")
    document, unread = document_of(data, name, suffix, config)
    return {
        "documents": [{"name": document.name, "url": document.url, "text": document.text}],
        "unread": [] if unread is None else [asdict(unread)],
    }
