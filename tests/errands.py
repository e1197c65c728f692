"""Work for worker processes, in a module that they find by its name."""

from __future__ import annotations

import os
import signal
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
