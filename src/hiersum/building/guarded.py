"""The child of a guard: reads requests from stdin, answers on stdout, within a limit on memory.

The parent ends a child that takes too long. An alarm does so too, a little later, for children whose
parent was killed.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import struct
import sys
from typing import IO, Any

_HEAD = struct.Struct("<II")


def main() -> None:
    """Serve `module:function` until the parent closes the pipe."""
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
        signal.setitimer(signal.ITIMER_REAL, 2 * seconds + 1)  # its default action ends the process
        try:
            result: Any = work(facts, data)
        except MemoryError:
            result = {"dropped": "took too much memory"}
        except RecursionError:
            result = {"dropped": "nested too deeply"}
        except Exception as error:  # whatever arbitrary bytes make of a parser
            result = {"dropped": f"could not be read ({type(error).__name__})"}
        _answer(answers, result)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _answer(answers: IO[bytes], result: Any) -> None:
    data = json.dumps(result).encode()
    answers.write(_HEAD.pack(len(data), 0) + data)
    answers.flush()


if __name__ == "__main__":
    main()
