"""What a run costs: processor time of one thread, and peak memory from Linux's own books.

Processor time, because a machine that does other things too makes the clock useless, and two
threads wait for each other. Not `ru_maxrss` for memory: a child starts with its parent's peak.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def cpu_seconds(run: Callable[[], object]) -> float:
    """Return the processor time that a run takes."""
    start = time.process_time()
    run()
    return time.process_time() - start


def peak_growth(run: Callable[[], object]) -> float:
    """Return by how many megabytes the process grows at most while it runs something."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _megabytes("VmRSS")
    run()
    return _megabytes("VmHWM") - before


def _megabytes(entry: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    value = next(line for line in lines if line.startswith(f"{entry}:"))
    return int(value.split()[1]) / 1024
