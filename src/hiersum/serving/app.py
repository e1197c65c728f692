"""The HTTP routes.

    POST /v1/summarize          a cluster in, a result out
    POST /v1/summarize/stream   the same as server-sent events: progress and sentences, then result
                                or error
    GET  /v1/models             systems, model and limits
    GET  /healthz /readyz /metrics /openapi.json
    GET  / /assets, POST /v1/read   the page for the browser (see pages.py)

Every client error gets a 4xx or 503 response with {"detail": one sentence}.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest

from hiersum import __version__
from hiersum.errors import HiersumError
from hiersum.pipeline import Summarizer
from hiersum.reporting.html import result_with_report
from hiersum.serving.messages import (
    Asked,
    ErrorAnswer,
    ModelsAnswer,
    RequestError,
    ResultAnswer,
    error_answers,
    incident,
    parse_request,
    read_body,
    request_body,
)
from hiersum.serving.metrics import CONTENT_TYPE, CountRequests, Metrics
from hiersum.serving.pages import mount_pages
from hiersum.serving.queue import BatchQueue, ClientGoneError, News, join_queue
from hiersum.types import Progress, Summary

_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"model": ResultAnswer, "description": "A result line (docs/formats.md)."},
    400: {"model": ErrorAnswer, "description": "The body is not JSON."},
    **error_answers("JSON"),
    422: {"model": ErrorAnswer, "description": "A field is missing, unknown or out of range."},
    503: {"model": ErrorAnswer, "description": "The server is starting or stopping."},
}
_NEEDS_KEY: dict[int | str, dict[str, Any]] = {401: _ANSWERS[401]}
BODY_SECONDS = 60.0
"""Within which a request must arrive."""
_EVENTS = {
    "description": "Events `progress` (stage, done, total) and `sentence` (one as soon as it is "
    "written), then one `result` or `error` (detail).",
    "content": {"text/event-stream": {}},
}
_STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def create_app(summarizer: Summarizer, *, api_key: str | None = None) -> FastAPI:
    """Return the application around one summarizer, whose `config.serving` sets the limits.

    /v1 and /metrics require the API key; None lets everyone in.
    """
    config = summarizer.config.serving
    metrics = Metrics()
    queue = BatchQueue(summarizer, config, metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        queue.start()
        yield
        await asyncio.to_thread(queue.close)

    # FastAPI's documentation pages load scripts from other sites, so they are off.
    app = FastAPI(
        title="hiersum", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None
    )
    app.add_middleware(CountRequests, metrics=metrics)
    if config.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(config.cors_origins),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key"],
        )
    _add_error_answers(app)
    guarded = [Depends(_key_check(api_key))]

    def answer(summary: Summary, asked: Asked) -> dict[str, Any]:
        if asked.with_report:
            return result_with_report(summary)
        return summary.to_record()

    async def asked_by(http: HttpRequest) -> Asked:
        try:
            queue.check_open()
        except RequestError:
            metrics.refused.inc()
            raise
        body = await read_body(
            http,
            "the request",
            kind="application/json",
            max_bytes=config.max_body_megabytes * 1_000_000,
            seconds=BODY_SECONDS,
        )
        return await asyncio.to_thread(parse_request, body, summarizer)

    @app.post(
        "/v1/summarize", dependencies=guarded, responses=_ANSWERS, openapi_extra=request_body()
    )
    async def summarize(http: HttpRequest) -> Response:
        """Summarise a cluster."""
        asked = await asked_by(http)
        summary = None
        try:
            async for event in join_queue(asked, queue, http):
                summary = event
        except ClientGoneError:
            return Response(status_code=499)
        assert isinstance(summary, Summary)
        return JSONResponse(await asyncio.to_thread(answer, summary, asked))

    @app.post(
        "/v1/summarize/stream",
        dependencies=guarded,
        responses={**_ANSWERS, 200: _EVENTS},
        openapi_extra=request_body(),
    )
    async def stream(http: HttpRequest) -> Response:
        """Summarise a cluster; report progress and each sentence as it is written."""
        asked = await asked_by(http)
        events = join_queue(asked, queue, http)

        async def lines() -> AsyncIterator[str]:
            async with aclosing(events):
                try:
                    async for event in events:
                        if isinstance(event, Summary):
                            yield _event("result", await asyncio.to_thread(answer, event, asked))
                        else:
                            yield _news(event)
                except HiersumError as error:
                    yield _event("error", {"detail": str(error)})
                except ClientGoneError:
                    return

        return StreamingResponse(lines(), media_type="text/event-stream", headers=_STREAM_HEADERS)

    @app.get("/v1/models", dependencies=guarded, response_model=ModelsAnswer, responses=_NEEDS_KEY)
    async def models() -> dict[str, Any]:
        """List the systems, the model and the limits of a request."""
        model = summarizer.model
        return {
            "systems": summarizer.systems,
            "default": summarizer.systems[0],
            "model": model and {"name": model.name, "architecture": model.architecture},
            "limits": {
                "max_documents": config.max_documents,
                "max_body_megabytes": config.max_body_megabytes,
                "max_queue": config.max_queue,
                "default_max_words": summarizer.config.decoding.max_words,
            },
        }

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Say that the server is alive."""
        return {"status": "alive"}

    @app.get(
        "/readyz",
        responses={503: {"model": ErrorAnswer, "description": "Requests are not accepted now."}},
    )
    async def readyz() -> dict[str, str]:
        """Say whether requests are accepted."""
        try:
            queue.check_open()
        except RequestError as error:
            raise RequestError(503, str(error), error.headers) from None
        return {"status": "ready"}

    @app.get(
        "/metrics",
        dependencies=guarded,
        response_class=PlainTextResponse,
        responses=_NEEDS_KEY,
    )
    async def count() -> Response:
        """Return the metrics in Prometheus's format."""
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    mount_pages(app, guarded)
    return app


def _news(news: News | None) -> str:
    if news is None:
        return ": still here\n\n"
    if isinstance(news, Progress):
        return _event("progress", news._asdict())
    return _event("sentence", news.to_record())


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def _key_check(api_key: str | None) -> Callable[[HttpRequest], Awaitable[None]]:
    async def check(http: HttpRequest) -> None:
        if api_key is None:
            return
        bearer = http.headers.get("authorization", "").removeprefix("Bearer ")
        given = http.headers.get("x-api-key") or bearer
        # A comparison in constant time does not leak the key letter by letter.
        if not hmac.compare_digest(given.encode(), api_key.encode()):
            detail = "the API key is missing or wrong; send it as Authorization: Bearer KEY"
            raise RequestError(401, detail, {"WWW-Authenticate": "Bearer"})

    return check


def _add_error_answers(app: FastAPI) -> None:
    """Return every error as its status and one sentence."""

    @app.exception_handler(HiersumError)
    async def refused(http: HttpRequest, error: HiersumError) -> Response:
        if isinstance(error, RequestError):
            return JSONResponse({"detail": str(error)}, error.status, error.headers)
        return JSONResponse({"detail": str(error)}, 422)

    @app.exception_handler(HTTPException)
    async def not_there(http: HttpRequest, error: HTTPException) -> Response:
        details = {
            404: f"{http.url.path}: no such address; /openapi.json lists all of them",
            405: f"{http.url.path} does not accept {http.method}; /openapi.json lists what it accepts",
        }
        detail = details.get(error.status_code, str(error.detail))
        return JSONResponse({"detail": detail}, error.status_code, error.headers)

    @app.exception_handler(Exception)
    async def broken(http: HttpRequest, error: Exception) -> Response:
        return await refused(http, incident(error))
