"""Kill, fill the disk, lie and flood: is anything lost, doubled or broken?

    python benchmarks/torture.py [--kills N] [--inputs N] [--minutes N] [--only PART ...] [--dry]

**kill**: each long command runs on small data in a process that is killed (SIGKILL, with its workers)
at random moments and started again, until it has finished; what it then left must equal, file by
file and byte by byte but for times, what a run that was never killed leaves. Judges' answers are sent
by a process that is killed: every answer that was acknowledged must be there, once. **ray**: the same
for the commands that run on Ray; the program is killed, its cluster lives on (only if asked for).
**disk**: the same commands on a file system that is full, then made larger (as root, by mounting a
small tmpfs), and on one that is read-only: exit code 2, one line, and a later run ends as if nothing
had happened. **hostile**: damaged and odd inputs for every reader (tests/hostile.py); an input that
takes 10 s of processor time is a hang, one that takes more memory than 20 times its size, and than
what any input may take, is greedy.

Every part stops when its share of `--minutes` of wall time is over; the results say how much was
really done.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from faults import JOBS, RAY_JOBS, Torture, prepare_data, ray_cluster, start, wait
from hostile import TARGETS, attack, size_of
from measure import write_results
from tables import latest

HANGS_AFTER = 10.0  # seconds of this process
GREED = 20  # times the size of an input
FREE_BYTES = 16_000_000  # what an input may take however small it is
ENDS = ("read", "refused", "bugs", "hangs")
PARTS = ("kill", "disk", "hostile")


class HangError(BaseException):
    """An input took too long; no `except Exception` may hide that."""


def hang(number: int, frame: FrameType | None) -> None:
    """End an input that takes too long."""
    raise HangError


def memory(field: str) -> int:
    """Return bytes of this process: `VmRSS` now, `RssFile` of these of files, `VmHWM` at most since
    `forget_peak`.
    """
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split(f"{field}:")[1].split()[0])


def forget_peak() -> None:
    """Count the most memory of this process from here."""
    Path("/proc/self/clear_refs").write_text("5")


def hostile(name: str, seeds: range, folder: Path, seconds: float) -> dict[str, Any]:
    """Read the hostile inputs of some seeds; count how they ended."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, hang)
    counts, slowest, most = Counter(dict.fromkeys((*ENDS, "greedy"), 0)), 0.0, 0
    for seed in range(40):  # imports and files that are made once do not count
        with suppress(Exception):
            attack(TARGETS[name], TARGETS[name].make(random.Random(-1 - seed)), folder)
    found: list[str] = []
    stop = time.monotonic() + seconds
    for seed in seeds:
        made = TARGETS[name].make(random.Random(seed))
        started, modules = time.process_time(), len(sys.modules)
        before, files = memory("VmRSS"), memory("RssFile")
        forget_peak()
        try:
            signal.setitimer(signal.ITIMER_PROF, HANGS_AFTER)
            counts[attack(TARGETS[name], made, folder)] += 1
        except HangError:
            counts["hangs"] += 1
            found.append(f"seed {seed} hangs")
        except Exception as error:
            counts["bugs"] += 1
            found.append(f"seed {seed}: {type(error).__name__}: {error}"[:200])
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        # What was imported for the first time stays, and is no fault of the input. Nor are the pages
        # of libraries that a machine short of memory had dropped, and now reads again.
        taken = memory("VmHWM") - before - max(0, memory("RssFile") - files)
        taken = taken if len(sys.modules) == modules else 0
        most = max(most, taken)
        if taken > max(FREE_BYTES, GREED * size_of(made)):
            counts["greedy"] += 1
            found.append(f"seed {seed}: {taken} bytes for {size_of(made)}")
        slowest = max(slowest, time.process_time() - started)
        if time.monotonic() > stop:
            break
    return {
        **counts,
        "slowest_processor_seconds": round(slowest, 2),
        "most_megabytes": round(most / 1e6, 1),
        "which": found[:9],
    }


