"""The HTTP routes.

    POST /v1/summarize          a cluster in, a result out
    POST /v1/summarize/stream   the same as server-sent events: progress and sentences, then result
                                or error
    GET  /v1/models             systems, model and limits
    GET  /healthz /readyz /metrics /openapi.json
    GET  / /assets, POST /v1/read   the page for the browser (see reporting/pages.py)

Every client error gets a 4xx or 503 response with {"detail": one sentence}.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest

from hiersum import __version__
from hiersum.errors import HiersumError
from hiersum.pipeline import Summarizer
from hiersum.reporting.html import result_with_report
from hiersum.reporting.pages import mount_pages
from hiersum.serving.messages import (
    Asked,
    ErrorAnswer,
    ModelsAnswer,
    RequestError,
    ResultAnswer,
    incident,
    parse_request,
    request_body,
)
from hiersum.serving.metrics import CONTENT_TYPE, CountRequests, Metrics
from hiersum.serving.queue import BatchQueue, ClientGoneError, Ticket, queue_is_full, summary_of
from hiersum.types import Progress, Summary, SummarySentence

_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorAnswer, "description": "The body is not JSON."},
    401: {"model": ErrorAnswer, "description": "The API key is missing or wrong."},
    408: {"model": ErrorAnswer, "description": "The request took too long to arrive."},
    413: {"model": ErrorAnswer, "description": "The request is too large."},
    415: {"model": ErrorAnswer, "description": "The body is not declared as JSON."},
    422: {"model": ErrorAnswer, "description": "A field is missing, unknown or out of range."},
    503: {"model": ErrorAnswer, "description": "The queue is full; see Retry-After."},
}
_Answer = Callable[[Summary, Asked], dict[str, Any]]
BODY_SECONDS = 60.0
"""Within which a request must arrive."""
_CLIENT_GONE = Response(status_code=499)
_STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def create_app(summarizer: Summarizer, *, api_key: str | None = None) -> FastAPI:
    """Return the application around one summarizer.

    Args:
        summarizer: writes the summaries; its `config.serving` sets the limits.
        api_key: the key that /v1 and /metrics require; None lets everyone in.
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
            return result_with_report(summary, summarizer.config)
        return summary.to_record()

    async def asked_by(http: HttpRequest) -> Asked:
        if queue.is_full or not queue.is_open:
            metrics.refused.inc()
            raise queue_is_full(queue)
        body = await _read_body(http, config.max_body_megabytes, BODY_SECONDS)
        return await asyncio.to_thread(parse_request, body, summarizer)

    @app.post(
        "/v1/summarize",
        dependencies=guarded,
        responses={200: {"model": ResultAnswer}, **_REFUSALS},
        openapi_extra=request_body(),
    )
    async def summarize(http: HttpRequest) -> Response:
        """Summarise a cluster."""
        asked = await asked_by(http)
        try:
            async with Ticket(asked, queue, http) as ticket:
                summary = await ticket.summary()
        except ClientGoneError:
            return _CLIENT_GONE
        return JSONResponse(await asyncio.to_thread(answer, summary, asked))

    @app.post(
        "/v1/summarize/stream",
        dependencies=guarded,
        responses={
            200: {
                "description": "Events `progress` (stage, done, total) and `sentence` (one as soon "
                "as it is written), then one `result` or `error` (detail).",
                "content": {"text/event-stream": {}},
            },
            **_REFUSALS,
        },
        openapi_extra=request_body(),
    )
    async def stream(http: HttpRequest) -> Response:
        """Summarise a cluster; report progress and each sentence as it is written."""
        asked = await asked_by(http)
        ticket = Ticket(asked, queue, http)
        return StreamingResponse(
            _events(ticket, asked, answer), media_type="text/event-stream", headers=_STREAM_HEADERS
        )

    @app.get("/v1/models", dependencies=guarded, response_model=ModelsAnswer)
    async def models() -> dict[str, Any]:
        """List the systems, the model and the limits of a request."""
        model = summarizer.model
        return {
            "systems": summarizer.systems,
            "default": summarizer.systems[0],
            "model": None
            if model is None
            else {"name": model.name, "architecture": model.architecture},
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

    @app.get("/readyz", responses={503: {"model": ErrorAnswer}})
    async def readyz() -> dict[str, str]:
        """Say whether requests are accepted."""
        if not queue.is_open:
            raise RequestError(503, "the server is starting or stopping")
        if queue.is_full:
            raise queue_is_full(queue)
        return {"status": "ready"}

    @app.get("/metrics", dependencies=guarded)
    async def count() -> Response:
        """Return the metrics in Prometheus's format."""
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    mount_pages(app, dependencies=guarded)
    return app


async def _events(ticket: Ticket, asked: Asked, answer: _Answer) -> AsyncIterator[str]:
    async with ticket:
        try:
            async for event in ticket.events():
                if event is None:
                    yield ": still here\n\n"
                elif isinstance(event, Progress):
                    yield _event("progress", event._asdict())
                elif isinstance(event, SummarySentence):
                    yield _event("sentence", event.to_record())
                else:
                    summary = summary_of(event)
                    yield _event("result", await asyncio.to_thread(answer, summary, asked))
        except HiersumError as error:
            yield _event("error", {"detail": str(error)})
        except ClientGoneError:
            return


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


async def _read_body(http: HttpRequest, max_megabytes: int, seconds: float) -> bytes:
    """Read a request body within the limits.

    Raises:
        RequestError: it is not declared as JSON, too large, or too slow.
    """
    kind = http.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        # Browsers let other sites send other content types without a CORS check.
        raise RequestError(
            415, f"the body must be application/json, got {kind or 'no content type'}"
        )
    too_large = RequestError(413, f"the request is larger than {max_megabytes} MB; send less text")
    limit = max_megabytes * 1_000_000
    declared = http.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in http.stream():
                body += chunk
                if len(body) > limit:
                    raise too_large
    except TimeoutError:
        raise RequestError(408, f"the request took longer than {seconds:g} s to arrive") from None
    return bytes(body)


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
        status = error.status if isinstance(error, RequestError) else 422
        headers = error.headers if isinstance(error, RequestError) else None
        return JSONResponse({"detail": str(error)}, status, headers)

    @app.exception_handler(HTTPException)
    async def not_there(http: HttpRequest, error: HTTPException) -> Response:
        details = {
            404: f"there is nothing at {http.url.path}; /openapi.json lists what there is",
            405: f"{http.url.path} does not take {http.method}; /openapi.json lists what there is",
        }
        detail = details.get(error.status_code, str(error.detail))
        return JSONResponse({"detail": detail}, error.status_code, error.headers)

    @app.exception_handler(Exception)
    async def broken(http: HttpRequest, error: Exception) -> Response:
        return await refused(http, incident(error))
