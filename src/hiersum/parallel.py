"""Work spread over processes: results as they come, errors as if raised here, no orphans.

A process that is killed is replaced, and what it had begun is done again: work that is handed out here
must give the same whether it is done once or twice.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from typing import Generic, Protocol, TypeVar

from hiersum.errors import HiersumError

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")


MAX_DEATHS = 3
"""Workers may be killed this often before any of them has finished an item."""


class WorkerError(HiersumError):
    """A worker process was ended from outside."""


class Engine(Protocol):
    """Where work is done: processes of this machine, or a cluster."""

    def run(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the result of every item as soon as it is there, in no fixed order."""


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Processes of this machine."""

    workers: int = 1

    def run(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """See `in_processes`."""
        return in_processes(work, items, workers=self.workers)


def in_processes(
    work: Callable[[Item], Result], items: Iterable[Item], *, workers: int
) -> Iterator[Result]:
    """Yield the result of every item as soon as it is there, in no fixed order.

    What `work` raises is raised here, and no further item is begun. One worker means this process.

    Args:
        work: a function that pickles: of a module, or a `functools.partial` of one.
        items: what to work on; taken one by one, not long before they are needed.
        workers: how many processes to use.

    Raises:
        WorkerError: a process was killed, mostly because memory ran out.
    """
    remaining = iter(items)
    first = list(islice(remaining, 2))
    if workers == 1 or len(first) < 2:
        yield from map(work, chain(first, remaining))
        return
    remaining = chain(first, remaining)
    unfinished: list[Item] = []
    deaths = 0
    while True:
        crew = _Crew(work, workers)
        try:
            for result in crew.results(chain(unfinished, remaining)):
                deaths = 0
                yield result
            return
        except BrokenProcessPool as error:
            deaths += 1
            if deaths > MAX_DEATHS:
                raise WorkerError(
                    f"one of {workers} worker processes was killed {deaths} times over, perhaps because "
                    "memory ran out; what was finished stays: run the same command again, with fewer "
                    "--workers"
                ) from error
            logger.warning("a worker process was killed; its work is done again")
            unfinished = crew.unfinished
        finally:
            crew.leave()


class _Crew(Generic[Item, Result]):
    """Processes that work until one of them is killed."""

    def __init__(self, work: Callable[[Item], Result], workers: int) -> None:
        # Forking a process that has threads (progress, Arrow) can hang; spawned ones start clean.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(workers, context, initializer=_follow_parent)
        self._work = work
        self._workers = workers
        self._pending: dict[Future[Result], Item] = {}
        self._waiting: Item | None = None

    @property
    def unfinished(self) -> list[Item]:
        """What was taken and came to no result."""
        taken = list(self._pending.values())
        return taken if self._waiting is None else [*taken, self._waiting]

    def results(self, items: Iterable[Item]) -> Iterator[Result]:
        for self._waiting in items:
            self._pending[self._pool.submit(self._work, self._waiting)] = self._waiting
            self._waiting = None
            if len(self._pending) > self._workers:  # one item waits, so that no worker does
                yield from self._finished()
        while self._pending:
            yield from self._finished()

    def _finished(self) -> Iterator[Result]:
        done, _ = wait(self._pending, return_when=FIRST_COMPLETED)
        for future in done:
            result = future.result()
            del self._pending[future]
            yield result

    def leave(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def in_order(numbered: Iterable[tuple[int, Item]]) -> Iterator[Item]:
    """Yield items by their numbers from 0 on, each as soon as all before it have come."""
    waiting: dict[int, Item] = {}
    wanted = 0
    for number, item in numbered:
        waiting[number] = item
        while wanted in waiting:
            yield waiting.pop(wanted)
            wanted += 1


def _follow_parent() -> None:
    """End with the parent: one that is killed outright cannot tell its workers to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent decides
    # Processes share the cores already; read by torch and numpy, which are not loaded yet.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
