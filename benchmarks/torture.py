"""Kill, fill the disk, lie and flood: is anything lost, doubled or broken?

    python benchmarks/torture.py [--kills N] [--inputs N] [--minutes N] [--only PART ...] [--dry]

**kill**: each long command runs on the example data in a process that is killed (SIGKILL, with its
workers) at random moments and started again, until it has finished; what it then left must equal,
file by file and byte by byte but for times, what a run that was never killed leaves. Judges' answers
are sent by a process that is killed: every answer that was acknowledged must be there, once.
**disk**: the same commands on a file system that is full, then made larger (as root, by mounting a
small tmpfs), and on one that is read-only: exit code 2, one line, and a later run ends as if nothing
had happened. **hostile**: damaged and odd inputs for every reader (tests/hostile.py).

Processes are forked from one that has imported everything, so that a kill costs little. Every part
stops when its share of `--minutes` of wall time is over; the results say how much was really done.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "HIERSUM_MODEL": "none", "TOKENIZERS_PARALLELISM": "false"}
REPOSITORY = Path(__file__).parents[1]
sys.path[:0] = [str(REPOSITORY / "tests"), str(REPOSITORY / "benchmarks")]

import torch  # noqa: E402
from hostile import TARGETS, attack  # noqa: E402
from judging import small_study  # noqa: E402
from measure import write_results  # noqa: E402
from servers import make_model_folder  # noqa: E402

from hiersum.cli import main  # noqa: E402
from hiersum.humaneval.answers import Submission, open_study  # noqa: E402
from hiersum.humaneval.making import StudyPlan  # noqa: E402

EXAMPLES = REPOSITORY / "examples"
# Values that depend on the clock and not on the work.
TIMES = re.compile(r"seconds|_per_second|received|^time$|^date$|^elapsed")
# TensorBoard's files hold times throughout; pictures hold their date.
LEFT_OUT = re.compile(r"tfevents|\.svg$|\.png$|\.lock$|/tensorboard/")
MAX_STARTS = 400


@dataclass(frozen=True)
class Job:
    """A long command; {work} is its own folder, {made} what was made for all jobs."""

    line: str
    needs: str = ""
    """A command that is run before, once."""


JOBS = {
    "build articles": Job("build articles {ex}/articles.jsonl --search 3 --workers 2 --out {work}/out"),
    "build wikipedia": Job(
        "build wikipedia --dump {ex}/wikipedia/dump.xml --pages {ex}/wikipedia/pages.jsonl "
        "--search 2 --workers 2 --out {work}/out"
    ),
    "prepare": Job(
        "prepare {made}/clusters --model {made}/vocabulary --out {work}/out --workers 2 "
        "--config {ex}/small.toml"
    ),
    "train": Job(
        "train {ex}/small.toml --out {work}/out --set training.data={made}/prepared "
        "--set training.valid_data={made}/prepared --set training.steps=40 --set training.save_every=4 "
        "--set training.validate_every=16"
    ),
    "train-ranker": Job(
        "train-ranker {ex}/articles.jsonl --model {work}/model --out {work}/out "
        "--set ranker_training.width=16 --set ranker_training.epochs=6",
        needs="cp -r {made}/vocabulary {work}/model",
    ),
    "finetune": Job(
        "finetune {made}/targets.jsonl --model {made}/model --out {work}/out --epochs 2 --workers 1 "
        "--set training.save_every=2 --set training.steps=12 --set data.max_input_paragraphs=6"
    ),
    "summarize": Job(
        "summarize --input {made}/many.jsonl --output {work}/out.jsonl --system lexrank"
    ),
    "summarize with a network": Job(
        "summarize --input {made}/many.jsonl --output {work}/out.jsonl --model {made}/model "
        "--set decoding.max_length=16 --max-words 20"
    ),
    "summarize in processes": Job(
        "summarize --input {made}/many.jsonl --output {work}/out.jsonl --system lexrank --workers 2"
    ),
    "reproduce": Job(
        "reproduce {ex}/experiment.toml --out {work}/out --workers 1 "
        "--set experiment.systems=['lead','ht','ft-600'] --set experiment.million_tokens=0.004"
    ),
}  # fmt: skip


def prepare_data(made: Path) -> None:
    """Make once what several jobs start from."""
    run_to_end(f"build articles {EXAMPLES}/articles.jsonl --search 3 --out {made}/clusters")
    run_to_end(f"tokenizer train {made}/clusters --size 250 --out {made}/vocabulary")
    run_to_end(
        f"prepare {made}/clusters --model {made}/vocabulary --out {made}/prepared "
        f"--config {EXAMPLES}/small.toml"
    )
    scratch = made / "scratch"
    scratch.mkdir()
    make_model_folder(scratch).rename(made / "model")
    records = [json.loads(line) for line in (EXAMPLES / "clusters.jsonl").open()]
    with (made / "many.jsonl").open("w") as file:
        for number in range(120):
            record = records[number % len(records)]
            file.write(json.dumps({**record, "id": f"c{number}"}) + "\n")
    with (made / "targets.jsonl").open("w") as file:
        for number in range(24):
            record = {**records[number % len(records)], "id": f"t{number}"}
            record["summary"] = (
                record.get("summary") or f"The bridge number {number} is open again."
            )
            file.write(json.dumps(record) + "\n")


def start(work: Callable[[], object], log: Path) -> int:
    """Run work in a forked process of its own group; return its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setsid()
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        work()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(code)


