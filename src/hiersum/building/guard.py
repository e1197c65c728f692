"""Work on things that may be poisonous, in a process of its own with limits on time and memory.

A parser that hangs or eats memory cannot be stopped from within: the child is ended, and another takes
its place. Requests and answers are frames of JSON and bytes on pipes (`guarded.py` is the other end).
"""

from __future__ import annotations

import json
import os
import select
import struct
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Any

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
    """Memory of the process that reads pages, all of it: the interpreter takes some 300."""
    page_bytes: int = 5_000_000


class Guard:
    """A child process that does one kind of work under limits."""

    def __init__(self, work: str, limits: Limits) -> None:
        """Prepare a guard.

        Args:
            work: `module:function`; it takes facts and bytes, and returns what JSON can hold.
            limits: what a call may cost.
        """
        self._work = work
        self._limits = limits
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def __call__(self, facts: Mapping[str, Any], data: bytes = b"") -> dict[str, Any]:
        """Return what the work returns, or `{"dropped": reason}` if it went beyond a limit."""
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
            self._end()  # what it holds may never be given back
        return result

    def _start(self) -> None:
        command = [sys.executable, "-m", "hiersum.building.guarded", self._work]
        self._child = subprocess.Popen(
            [*command, str(self._limits.megabytes), str(self._limits.seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        # Its first answer says that it is ready: loading is no page's fault.
        try:
            is_ready = self._receive(_START_SECONDS) is not None
        except EOFError:
            is_ready = False
        if not is_ready:
            self._end()
            raise RuntimeError(f"the process for {self._work} does not start")

    def _receive(self, seconds: float) -> bytes | None:
        """Return an answer, None if it is not there in time."""
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
            with suppress(BrokenPipeError):  # what was written is of no use any more
                pipe.close()
        self._child = None
