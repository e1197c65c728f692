"""What a server counts, for Prometheus."""

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
    """The counts of one server; several in one process do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "hiersum_requests", "Answered requests.", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "hiersum_request_seconds",
            "From a request's first byte to its answer's last.",
            ["route"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.wait_seconds = Histogram(
            "hiersum_queue_seconds",
            "How long accepted requests waited.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.batch_size = Histogram(
            "hiersum_batch_requests",
            "Requests taken on together.",
            buckets=_SIZES,
            registry=self.registry,
        )
        self.cancelled = Counter(
            "hiersum_cancelled", "Requests whose client went away.", registry=self.registry
        )
        self.refused = Counter(
            "hiersum_refused", "Requests for which there was no place.", registry=self.registry
        )

    def watch_queue(self, count: Callable[[], int]) -> None:
        """Report how many requests wait, whenever someone asks."""
        gauge = Gauge("hiersum_queue_requests", "Requests that wait.", registry=self.registry)
        gauge.set_function(count)

    def text(self) -> bytes:
        """Return all counts as Prometheus reads them."""
        return generate_latest(self.registry)


class CountRequests:
    """Counts and times every request; knows routes by their pattern, so that names stay few."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 499  # gone before there was an answer, as proxies write it

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
