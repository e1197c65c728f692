"""What benchmarks share: side-by-side timing, real paragraphs, results that name their origin."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow.parquet as pq

RESULTS = Path(__file__).parent / "results"


def side_by_side(
    systems: dict[str, Callable[[], object]],
    *,
    rounds: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return each system's best seconds; rounds alternate, so that noise falls on all alike.

    Args:
        systems: what to run, by name.
        rounds: how often.
        clock: `time.process_time` counts only our own work, for systems of very different length:
            a short one may find a machine idle that a long one must share.
    """
    taken = by_round(systems, rounds=rounds, clock=clock)
    return {name: min(seconds) for name, seconds in taken.items()}


def by_round(
    systems: dict[str, Callable[[], object]],
    *,
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Return each system's seconds in every round; in a round the systems follow one another."""
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, run in systems.items():
            start = clock()
            run()
            seconds[name].append(clock() - start)
    return seconds


def times_faster(slow: list[float], fast: list[float]) -> float:
    """Return the median over rounds of how many times faster one system was than the other."""
    return round(median(one / other for one, other in zip(slow, fast, strict=True)), 2)


def wikilead_split(split: str) -> Path:
    """Return the Parquet file of a wikilead split, from HIERSUM_DATA or ../shared/data."""
    folders = [os.environ.get("HIERSUM_DATA", ""), Path(__file__).parents[2] / "shared" / "data"]
    for folder in filter(None, folders):
        path = Path(folder) / "wikilead" / f"{split}.parquet"
        if path.exists():
            return path
    sys.exit("error: wikilead not found; set HIERSUM_DATA to the folder that holds wikilead/")


def wikilead_articles(split: str) -> list[dict[str, Any]]:
    """Return the articles of a split as plain records."""
    records: list[dict[str, Any]] = pq.read_table(wikilead_split(split)).to_pylist()
    return records


def _without_folder(argument: str) -> str:
    """Return an argument as it may be published: of a path of this machine, its last part."""
    return Path(argument).name if Path(argument).is_absolute() else argument


def write_results(what: str, results: dict[str, Any]) -> Path:
    """Write results with command, commit, versions and machine to benchmarks/results, and print them."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=RESULTS
    ).stdout.strip()
    record = {
        "what": what,
        "date": date.today().isoformat(),
        "command": " ".join(["python", *map(_without_folder, sys.argv)]),
        "commit": commit,
        "python": platform.python_version(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        **results,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{what}_{os.cpu_count()}core-cpu_{record['date']}.json"
    path.write_text(json.dumps(record, indent=2) + "\n")
    print(json.dumps(results, indent=2))
    print(f"written to {path}", file=sys.stderr)
    return path
