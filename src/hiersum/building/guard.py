"""Run a parser on untrusted input in a child process with limits on time and memory.

A parser that hangs or exhausts memory cannot be stopped from within: its process is killed and
replaced. `main` is the child's entry point.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

TOO_LONG = "took too long"
TOO_MUCH_MEMORY = "took too much memory"
ENDED = "crashed the parser"
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits for one page."""

    seconds: float = 10.0
    megabytes: int = 1_500
    """Memory of the whole child process; the interpreter alone takes about 300."""
    page_bytes: int = 5_000_000


class Guard:
    """A child process that calls one function under limits."""

    def __init__(self, work: str, limits: Limits) -> None:
        """Prepare to call `module:function`, which takes facts and bytes and returns a JSON object.

        The child starts at the first call.
        """
        self._work = work
        self._limits = limits
        self._child: subprocess.Popen[bytes] | None = None
        self._pipe: Any = None

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def __call__(self, facts: Mapping[str, Any], data: bytes = b"") -> dict[str, Any]:
        """Return the function's result, or `{"dropped": reason}` if it exceeded a limit."""
        if self._child is None:
            self._start()
        try:
            self._pipe.send((facts, data))
            result = self._receive(self._limits.seconds)
        except (OSError, EOFError):
            result = {"dropped": ENDED}
        if result.get("dropped") in (TOO_LONG, TOO_MUCH_MEMORY, ENDED):
            self._end()
        return result

    def _start(self) -> None:
        self._pipe, theirs = Pipe()
        arguments = (self._work, theirs.fileno(), self._limits.megabytes, self._limits.seconds)
        self._child = subprocess.Popen(
            [sys.executable, "-m", __name__, *map(str, arguments)],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        theirs.close()
        # The child reports when it is ready, so its startup does not count towards a page's time.
        try:
            is_ready = not self._receive(_START_SECONDS)
        except (OSError, EOFError):
            is_ready = False
        if not is_ready:
            self._end()
            raise RuntimeError(f"the process for {self._work} does not start")

    def _receive(self, seconds: float) -> dict[str, Any]:
        if not self._pipe.poll(seconds):
            return {"dropped": TOO_LONG}
        result: dict[str, Any] = json.loads(self._pipe.recv_bytes())  # never unpickle its answers
        return result

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self._pipe.close()
            self._child = None


def main() -> None:
    """Serve `module:function` until the parent closes the pipe.

    The parent kills a child that takes too long. An alarm does so a little later, in case the
    parent itself was killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent handles it
    module, _, name = sys.argv[1].partition(":")
    pipe = Connection(int(sys.argv[2]))
    limit, seconds = int(sys.argv[3]) * 1_000_000, float(sys.argv[4])
    work = getattr(importlib.import_module(module), name)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    result: Any = {}
    while True:
        pipe.send_bytes(json.dumps(result).encode())
        signal.setitimer(signal.ITIMER_REAL, 0)
        try:
            facts, data = pipe.recv()
        except (OSError, EOFError):
            return
        signal.setitimer(signal.ITIMER_REAL, 2 * seconds + 1)  # by default it ends the process
        try:
            result = work(facts, data)
        except MemoryError:
            result = {"dropped": TOO_MUCH_MEMORY}
        except RecursionError:
            result = {"dropped": "nested too deeply"}
        except Exception as error:  # arbitrary bytes can make a parser raise anything
            result = {"dropped": f"could not be read ({type(error).__name__})"}


if __name__ == "__main__":
    main()
