"""The engine for several machines: the same work on the actors of a Ray cluster.

Actors rather than Ray Data, because items are a stream of unknown length that may not fit in
memory, and because workers must keep what they have loaded (a model, an index). An actor that dies
is restarted elsewhere and its work repeated.
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

from hiersum.errors import InputError, MissingDependencyError
from hiersum.jobs.parallel import MAX_DEATHS, Engine, LocalEngine, WorkerError

Item = TypeVar("Item")
Result = TypeVar("Result")

ENGINES = ("local", "ray")
_AHEAD = 2  # items queued per actor, so that none idles
_OBJECT_STORE_BYTES = 300_000_000  # for a cluster started here


@contextmanager
def open_engine(name: str, *, workers: int | None, address: str | None = None) -> Iterator[Engine]:
    """Open an engine, and close it at the end of the block.

    Args:
        name: `local` or `ray`.
        workers: the number of processes or actors; default: one per core.
        address: an existing Ray cluster; default: start Ray on this machine.
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
        raise InputError("--ray-address goes with --engine ray")


class RayEngine:
    """Actors on the connected Ray cluster."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the result of each item as soon as it is done, in no fixed order.

        An error in `work` is raised here, and no further item is started.
        """
        pool = _ActorPool(work, self.workers)
        try:
            for item in items:
                yield from pool.until_free()
                pool.give(item)
            yield from pool.until_done()
        finally:
            pool.close()


class _ActorPool:
    """A pool of actors; dead ones are replaced and their work is reassigned.

    A new actor gets work only once it runs: the cluster may have no room for it.
    """

    def __init__(self, work: Callable[[Any], Any], workers: int) -> None:
        import ray

        self._ray = ray
        self._actor_class: Any = ray.remote(num_cpus=1)(_Worker)
        self._work = ray.put(work)
        self._starting: dict[Any, Any] = {}
        self._begun: dict[Any, tuple[Any, Any, int]] = {}
        self._begun_by: dict[Any, list[Any]] = {}
        self._again: list[tuple[Any, int]] = []
        for _ in range(workers):
            self._start()

    def until_free(self) -> Iterator[Any]:
        """Yield results until an actor has room for a new item."""
        self._hand_out()
        while self._again or self._roomiest() is None:
            yield from self._wait()
            self._hand_out()

    def until_done(self) -> Iterator[Any]:
        """Yield all remaining results."""
        while self._begun or self._again:
            self._hand_out()
            yield from self._wait()

    def give(self, item: Any, deaths: int = 0) -> None:
        """Give an item to the least busy actor."""
        actor = self._roomiest()
        reference = actor.do.remote(self._work, item)
        self._begun[reference] = (actor, item, deaths)
        self._begun_by[actor].append(reference)

    def close(self) -> None:
        """Kill all actors."""
        for actor in (*self._begun_by, *self._starting.values()):
            self._ray.kill(actor)

    def _hand_out(self) -> None:
        while self._again and self._roomiest() is not None:
            self.give(*self._again.pop())

    def _roomiest(self) -> Any:
        actor = min(self._begun_by, key=lambda one: len(self._begun_by[one]), default=None)
        return None if actor is None or len(self._begun_by[actor]) >= _AHEAD else actor

    def _start(self) -> None:
        actor = self._actor_class.remote()
        self._starting[actor.is_ready.remote()] = actor

    def _wait(self) -> Iterator[Any]:
        """Wait for the next event; yield its result if an item finished."""
        from ray.exceptions import ObjectLostError, RayActorError, RayTaskError

        (reference, *_), _ = self._ray.wait([*self._begun, *self._starting], num_returns=1)
        try:
            result = self._ray.get(reference)
        except (RayActorError, ObjectLostError) as error:
            self._replace(reference, error)
        except RayTaskError as error:
            raise _as_raised(error) from error
        else:
            if reference in self._starting:
                self._begun_by[self._starting.pop(reference)] = []
            else:
                actor, _, _ = self._begun.pop(reference)
                if actor in self._begun_by:
                    self._begun_by[actor].remove(reference)
                yield result

    def _replace(self, reference: Any, error: Exception) -> None:
        """Replace a dead actor and requeue its item."""
        if reference in self._starting:
            self._starting.pop(reference)
            self._start()
            return
        actor, item, deaths = self._begun.pop(reference)
        if actor in self._begun_by:
            deaths += self._begun_by[actor][0] == reference  # the other items were only queued
            del self._begun_by[actor]
            self._ray.kill(actor)  # it may be alive but unreachable
            self._start()
        if deaths > MAX_DEATHS:
            raise WorkerError(
                f"a worker of the Ray cluster was killed {deaths} times by the same piece of work, "
                "perhaps because memory ran out; finished work is kept: run the same command again"
            ) from error
        self._again.append((item, deaths))


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


class _Worker:
    """An actor: one process that keeps what its work has loaded."""

    def is_ready(self) -> bool:
        return True

    def do(self, work: Callable[[Any], Any], item: Any) -> Any:
        return work(item)


def connect(address: str | None, workers: int | None) -> Any:
    """Return Ray, connected to an existing cluster or to one started here."""
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
    try:
        from ray import serve
    except ImportError as error:
        raise MissingDependencyError("serve --engine ray", "cluster") from error
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