def in_child(work: Callable[[], dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Return what work finds in a process of its own, which may crash."""
    target = folder / "found.json"
    target.unlink(missing_ok=True)
    code = wait(start(lambda: target.write_text(json.dumps(work())), folder / "log"))
    if code or not target.exists():
        return {"crashed": code, "log": (folder / "log").read_text()[-500:]}
    found: dict[str, Any] = json.loads(target.read_text())
    return found


def _spent() -> float:
    """Return the processor seconds of this process and its children so far."""
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def parse_arguments() -> argparse.Namespace:
    """Return the options."""
    names = ["judges", *JOBS, *RAY_JOBS]
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100, help="kills of each command")
    parser.add_argument("--inputs", type=int, default=9_000, help="hostile inputs for each reader")
    parser.add_argument("--minutes", type=float, default=60, help="wall time at most, about")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--go-on",
        action="store_true",
        help="add to the last run's results what they lack",
    )
    parser.add_argument("--dry", action="store_true", help="print the counts, write no results")
    parser.add_argument("--only", nargs="*", default=PARTS, choices=[*PARTS, "ray"])
    parser.add_argument("--jobs", nargs="*", default=names, choices=names)
    parser.add_argument("--readers", nargs="*", default=[*TARGETS], choices=[*TARGETS])
    return parser.parse_args()


Attempt = Callable[[float], dict[str, Any]]


def attempts(
    part: str, torture: Torture, asked: argparse.Namespace, earlier: dict[str, Any]
) -> dict[str, Attempt]:
    """Return what a part tries, by name; each is called with the seconds it may take."""
    if part == "hostile":
        folder = torture.root / "inputs"
        folder.mkdir()

        def read(name: str, seconds: float) -> dict[str, Any]:
            seeds = range(inputs_of(earlier.get(name, {})), asked.inputs)
            return in_child(lambda: hostile(name, seeds, folder, seconds), torture.root)

        return {name: partial(read, name) for name in asked.readers}
    jobs = RAY_JOBS if part == "ray" else JOBS
    jobs = {name: job for name, job in jobs.items() if name in asked.jobs}
    if part == "disk":
        # Many processes write as one does, and only root can mount what is full.
        jobs = {name: job for name, job in jobs.items() if "processes" not in name}
        return {
            name: lambda _, job=job: torture.fill(job)
            for name, job in jobs.items()
            if os.geteuid() == 0
        }
    found: dict[str, Attempt] = {}
    lacking = {name: asked.kills - earlier.get(name, {}).get("kills", 0) for name in asked.jobs}
    if part == "kill" and "judges" in asked.jobs:
        found["judges"] = lambda seconds: torture.kill_judges(lacking["judges"], seconds)
    for name, job in jobs.items():
        found[name] = lambda seconds, job=job, n=lacking[name]: torture.kill(job, n, seconds)
    return found


def inputs_of(found: dict[str, Any]) -> int:
    """Return the number of hostile inputs of a result."""
    return sum(found.get(end, 0) for end in ENDS)


def to_keep(found: dict[str, Any]) -> bool:
    """Return whether an earlier result is gone on with; what found a fault is done again."""
    if "kills" in found:
        return True
    return inputs_of(found) > 0 and not any(found[end] for end in ("bugs", "hangs", "greedy"))


def done(found: dict[str, Any], asked: argparse.Namespace) -> bool:
    """Return whether a result has as many kills or inputs as were asked for."""
    if "kills" in found:
        return bool(found["kills"] >= asked.kills)
    return inputs_of(found) >= asked.inputs


def joined(earlier: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Return what an earlier run and this one found together."""
    if not earlier or "crashed" in found:
        return found
    alone = {"files"} | {key for key in found if key.startswith(("most", "slowest"))}
    sums = {key: earlier[key] + found[key] for key in found if key not in alone}
    return {**found, **sums, **{key: max(earlier[key], found[key]) for key in alone & found.keys()}}


def run(part: str, torture: Torture, asked: argparse.Namespace, seconds: float) -> dict[str, Any]:
    """Run a part; whoever needs less than its share of the time leaves the rest to others."""
    stop = time.monotonic() + seconds
    results: dict[str, Any] = latest(f"torture_{part}").get(part, {}) if asked.go_on else {}
    earlier = {name: found for name, found in results.items() if to_keep(found)}
    left = {
        name: attempt
        for name, attempt in attempts(part, torture, asked, earlier).items()
        if not done(earlier.get(name, {}), asked)
    }
    while left:
        name = next(iter(left))
        share = (stop - time.monotonic()) / len(left)
        results[name] = joined(earlier.get(name, {}), left.pop(name)(share))
        print(part, name, results[name], file=sys.stderr, flush=True)
        if not asked.dry:
            found = {"processor_seconds": round(_spent()), part: results}
            write_results(f"torture_{part}", found)
    return results


def main() -> None:
    """Run the parts that were asked for."""
    asked = parse_arguments()
    stop = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory(prefix="torture-", ignore_cleanup_errors=True) as root:
        torture = Torture(Path(root), asked.seed)
        if {"kill", "disk", "ray"} & {*asked.only}:
            prepare_data(torture.made)
        for number, part in enumerate(asked.only):
            share = (stop - time.monotonic()) / (len(asked.only) - number)
            with ray_cluster(torture) if part == "ray" else nullcontext():
                results = run(part, torture, asked, share)
            if asked.dry:
                print(json.dumps(results))


if __name__ == "__main__":
    main()
