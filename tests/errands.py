"""Work for worker processes, in a module that they find by its name."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

from hiersum.errors import DataError


def square(number: int) -> int:
    return number * number


def refuse_three(number: int) -> int:
    if number == 3:
        raise DataError("clusters.jsonl:3: is a three")
    return number


def die_at_two(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def say_and_sleep(number: int, folder: Path) -> None:
    (folder / str(os.getpid())).touch()
    signal.pause()


def do_as_told(facts: dict[str, str], data: bytes) -> dict[str, object]:
    """Work for a guard: well-behaved or poisonous, as it is told."""
    match facts["deed"]:
        case "echo":
            return {"length": len(data)}
        case "print":
            print("not an answer")  # noqa: T201
            return {"done": True}
        case "hang":
            # In C, holding the interpreter: no signal handler of Python's could stop it.
            re.match(r"(a|aa)+$", "a" * 60 + "b")
        case "eat":
            return {"length": len(b"x" * 10**10)}
        case "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "dig":
            return do_as_told(facts, data)
    raise KeyError(facts["deed"])


def die_once(number: int, folder: Path) -> int:
    """Kill the process at the number two, but only the first time."""
    if number == 2 and not (folder / "died").exists():
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def slow_square(number: int) -> int:
    time.sleep(0.2)
    return number * number
