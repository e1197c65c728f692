"""The engine for more than one machine: the same work, done by actors on a Ray cluster.

Actors and not Ray Data, because work here is handed out from a stream that nobody wants in memory or
counted beforehand, and what a worker loads once (a model, an index) must stay with it. An actor that
dies is started again elsewhere, and what it had begun is done again.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TypeVar

from hiersum.errors import InputError, MissingDependencyError
from hiersum.parallel import MAX_DEATHS, Engine, LocalEngine, WorkerError

Item = TypeVar("Item")
Result = TypeVar("Result")

ENGINES = ("local", "ray")
_AHEAD = 2  # items per actor, so that none waits for the next
_OBJECT_STORE_BYTES = 300_000_000  # for a cluster that is started here


@contextmanager
def open_engine(name: str, *, workers: int | None, address: str | None = None) -> Iterator[Engine]:
    """Give an engine, and close it in the end.

    Args:
        name: `local` or `ray`.
        workers: how many processes or actors; by default as many as there are cores.
        address: an existing Ray cluster; without one Ray is started on this machine.

    Raises:
        InputError: there is no such engine, or no cluster at the address.
        MissingDependencyError: Ray is not installed.
    """
    if name not in ENGINES:
        raise InputError(f"engine {name!r} is unknown; known: {', '.join(ENGINES)}")
    if name == "local":
        if address is not None:
            raise InputError("--ray-address goes with --engine ray")
        yield LocalEngine(workers or _num_cores())
        return
    with redirect_stdout(sys.stderr):  # Ray reports deaths on stdout, which is for results
        ray = _connect(address, workers)
        try:
            yield RayEngine(workers or max(int(ray.cluster_resources().get("CPU", 1)), 1))
        finally:
            ray.shutdown()


class RayEngine:
    """Actors on the Ray cluster that this process is connected to."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the result of every item as soon as it is there, in no fixed order.

        What `work` raises is raised here, and no further item is begun.

        Raises:
            WorkerError: an item killed its worker again and again.
        """
        import ray

        actor_class: Any = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=MAX_DEATHS)(
            _Worker
        )
        packed = ray.put(work)
        actors = [actor_class.remote() for _ in range(self.workers)]
        free = actors * _AHEAD
        pending: dict[Any, Any] = {}
        try:
            for item in items:
                if not free:
                    yield self._finished(pending, free)
                actor = free.pop()
                pending[actor.do.remote(packed, item)] = actor
            while pending:
                yield self._finished(pending, free)
        finally:
            for actor in actors:
                ray.kill(actor)

    def _finished(self, pending: dict[Any, Any], free: list[Any]) -> Any:
        import ray
        from ray.exceptions import RayActorError, RayTaskError

        (done, *_), _ = ray.wait(list(pending), num_returns=1)
        free.insert(0, pending.pop(done))
        try:
            return ray.get(done)
        except RayActorError as error:
            raise WorkerError(
                f"a worker of the Ray cluster was killed {MAX_DEATHS + 1} times over by the same piece "
                "of work, perhaps because memory ran out; what was finished stays: run the same "
                "command again"
            ) from error
        except RayTaskError as error:  # Ray wraps what was raised; we want it as it was
            raise error.cause from None


class _Worker:
    """An actor: one process, in which stays loaded what the work has loaded."""

    def do(self, work: Callable[[Any], Any], item: Any) -> Any:
        return work(item)


def _connect(address: str | None, workers: int | None) -> Any:
    try:
        import ray
    except ImportError as error:
        raise MissingDependencyError("--engine ray", "cluster") from error
    if address is not None:
        _check_address(address)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is None:
        options |= {"address": "local", "num_cpus": workers or _num_cores()}
        options |= {"include_dashboard": False, "object_store_memory": _OBJECT_STORE_BYTES}
    else:
        options |= {"address": address}
    try:
        ray.init(**options)
    except (OSError, RuntimeError, ValueError) as error:
        raise _no_cluster(address, str(error)) from error
    return ray


def _check_address(address: str) -> None:
    """Find out at once whether anybody answers; Ray itself would ask for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdigit():
        return  # `auto`
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
