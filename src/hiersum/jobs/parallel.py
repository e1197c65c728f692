"""Run work in several processes, or in a thread: results as they finish, errors re-raised, no orphans.

A killed process is replaced and its work repeated, so work must be idempotent.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from queue import SimpleQueue
from threading import Event, Thread
from typing import Generic, Protocol, TypeVar

from hiersum.errors import HiersumError

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_DEATHS = 3
"""Give up when workers are killed more often than this without finishing an item."""


class WorkerError(HiersumError):
    """A worker process was killed."""


class Engine(Protocol):
    """Runs work: in processes on this machine, or on a cluster."""

    def run(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the result of each item as soon as it is done, in no fixed order."""


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Processes on this machine."""

    workers: int = 1

    def run(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the result of each item as soon as it is done, in no fixed order.

        An error in `work` is raised here, and no further item is started. One worker: this process.
        `work` must be picklable; items are consumed only shortly before they are needed.
        """
        remaining = iter(items)
        first = list(islice(remaining, 2))
        if self.workers == 1 or len(first) < 2:
            yield from map(work, chain(first, remaining))
            return
        remaining = chain(first, remaining)
        unfinished: list[Item] = []
        deaths = 0
        while True:
            pool = _WorkerPool(work, self.workers)
            try:
                for result in pool.results(chain(unfinished, remaining)):
                    deaths = 0
                    yield result
                return
            except BrokenProcessPool as error:
                deaths += 1
                if deaths > MAX_DEATHS:
                    raise WorkerError(
                        f"one of {self.workers} worker processes was killed {deaths} times in a "
                        "row, perhaps because memory ran out; finished work is kept: run the same "
                        "command again with fewer --workers"
                    ) from error
                logger.warning("a worker process was killed; repeating its work")
                unfinished = pool.unfinished
            except KeyboardInterrupt:
                logger.warning(
                    "finishing the parts in progress; press Ctrl-C again to stop at once"
                )
                raise
            finally:
                pool.close()


class _WorkerPool(Generic[Item, Result]):
    """Processes that work until one of them is killed."""

    def __init__(self, work: Callable[[Item], Result], workers: int) -> None:
        # Forking a process that has threads (progress bars, Arrow) can hang; spawning cannot.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(workers, context, initializer=_follow_parent)
        self._work = work
        self._workers = workers
        self._pending: dict[Future[Result], Item] = {}
        self._waiting: Item | None = None

    @property
    def unfinished(self) -> list[Item]:
        """Items that were started but have no result."""
        taken = list(self._pending.values())
        return taken if self._waiting is None else [*taken, self._waiting]

    def results(self, items: Iterable[Item]) -> Iterator[Result]:
        for self._waiting in items:
            self._pending[self._pool.submit(self._work, self._waiting)] = self._waiting
            self._waiting = None
            if len(self._pending) > self._workers:  # keeps one item queued, so that no worker idles
                yield from self._finished()
        while self._pending:
            yield from self._finished()

    def _finished(self) -> Iterator[Result]:
        done, _ = wait(self._pending, return_when=FIRST_COMPLETED)
        for future in done:
            result = future.result()
            del self._pending[future]
            yield result

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def in_order(numbered: Iterable[tuple[int, Item]]) -> Iterator[Item]:
    """Yield items in the order of their numbers, from 0, each as soon as possible."""
    waiting: dict[int, Item] = {}
    wanted = 0
    for number, item in numbered:
        waiting[number] = item
        while wanted in waiting:
            yield waiting.pop(wanted)
            wanted += 1


def _follow_parent() -> None:
    """Exit with the parent: a killed parent cannot stop its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent handles it
    # Processes already share the cores. Torch and numpy read this on import, later.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()


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
