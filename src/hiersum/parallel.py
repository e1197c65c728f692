"""Work spread over processes: results as they come, errors as if raised here, no orphans."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from hiersum.errors import HiersumError

Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerError(HiersumError):
    """A worker process was ended from outside."""


def in_processes(
    work: Callable[[Item], Result], items: Sequence[Item], *, workers: int
) -> Iterator[Result]:
    """Yield the result of every item as soon as it is there, in no fixed order.

    What `work` raises is raised here, and no further item is begun. One worker means this process.

    Args:
        work: a function that pickles: of a module, or a `functools.partial` of one.
        items: what to work on.
        workers: how many processes to use.

    Raises:
        WorkerError: a process was killed, mostly because memory ran out.
    """
    if workers == 1 or len(items) < 2:
        yield from map(work, items)
        return
    # Forking a process that has threads (progress, Arrow) can hang; spawned ones start clean.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(items)), context, initializer=_follow_parent)
    try:
        for future in as_completed([pool.submit(work, item) for item in items]):
            yield future.result()
    except BrokenProcessPool as error:
        raise WorkerError(
            f"one of {workers} worker processes was killed, perhaps because memory ran out; "
            "what was finished stays: run the same command again, with fewer --workers"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _follow_parent() -> None:
    """End with the parent: one that is killed outright cannot tell its workers to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent decides
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
