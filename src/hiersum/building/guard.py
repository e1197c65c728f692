"""Run a parser on untrusted input in a child process with limits on time and memory.

A parser that hangs or eats memory cannot be stopped from within: its process is killed and replaced.
Requests and answers are frames of JSON and bytes on pipes. `main` is the child.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import IO, Any

TOO_LONG = "took too long"
TOO_MUCH_MEMORY = "took too much memory"
ENDED = "ended its reader"
_HEAD = struct.Struct("<II")
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one page may cost."""

    seconds: float = 10.0
    megabytes: int = 1_500
    """Memory of the whole child process; the interpreter alone takes some 300."""
    page_bytes: int = 5_000_000


class Guard:
    """A child process that calls one function under limits."""

    def __init__(self, work: str, limits: Limits) -> None:
        """Prepare a guard.

        Args:
            work: `module:function`; it takes facts and bytes, and returns a JSON object.
            limits: what a call may cost.
        """
        self._work = work
        self._limits = limits
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def __call__(self, facts: Mapping[str, Any], data: bytes = b"") -> dict[str, Any]:
        """Return the function's result, or `{"dropped": reason}` if it exceeded a limit."""
        if self._child is None:
            self._start()
        head = json.dumps(facts).encode()
        assert self._child is not None
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(_HEAD.pack(len(head), len(data)) + head)
            self._child.stdin.write(data)
            self._child.stdin.flush()
            answer = self._receive(self._limits.seconds)
        except (BrokenPipeError, EOFError):
            self._end()
            return {"dropped": ENDED}
        if answer is None:
            self._end()
            return {"dropped": TOO_LONG}
        result: dict[str, Any] = json.loads(answer)
        if result.get("dropped") == TOO_MUCH_MEMORY:
            self._end()  # it may never give its memory back
        return result

    def _start(self) -> None:
        command = [sys.executable, "-m", __name__, self._work]
        self._child = subprocess.Popen(
            [*command, str(self._limits.megabytes), str(self._limits.seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        # The child's first answer says that it is ready, so that no page pays for its start.
        try:
            is_ready = self._receive(_START_SECONDS) is not None
        except EOFError:
            is_ready = False
        if not is_ready:
            self._end()
            raise RuntimeError(f"the process for {self._work} does not start")

    def _receive(self, seconds: float) -> bytes | None:
        """Return an answer, None if it does not arrive in time."""
        deadline = monotonic() + seconds
        head = self._read(_HEAD.size, deadline)
        if head is None:
            return None
        length, _ = _HEAD.unpack(head)
        return self._read(length, deadline)

    def _read(self, length: int, deadline: float) -> bytes | None:
        assert self._child is not None
        assert self._child.stdout is not None
        descriptor = self._child.stdout.fileno()
        parts: list[bytes] = []
        while length:
            left = deadline - monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                return None
            part = os.read(descriptor, min(length, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _end(self) -> None:
        if self._child is None:
            return
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):  # data the child never read
                pipe.close()
        self._child = None


def main() -> None:
    """Serve `module:function` until the parent closes the pipe.

    The parent kills a child that takes too long. An alarm does so a little later, in case the parent
    itself was killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent decides
    module, _, name = sys.argv[1].partition(":")
    limit, seconds = int(sys.argv[2]) * 1_000_000, float(sys.argv[3])
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints does not become an answer
    work = getattr(importlib.import_module(module), name)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    _answer(answers, {})
    while head := requests.read(_HEAD.size):
        num_facts, num_bytes = _HEAD.unpack(head)
        facts = json.loads(requests.read(num_facts))
        data = requests.read(num_bytes)
        signal.setitimer(signal.ITIMER_REAL, 2 * seconds + 1)  # by default it ends the process
        try:
            result: Any = work(facts, data)
        except MemoryError:
            result = {"dropped": TOO_MUCH_MEMORY}
        except RecursionError:
            result = {"dropped": "nested too deeply"}
        except Exception as error:  # arbitrary bytes can make a parser raise anything
            result = {"dropped": f"could not be read ({type(error).__name__})"}
        _answer(answers, result)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _answer(answers: IO[bytes], result: Any) -> None:
    data = json.dumps(result).encode()
    answers.write(_HEAD.pack(len(data), 0) + data)
    answers.flush()


if __name__ == "__main__":
    main()
