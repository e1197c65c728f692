"""One client waiting for one summary: hears of progress, and leaves the line when it goes away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request as HttpRequest

from hiersum.pipeline import Failure
from hiersum.serving.messages import Asked, RequestError, incident
from hiersum.serving.queue import BatchQueue, Job, Outcome, QueueFullError
from hiersum.types import Progress, Summary

_SILENCE = 15.0  # seconds after which a stream shows that it is alive


class ClientGoneError(Exception):
    """Nobody waits for the answer."""


class Ticket:
    """A place in the queue, held from `async with` to its end."""

    def __init__(self, asked: Asked, queue: BatchQueue, http: HttpRequest) -> None:
        """Take a place.

        Raises:
            RequestError: the queue is full (503).
        """
        loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Progress | Outcome] = asyncio.Queue()

        def tell(event: Progress | Outcome) -> None:
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

    async def events(self) -> AsyncIterator[Progress | Outcome | None]:
        """Yield progress, and at last the outcome; None where nothing happened for a while.

        Raises:
            ClientGoneError: the client has gone.
        """
        yield Progress("queued", 0, self.num_before)
        while True:
            event = asyncio.create_task(self._events.get())
            try:
                await asyncio.wait(
                    {event, self._gone}, timeout=_SILENCE, return_when=asyncio.FIRST_COMPLETED
                )
                if event.done():
                    yield event.result()
                    if not isinstance(event.result(), Progress):
                        return
                elif self._gone.done():
                    raise ClientGoneError
                else:
                    yield None
            finally:
                event.cancel()

    async def summary(self) -> Summary:
        """Wait for the summary; raise what came instead."""
        outcome: Progress | Outcome | None = None
        async for outcome in self.events():
            pass
        return summary_of(outcome)


def summary_of(outcome: Progress | Outcome | None) -> Summary:
    """Return the summary, or raise why there is none."""
    if isinstance(outcome, Failure):
        raise outcome.error
    if isinstance(outcome, Exception):
        raise incident(outcome)
    assert isinstance(outcome, Summary)
    return outcome


def queue_is_full(queue: BatchQueue) -> RequestError:
    """Tell a client to come again."""
    seconds = queue.retry_after
    detail = f"too many requests are waiting; try again in {seconds} s"
    return RequestError(503, detail, {"Retry-After": str(seconds)})


async def _until_gone(http: HttpRequest) -> None:
    while (await http.receive())["type"] != "http.disconnect":
        pass
