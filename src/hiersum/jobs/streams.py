"""Iterate over the results of work that reports them to a callback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Event, Thread
from typing import TypeVar

Item = TypeVar("Item")


class _ClosedError(Exception):
    """Nobody reads the results any more."""


def as_told(work: Callable[[Callable[[Item], None]], object]) -> Iterator[Item]:
    """Run `work` in a thread; yield each item that it passes to its callback.

    An error in `work` is raised here. Closing the iterator stops the work at the next item that it
    passes, and waits for that.
    """
    told: SimpleQueue[tuple[Item] | BaseException | None] = SimpleQueue()
    is_closed = Event()

    def tell(item: Item) -> None:
        if is_closed.is_set():
            raise _ClosedError
        told.put((item,))

    def run() -> None:
        try:
            work(tell)
            told.put(None)
        except BaseException as error:  # re-raised in the consumer
            told.put(error)

    worker = Thread(target=run, daemon=True)
    worker.start()
    try:
        while (found := told.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            yield found[0]
    finally:
        is_closed.set()
        worker.join()