def command(line: str) -> Callable[[], object]:
    """Return work that runs a hiersum command in the repository."""

    def work() -> None:
        os.chdir(REPOSITORY)
        torch.set_num_threads(1)
        sys.argv = ["hiersum", *line.split()]
        main()

    return work


def wait(child: int) -> int:
    """Return the exit code of a process; negative if a signal ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_after(child: int, seconds: float) -> bool:
    """Kill a process and its workers after a while; return whether it still ran."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, _ = os.waitpid(child, os.WNOHANG)
        if done:
            return False
        time.sleep(0.002)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:  # so young that it has no group, and no workers
        os.kill(child, signal.SIGKILL)
    return wait(child) < 0


def run_to_end(line: str, log: Path | None = None) -> float:
    """Run a command that must succeed; return its seconds."""
    log = log or Path(tempfile.gettempdir()) / f"torture-{os.getpid()}.log"
    started = time.monotonic()
    code = wait(start(command(line), log))
    if code:
        sys.exit(f"error: {line}: exit code {code}: {log.read_text()[-2000:]}")
    return time.monotonic() - started


def snapshot(folder: Path) -> dict[str, str]:
    """Return a checksum of every file below a folder, without times."""
    found = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = str(path.relative_to(folder))
        if not LEFT_OUT.search(f"/{name}"):
            found[name] = hashlib.sha256(content(path, folder)).hexdigest()
    return found


def content(path: Path, folder: Path) -> bytes:
    """Return the bytes of a file; of JSON, without times and the name of the folder."""
    data = path.read_bytes()
    if path.suffix in (".json", ".jsonl", ".partial"):
        lines = data.splitlines() if path.suffix != ".json" else [data]
        records = [_timeless(json.loads(line)) for line in lines if line.strip()]
        data = json.dumps(records).encode()
    elif path.suffix == ".md":  # reports tell how long stages took
        data = re.sub(rb"\d+(?:\.\d+)? ?(?:s|min|h|seconds|minutes)\b", b"T", data)
    return data.replace(str(folder).encode(), b"WORK")


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: 0 if TIMES.search(key) else _timeless(inner) for key, inner in value.items()}
    return [_timeless(inner) for inner in value] if isinstance(value, list) else value


