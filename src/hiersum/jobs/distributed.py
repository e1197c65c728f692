"""The engine for several machines: the same work as tasks of a Ray cluster.

Tasks rather than Ray Data, because items are a stream of unknown length that may not fit in memory.
Ray gives tasks to processes that live on, so that these keep what they have loaded (a model, an
index), and repeats the task of a process that dies.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TypeVar

from hiersum.errors import InputError, check_extra
from hiersum.jobs.parallel import MAX_DEATHS, Engine, LocalEngine, WorkerError

Item = TypeVar("Item")
Result = TypeVar("Result")

ENGINES = ("local", "ray")
_AHEAD = 2  # tasks per worker, so that none idles
_OBJECT_STORE_BYTES = 300_000_000  # for a cluster started here


@contextmanager
def open_engine(name: str, *, workers: int | None, address: str | None = None) -> Iterator[Engine]:
    """Open the engine `local` or `ray`, and close it at the end of the block.

    By default, there is one worker per core, and Ray is started on this machine.
    """
    check_engine(name, address=address)
    if name == "local":
        yield LocalEngine(workers or _num_cores())
        return
    with redirect_stdout(sys.stderr):  # Ray prints to stdout, which is for results
        ray = connect(address, workers)
        try:
            yield RayEngine(workers or max(int(ray.cluster_resources().get("CPU", 1)), 1))
        finally:
            ray.shutdown()


def check_engine(name: str, *, address: str | None) -> None:
    """Refuse an unknown engine, and an address for the local one."""
    if name not in ENGINES:
        raise InputError(f"engine {name!r} is unknown; known: {', '.join(ENGINES)}")
    if name == "local" and address is not None:
        raise InputError("--ray-address needs --engine ray")


class RayEngine:
    """Tasks on the connected Ray cluster, each on one core."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the result of each item as soon as it is done, in no fixed order.

        An error in `work` is raised here, and no further item is started.
        """
        import ray

        task: Any = ray.remote(num_cpus=1, max_retries=MAX_DEATHS)(hiersum_work)
        shared = ray.put(work)
        begun: list[Any] = []
        try:
            for item in items:
                begun.append(task.remote(shared, item))
                if len(begun) == _AHEAD * self.workers:
                    yield _first_done(begun)
            while begun:
                yield _first_done(begun)
        finally:
            for reference in begun:
                ray.cancel(reference, force=True)


def hiersum_work(work: Callable[[Item], Result], item: Item) -> Result:
    """Do one piece of work. Ray shows this name in the list of processes."""
    return work(item)


def _first_done(begun: list[Any]) -> Any:
    """Wait for a task, take it off the list and return its result."""
    import ray
    from ray.exceptions import ObjectLostError, OutOfMemoryError, RayTaskError, WorkerCrashedError

    (reference, *_), _ = ray.wait(begun, num_returns=1)
    begun.remove(reference)
    try:
        return ray.get(reference)
    except (WorkerCrashedError, OutOfMemoryError, ObjectLostError) as error:
        raise WorkerError(
            f"a worker of the Ray cluster was killed {MAX_DEATHS + 1} times by the same piece of work, "
            "perhaps because memory ran out; finished work is kept: run the same command again"
        ) from error
    except RayTaskError as error:
        raise _as_raised(error) from error


def _as_raised(error: Any) -> BaseException:
    """Return the worker's own error, without Ray's wrapper."""
    from ray.exceptions import RaySystemError

    cause: BaseException = error.cause
    if not isinstance(cause, RaySystemError):
        return cause
    reason = str(cause).splitlines()[0].removeprefix("System error: ")
    return InputError(
        f"a machine of the Ray cluster cannot do this work ({reason}); install the same hiersum with "
        "the same extras on all machines"
    )


def connect(address: str | None, workers: int | None) -> Any:
    """Return Ray, connected to an existing cluster or to one started here."""
    check_extra("--engine ray", "cluster", "ray")
    import ray

    if address is not None:
        _check_address(address)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is None:
        options |= {"address": "local", "num_cpus": workers or _num_cores()}
        options |= {"include_dashboard": False, "object_store_memory": _OBJECT_STORE_BYTES}
    else:
        options |= {"address": address}
    on_termination = signal.getsignal(signal.SIGTERM)
    for num_left in (1, 0):
        try:
            ray.init(**options)
            break
        # Ray raises a bare Exception if a busy machine starts it too slowly.
        except Exception as error:
            ray.shutdown()
            if address is not None or not num_left:
                raise _no_cluster(address, str(error)) from error
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, on_termination)  # Ray does not restore the handler
    return ray


def ray_serve() -> Any:
    """Return Ray Serve, which needs more than Ray alone."""
    check_extra("serve --engine ray", "cluster", "ray.serve")
    from ray import serve

    return serve


def _check_address(address: str) -> None:
    """Fail at once if nothing answers; Ray itself would retry for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdigit():
        return  # such as `auto`
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, str(error)) from error


def _no_cluster(address: str | None, reason: str) -> InputError:
    where = "on this machine" if address is None else f"at {address}"
    first_line = (reason.splitlines() or ["no reason given"])[0][:200]
    return InputError(f"no Ray cluster {where} ({first_line}); start one with: ray start --head")


def _num_cores() -> int:
    return os.cpu_count() or 1
