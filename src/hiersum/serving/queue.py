"""A bounded queue of requests for one summarizer, and the clients waiting in it.

One thread takes the oldest request together with all others with the same options (system, length,
focus), after a short wait for more, and summarises them as one batch. A client that disconnects
frees its place; a batch without clients is abandoned.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass, field

from starlette.requests import Request as HttpRequest

from hiersum.config import ServingConfig
from hiersum.pipeline import Failure, Summarizer
from hiersum.request import NEURAL_SYSTEMS, Request
from hiersum.serving.messages import Asked, RequestError, incident
from hiersum.serving.metrics import Metrics
from hiersum.types import Cluster, Progress, Summary, SummarySentence

Outcome = Summary | Failure | Exception
News = Progress | SummarySentence
"""Events sent to a client before the outcome."""
BATCH_WAIT = 0.02
"""Seconds that an idle network waits for more requests to fill a batch."""
_MAX_RETRY_SECONDS = 60.0
_SMOOTHING = 0.2  # weight of the newest batch in the running mean of seconds per request
_KEEP_ALIVE_SECONDS = 15.0  # interval of comments on a silent stream


@dataclass(eq=False)
class Job:
    """An accepted request. `tell` is called on the summarizer's thread."""

    cluster: Cluster
    request: Request
    tell: Callable[[News | Outcome], None]
    accepted: float = field(default_factory=time.perf_counter)
    is_done: bool = False
    """Whether it has an outcome or was cancelled."""

    def finish(self, outcome: Outcome) -> None:
        """Deliver the outcome, unless the job is done already."""
        if not self.is_done:
            self.is_done = True
            self.tell(outcome)


class QueueFullError(Exception):
    """The queue is full or closing."""


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
        self._seconds_each = 0.5
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

    @property
    def is_open(self) -> bool:
        """Whether requests are accepted."""
        return self._thread.is_alive() and not self._is_closing

    @property
    def is_full(self) -> bool:
        """Whether the queue is full."""
        return len(self._waiting) >= self._config.max_queue

    @property
    def retry_after(self) -> int:
        """Seconds after which there should be room again."""
        return round(min(max(1.0, self._seconds_each * len(self._waiting)), _MAX_RETRY_SECONDS))

    def submit(self, job: Job) -> int:
        """Append a request to the queue; return the number ahead of it.

        Raises:
            QueueFullError: the queue is full or closing.
        """
        with self._changed:
            if self._is_closing or self.is_full:
                raise QueueFullError
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
            each = (time.perf_counter() - start) / len(jobs)
            self._seconds_each += _SMOOTHING * (each - self._seconds_each)

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
            rest = [job for job in jobs if not job.is_done]
            if len(jobs) == 1:
                jobs[0].finish(error)
            else:
                for job in rest:
                    self._work_on([job], is_retry=True)


class ClientGoneError(Exception):
    """The client has disconnected."""


class Ticket:
    """A client's place in the queue; leaving `async with` gives it up."""

    def __init__(self, asked: Asked, queue: BatchQueue, http: HttpRequest) -> None:
        """Join the queue.

        Raises:
            RequestError: the queue is full (503).
        """
        loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[News | Outcome] = asyncio.Queue()

        def tell(event: News | Outcome) -> None:
            loop.call_soon_threadsafe(self._events.put_nowait, event)

        self._queue = queue
        self._job = Job(asked.cluster, asked.request, tell)
        try:
            self.num_before = queue.submit(self._job)
        except QueueFullError:
            raise queue_is_full(queue) from None
        self._gone = asyncio.create_task(_until_gone(http))

    async def __aenter__(self) -> Ticket:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._gone.cancel()
        self._queue.cancel(self._job)

    async def events(self) -> AsyncIterator[News | Outcome | None]:
        """Yield progress, sentences and finally the outcome; None after a quiet interval.

        Raises:
            ClientGoneError: the client has disconnected.
        """
        yield Progress("queued", 0, self.num_before)
        while True:
            event = asyncio.create_task(self._events.get())
            try:
                await asyncio.wait(
                    {event, self._gone},
                    timeout=_KEEP_ALIVE_SECONDS,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if event.done():
                    yield event.result()
                    if not isinstance(event.result(), News):
                        return
                elif self._gone.done():
                    raise ClientGoneError
                else:
                    yield None
            finally:
                event.cancel()

    async def summary(self) -> Summary:
        """Wait for the summary, or raise the error."""
        outcome: News | Outcome | None = None
        async for outcome in self.events():
            pass
        return summary_of(outcome)


def summary_of(outcome: News | Outcome | None) -> Summary:
    """Return the summary, or raise the error that came instead."""
    if isinstance(outcome, Failure):
        raise outcome.error
    if isinstance(outcome, Exception):
        raise incident(outcome)
    assert isinstance(outcome, Summary)
    return outcome


def queue_is_full(queue: BatchQueue) -> RequestError:
    """Return the error that tells a client when to retry."""
    seconds = queue.retry_after
    detail = f"too many requests are waiting; try again in {seconds} s"
    return RequestError(503, detail, {"Retry-After": str(seconds)})


async def _until_gone(http: HttpRequest) -> None:
    while (await http.receive())["type"] != "http.disconnect":
        pass