class Torture:
    """The campaign: where it works, its random choices and its time."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.made = root / "made"
        self.made.mkdir()
        self.draw = random.Random(seed)

    def line(self, job: Job, work: Path) -> str:
        """Return a job's command for a folder, after running what it needs."""
        names = {"ex": EXAMPLES, "made": self.made, "work": work}
        if job.needs:
            subprocess.run(job.needs.format(**names).split(), check=True)
        return job.line.format(**names)

    def kill(self, name: str, kills: int, seconds: float) -> dict[str, Any]:
        """Kill a command until so many kills are done, and compare what each run leaves."""
        # Every run has the same path, one after the other, since results may name it.
        work = self.root / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        taken = run_to_end(self.line(JOBS[name], work))
        wanted = snapshot(work)
        counts = Counter(kills=0, runs=0, equal=0)
        differing: list[str] = []
        stop = time.monotonic() + seconds
        while counts["kills"] < kills and time.monotonic() < stop:
            shutil.rmtree(work)
            work.mkdir()
            line, log = self.line(JOBS[name], work), self.root / "log"
            # Killed on average a few times a run, at moments that fall anywhere in it.
            for _ in range(MAX_STARTS):
                child = start(command(line), log)
                if not kill_after(child, self.draw.uniform(0, 0.9 * taken)):
                    break
                counts["kills"] += 1
                if counts["kills"] >= kills or time.monotonic() > stop:
                    break
            run_to_end(line, log)
            counts["runs"] += 1
            found = snapshot(work)
            differ = sorted(
                {n for n in found.keys() | wanted.keys() if found.get(n) != wanted.get(n)}
            )
            counts["equal"] += not differ
            differing += differ
        return {**counts, "files": len(wanted), "differing": sorted(set(differing))[:9]}

    def kill_judges(self, kills: int, seconds: float) -> dict[str, Any]:
        """Kill a process that stores answers; every acknowledged one must be there, once."""
        folder = self.root / "study"
        small_study(folder, StudyPlan(items=8, responses=3))
        acknowledged = self.root / "acknowledged"
        acknowledged.touch()
        study, _, _ = open_study(folder)
        counts = Counter(kills=0)
        stop = time.monotonic() + seconds

        def send() -> None:
            own, _, store = open_study(folder)
            number = int(time.monotonic_ns() // 1_000)
            with acknowledged.open("ab", buffering=0) as file:
                for task in own.tasks * 50:
                    number += 1
                    answers = {"best": "A", "worst": "B"} if task.kind == "rating" else {}
                    sent = Submission(task.judge, task.id, "s" * 8, number, answers, 1.0)
                    store.save(sent)
                    file.write(f"{task.judge} {task.id} {number}\n".encode())

        while counts["kills"] < kills and time.monotonic() < stop:
            child = start(send, self.root / "log")
            counts["kills"] += kill_after(child, self.draw.uniform(0.01, 0.4))
        import sqlite3

        with sqlite3.connect(folder / "answers.sqlite") as connection:
            rows = connection.execute("SELECT judge, task, sequence FROM submissions").fetchall()
        stored = Counter(f"{judge} {task} {number}" for judge, task, number in rows)
        known = acknowledged.read_text().splitlines()
        return {
            **counts,
            "acknowledged": len(known),
            "lost": sum(line not in stored for line in known),
            "doubled": sum(number > 1 for number in stored.values()),
        }

    def fill(self, name: str) -> dict[str, Any]:
        """Run a command on a full, then on a larger, and on a read-only file system."""
        work = self.root / "work"
        with mounted(work, "64m"):
            run_to_end(self.line(JOBS[name], work))
            wanted = snapshot(work)
            used = _size(work)
        outcome: dict[str, Any] = {"refused": 0, "one line": 0}
        log = self.root / "log"
        with mounted(work, "64m"):
            line = self.line(JOBS[name], work)
            before = _size(work)
            for share in (0.05, 0.3, 0.7):
                # Sizes are whole pages; what is there already must fit.
                now = max(_size(work), before + int(share * (used - before)))
                subprocess.run(
                    ["mount", "-o", f"remount,size={4 * (now // 4096 + 3)}k", work], check=False
                )
                code = wait(start(command(line), log))
                outcome["refused"] += code == 2
                outcome["one line"] += _errors(log) == (1 if code else 0)
                if code not in (0, 2):
                    outcome.setdefault("failed", []).append(log.read_text()[-500:])
            subprocess.run(["mount", "-o", "remount,size=64m", str(work)], check=True)
            run_to_end(line, log)
            outcome["equal after"] = snapshot(work) == wanted
        with mounted(work, "64m"):
            line = self.line(JOBS[name], work)
            subprocess.run(["mount", "-o", "remount,ro", str(work)], check=True)
            outcome["read-only"] = wait(start(command(line), log)) == 2 and _errors(log) == 1
            if not outcome["read-only"]:
                outcome.setdefault("failed", []).append(log.read_text()[-500:])
        return outcome


def _size(folder: Path) -> int:
    return sum(-(-p.stat().st_size // 4096) * 4096 for p in folder.rglob("*") if p.is_file())


def _errors(log: Path) -> int:
    text = log.read_text()
    return -1 if "Traceback" in text else len(re.findall(r"^error: ", text, re.M))


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[None]:
    """Mount a tmpfs of this size."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def hostile(name: str, number: int, folder: Path, seconds: float) -> dict[str, Any]:
    """Read hostile inputs; count how they ended."""
    import logging
    import warnings

    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    counts, slowest = Counter(read=0, refused=0, bugs=0), 0.0
    for seed in range(10):  # imports and files that are made once do not count
        with suppress(Exception):
            attack(TARGETS[name], random.Random(-1 - seed), folder)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bugs: list[str] = []
    stop = time.monotonic() + seconds
    for seed in range(number):
        started = time.process_time()
        try:
            counts[attack(TARGETS[name], random.Random(seed), folder)] += 1
        except Exception as error:
            counts["bugs"] += 1
            bugs.append(f"seed {seed}: {type(error).__name__}: {error}"[:200])
        slowest = max(slowest, time.process_time() - started)
        if time.monotonic() > stop:
            break
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1_000
    return {
        **counts,
        "slowest_processor_seconds": round(slowest, 2),
        "grown_megabytes": round(grown),
        "which": bugs[:5],
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
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100, help="kills of each command")
    parser.add_argument("--inputs", type=int, default=9_000, help="hostile inputs for each reader")
    parser.add_argument("--minutes", type=float, default=60, help="wall time at most, about")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dry", action="store_true", help="print the counts, write no results")
    parser.add_argument("--only", nargs="*", default=["kill", "disk", "hostile"])
    parser.add_argument("--jobs", nargs="*", default=[*JOBS, "judges"], choices=[*JOBS, "judges"])
    return parser.parse_args()


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Run the parts that were asked for."""
    results: dict[str, Any] = {}
    share = 60 * options.minutes / len(options.only)
    jobs = [name for name in options.jobs if name in JOBS]
    with tempfile.TemporaryDirectory(prefix="torture-", ignore_cleanup_errors=True) as root:
        torture = Torture(Path(root), options.seed)
        if {"kill", "disk"} & {*options.only}:
            prepare_data(torture.made)
        for part in options.only:
            found = results[part] = {}
            if part == "kill":
                if "judges" in options.jobs:
                    found["judges"] = torture.kill_judges(options.kills, share / len(options.jobs))
                    print(part, "judges", found["judges"], file=sys.stderr, flush=True)
                for name in jobs:
                    found[name] = torture.kill(name, options.kills, share / len(options.jobs))
                    print(part, name, found[name], file=sys.stderr, flush=True)
            elif part == "disk":
                for name in jobs if os.geteuid() == 0 else ():
                    found[name] = torture.fill(name)
                    print(part, name, found[name], file=sys.stderr, flush=True)
            else:
                for name in TARGETS:
                    folder = Path(root) / "inputs"
                    folder.mkdir(exist_ok=True)
                    found[name] = in_child(
                        lambda name=name, at=folder: hostile(
                            name, options.inputs, at, share / len(TARGETS)
                        ),
                        Path(root),
                    )
                    print(part, name, found[name], file=sys.stderr, flush=True)
    return results


if __name__ == "__main__":
    asked = parse_arguments()
    for what, found in run(asked).items():
        if asked.dry:
            print(json.dumps(found))
        else:
            write_results(f"torture_{what}", {"processor_seconds": round(_spent()), what: found})
