"""Requests wait in line for one network, which writes those that ask the same together.

One thread takes them, oldest first. With the oldest go all that wait and ask the same (system, length,
focus), and it waits a moment for more; the summarizer then writes those of like length at once. Who goes
away while waiting frees the place; what is being written for nobody any more is given up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from hiersum.config import ServingConfig
from hiersum.pipeline import Failure, Summarizer
from hiersum.request import NEURAL_SYSTEMS, Request
from hiersum.serving.metrics import Metrics
from hiersum.types import Cluster, Progress, Summary

Outcome = Summary | Failure | Exception
_LONGEST_RETRY = 60.0
_MEMORY = 0.2  # weight of the newest request in the average of how long one takes


@dataclass(eq=False)
class Job:
    """A request that was accepted. `tell` is called from the thread that writes."""

    cluster: Cluster
    request: Request
    tell: Callable[[Progress | Outcome], None]
    accepted: float = field(default_factory=time.perf_counter)
    is_done: bool = False
    """It has its outcome, or nobody wants it any more."""

    def finish(self, outcome: Outcome) -> None:
        """Hand over the outcome, once."""
        if not self.is_done:
            self.is_done = True
            self.tell(outcome)


class QueueFullError(Exception):
    """There is no place left, or the queue is closing."""


class _AbandonedError(Exception):
    """Nobody waits for what is being written."""


class BatchQueue:
    """Accepted requests on their way to the summarizer."""

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
        """Begin to work."""
        self._thread.start()

    def close(self) -> None:
        """Finish what was accepted, then stop."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join()

    @property
    def is_open(self) -> bool:
        """Are requests taken on and worked on?"""
        return self._thread.is_alive() and not self._is_closing

    @property
    def is_full(self) -> bool:
        """Is there no place left?"""
        return len(self._waiting) >= self._config.max_queue

    @property
    def retry_after(self) -> int:
        """Seconds after which there should be room again."""
        return round(min(max(1.0, self._seconds_each * len(self._waiting)), _LONGEST_RETRY))

    def submit(self, job: Job) -> int:
        """Put a request at the end of the line; return how many are before it.

        Raises:
            QueueFullError: there is no place left.
        """
        with self._changed:
            if self._is_closing or self.is_full:
                raise QueueFullError
            self._waiting.append(job)
            self._changed.notify_all()
            return len(self._waiting) - 1

    def cancel(self, job: Job) -> None:
        """Forget a request whose client has gone; one that is done is left alone."""
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
            self._seconds_each += _MEMORY * (each - self._seconds_each)

    def _next_jobs(self) -> list[Job]:
        """Wait for a request and for others that may go with it; nothing once the queue is closed."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._waiting or self._is_closing)
                if not self._waiting:
                    return []
                first = self._waiting[0]
                self._wait_for_company(first)
                if first.is_done:
                    continue
                jobs = self._company(first)
                self._waiting = [job for job in self._waiting if job not in jobs]
                return jobs

    def _wait_for_company(self, first: Job) -> None:
        """Wait a moment for more of the same; where each is written by itself there is no point."""
        if first.request.system not in NEURAL_SYSTEMS:
            return
        self._changed.wait_for(
            lambda: (
                self._is_closing
                or first.is_done
                or len(self._company(first)) >= self._config.max_batch
            ),
            timeout=self._config.batch_wait,
        )

    def _company(self, first: Job) -> list[Job]:
        alike = [job for job in self._waiting if job.request == first.request]
        return alike[: self._config.max_batch]

    def _work_on(self, jobs: Sequence[Job]) -> None:
        """Give every request its outcome; if one of them breaks the batch, each is tried alone."""

        def watch(number: int, progress: Progress) -> None:
            if all(job.is_done for job in jobs):
                raise _AbandonedError
            if not jobs[number].is_done:
                jobs[number].tell(progress)

        clusters = [job.cluster for job in jobs]
        try:
            outcomes = self._summarizer.summarize_each(
                clusters, watch=watch, **asdict(jobs[0].request)
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
                    self._work_on([job])
