"""Work spread over processes: results as they come, errors as if raised here, no orphans."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    as_completed,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import TypeVar

from hiersum.errors import HiersumError

Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerError(HiersumError):
    """A worker process was ended from outside."""


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
    # Forking a process that has threads (progress, Arrow) can hang; spawned ones start clean.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=_follow_parent)
    pending: set[Future[Result]] = set()
    try:
        for item in chain(first, remaining):
            pending.add(pool.submit(work, item))
            if len(pending) > workers:  # one item waits, so that no worker does
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        yield from (future.result() for future in as_completed(pending))
    except BrokenProcessPool as error:
        raise WorkerError(
            f"one of {workers} worker processes was killed, perhaps because memory ran out; "
            "what was finished stays: run the same command again, with fewer --workers"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


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
