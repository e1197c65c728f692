"""Prometheus metrics of a server."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import generate_latest

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """The metrics of one server, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = own = CollectorRegistry()
        ProcessCollector(registry=own)
        self.requests = Counter(
            "hiersum_requests", "Answered requests.", ["route", "status"], registry=own
        )
        text = "Seconds from a request's first byte to its answer's last."
        self.seconds = Histogram(
            "hiersum_request_seconds", text, ["route"], buckets=_SECONDS, registry=own
        )
        text = "Seconds that accepted requests waited."
        self.wait_seconds = Histogram("hiersum_queue_seconds", text, buckets=_SECONDS, registry=own)
        text = "Requests per batch."
        self.batch_size = Histogram("hiersum_batch_requests", text, buckets=_SIZES, registry=own)
        text = "Requests whose client disconnected."
        self.cancelled = Counter("hiersum_cancelled", text, registry=own)
        text = "Requests refused because the queue was full."
        self.refused = Counter("hiersum_refused", text, registry=own)

    def watch_queue(self, count: Callable[[], int]) -> None:
        """Export the length of the queue."""
        gauge = Gauge("hiersum_queue_requests", "Waiting requests.", registry=self.registry)
        gauge.set_function(count)

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self.registry)


class CountRequests:
    """Middleware that counts and times requests per route pattern."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 499  # the client left before the answer; nginx uses this code

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, note_status)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.requests.labels(route, str(status)).inc()
            self.metrics.seconds.labels(route).observe(time.perf_counter() - start)
