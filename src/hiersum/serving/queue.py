"""A bounded queue of requests for one summarizer, and the clients waiting in it.

One thread takes the oldest request together with all others with the same options (system, length,
focus), after a short wait for more, and summarises them as one batch. A client that disconnects
frees its place; a batch without clients is abandoned.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import asdict, dataclass, field

from starlette.requests import Request as HttpRequest

from hiersum.config import ServingConfig
from hiersum.pipeline import Failure, Summarizer
from hiersum.serving.messages import Asked, RequestError, incident
from hiersum.serving.metrics import Metrics
from hiersum.types import Cluster, Progress, Summary, SummarySentence
from hiersum.writing.writer import NEURAL_SYSTEMS, Request

Outcome = Summary | Failure | Exception
News = Progress | SummarySentence
"""Events sent to a client before the outcome."""
BATCH_WAIT = 0.02
"""Seconds that an idle network waits for more requests to fill a batch."""
_RETRY_SECONDS = 5
_KEEP_ALIVE_SECONDS = 15.0  # interval of comments on a silent stream


@dataclass(eq=False)
class Job:
    """An accepted request. `tell` is called on the summarizer's thread."""

    cluster: Cluster
    request: Request
    tell: Callable[[News | Outcome], object]
    accepted: float = field(default_factory=time.perf_counter)
    is_done: bool = False
    """Whether it has an outcome or was cancelled."""

    def finish(self, outcome: Outcome) -> None:
        """Deliver the outcome, unless the job is done already."""
        if not self.is_done:
            self.is_done = True
            self.tell(outcome)


class _AbandonedError(Exception):
    """All clients of the batch have disconnected."""


class BatchQueue:
    """Accepted requests, summarised in batches by one thread."""

    def __init__(self, summarizer: Summarizer, config: ServingConfig, metrics: Metrics) -> None:
        self._summarizer = summarizer
        self._config = config
        self._metrics = metrics
        self._waiting: list[Job] = []
        self._changed = threading.Condition()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="summarizer", daemon=True)
        metrics.watch_queue(lambda: len(self._waiting))

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Finish accepted requests, then stop."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join()

    def check_open(self) -> None:
        """Refuse requests while the queue is full or not running."""
        if not self._thread.is_alive() or self._is_closing:
            raise RequestError(503, "the server is starting or stopping")
        if len(self._waiting) >= self._config.max_queue:
            detail = f"too many requests are waiting; try again in {_RETRY_SECONDS} s"
            raise RequestError(429, detail, {"Retry-After": str(_RETRY_SECONDS)})

    def submit(self, job: Job) -> int:
        """Append a request to the queue; return the number ahead of it."""
        with self._changed:
            self.check_open()
            self._waiting.append(job)
            self._changed.notify_all()
            return len(self._waiting) - 1

    def cancel(self, job: Job) -> None:
        """Drop a request whose client has disconnected, unless it is done."""
        with self._changed:
            if job.is_done:
                return
            job.is_done = True
            if job in self._waiting:
                self._waiting.remove(job)
            self._metrics.cancelled.inc()
            self._changed.notify_all()

    def _run(self) -> None:
        while jobs := self._next_jobs():
            start = time.perf_counter()
            self._metrics.batch_size.observe(len(jobs))
            for job in jobs:
                self._metrics.wait_seconds.observe(start - job.accepted)
            self._work_on(jobs)

    def _next_jobs(self) -> list[Job]:
        """Wait for the next batch; empty once the queue is closed."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._waiting or self._is_closing)
                if not self._waiting:
                    return []
                first = self._waiting[0]
                self._fill_batch(first)
                if first.is_done:
                    continue
                jobs = self._batch(first)
                self._waiting = [job for job in self._waiting if job not in jobs]
                return jobs

    def _fill_batch(self, first: Job) -> None:
        """Wait a moment for more requests like this one; only networks gain from batches."""
        if first.request.system not in NEURAL_SYSTEMS:
            return
        self._changed.wait_for(
            lambda: (
                self._is_closing
                or first.is_done
                or len(self._batch(first)) >= self._config.max_batch
            ),
            timeout=BATCH_WAIT,
        )

    def _batch(self, first: Job) -> list[Job]:
        alike = [job for job in self._waiting if job.request == first.request]
        return alike[: self._config.max_batch]

    def _work_on(self, jobs: Sequence[Job], *, is_retry: bool = False) -> None:
        """Deliver every request's outcome; if the batch fails, try each request alone."""

        def watch(number: int, progress: Progress) -> None:
            if all(job.is_done for job in jobs):
                raise _AbandonedError
            if not jobs[number].is_done:
                jobs[number].tell(progress)

        def told(number: int, sentence: SummarySentence) -> None:
            if not jobs[number].is_done and not is_retry:  # do not send sentences twice
                jobs[number].tell(sentence)

        clusters = [job.cluster for job in jobs]
        try:
            outcomes = self._summarizer.summarize_each(
                clusters, watch=watch, told=told, **asdict(jobs[0].request)
            )
            for number, outcome in outcomes:
                jobs[number].finish(outcome)
        except _AbandonedError:
            return
        except Exception as error:
            if len(jobs) == 1:
                jobs[0].finish(error)
                return
            for job in [job for job in jobs if not job.is_done]:
                self._work_on([job], is_retry=True)


class ClientGoneError(Exception):
    """The client has disconnected."""


def join_queue(
    asked: Asked, queue: BatchQueue, http: HttpRequest
) -> AsyncGenerator[News | Summary | None, None]:
    """Queue a request, and return its events: news, None after a quiet interval, and the summary.

    An error is raised instead of the summary. Closing the events gives up the place in the queue.
    """
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[News | Outcome] = asyncio.Queue()
    job = Job(
        asked.cluster,
        asked.request,
        lambda event: loop.call_soon_threadsafe(events.put_nowait, event),
    )
    num_before = queue.submit(job)

    async def watch_client() -> None:
        while (await http.receive())["type"] != "http.disconnect":
            pass
        events.put_nowait(ClientGoneError())

    async def follow() -> AsyncGenerator[News | Summary | None, None]:
        watching = asyncio.create_task(watch_client())
        try:
            yield Progress("queued", 0, num_before)
            while True:
                try:
                    async with asyncio.timeout(_KEEP_ALIVE_SECONDS):
                        event = await events.get()
                except TimeoutError:
                    yield None
                    continue
                if isinstance(event, Failure):
                    raise event.error
                if isinstance(event, Exception):
                    raise event if isinstance(event, ClientGoneError) else incident(event)
                yield event
                if isinstance(event, Summary):
                    return
        finally:
            watching.cancel()
            queue.cancel(job)

    return follow()
