"""Kill commands, fill their disk, forbid them to write: do they leave what they should?

Processes are forked from one that has imported everything, so that a kill costs little.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "HIERSUM_MODEL": "none", "TOKENIZERS_PARALLELISM": "false"}
REPOSITORY = Path(__file__).parents[1]
sys.path[:0] = [str(REPOSITORY / "tests"), str(REPOSITORY / "benchmarks")]

import torch  # noqa: E402
from judging import small_study  # noqa: E402
from made_up_web import made_up_wiki, write_dump, write_page_lines  # noqa: E402
from servers import make_model_folder  # noqa: E402

import hiersum.building.articles  # noqa: E402
import hiersum.cli.summarize_corpus  # noqa: E402
import hiersum.data.prepare  # noqa: E402
from hiersum.cli import main  # noqa: E402
from hiersum.humaneval.answers import Submission, open_study  # noqa: E402
from hiersum.humaneval.making import StudyPlan  # noqa: E402

EXAMPLES = REPOSITORY / "examples"
# Values that depend on the clock and not on the work.
TIMES = re.compile(r"seconds|_per_second|received|^time$|^date$|^elapsed")
# TensorBoard's files hold times throughout; pictures hold their date.
LEFT_OUT = re.compile(r"tfevents|\.svg$|\.png$|\.lock$|/tensorboard/")
RUNS = 8  # at least, so that many whole runs are compared


# Small parts, so that small data has many of them.
hiersum.building.articles.PART_ARTICLES = 2
hiersum.data.prepare.SHARD_CLUSTERS = 2
hiersum.cli.summarize_corpus.WINDOW = 6


@dataclass(frozen=True)
class Job:
    """A long command; {work} is its own folder, {made} what was made for all jobs."""

    line: str
    needs: str = ""
    """A command that is run before, once."""


SETS = "--set training.data={made}/prepared --set training.valid_data={made}/prepared"
BUILDS = {
    "build articles": "build articles {ex}/articles.jsonl --search 3 --out {work}/out",
    "build wikipedia": "build wikipedia --dump {made}/wiki/dump.xml.bz2 --pages {made}/wiki/0.jsonl "
    "--pages {made}/wiki/1.jsonl --pages {made}/wiki/2.jsonl --search 2 --out {work}/out",
    "prepare": "prepare {made}/clusters --model {made}/vocabulary --config {ex}/small.toml "
    "--out {work}/out",
    "summarize": "summarize --input {made}/many.jsonl --output {work}/out.jsonl --system lexrank",
}
JOBS = {
    **{name: Job(line) for name, line in BUILDS.items()},
    "summarize with a network": Job(
        "summarize --input {made}/few.jsonl --output {work}/out.jsonl --model {made}/model "
        "--set decoding.max_length=8 --max-words 10"
    ),
    "train": Job(
        f"train {{ex}}/small.toml --out {{work}}/out {SETS} --set model.width=32 "
        "--set training.steps=16 --set training.save_every=2 --set training.validate_every=8 "
        "--set training.max_rouge_examples=1"
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
    "reproduce": Job(
        "reproduce {ex}/experiment.toml --out {work}/out --workers 1 "
        "--set experiment.systems=['lead','ht'] --set experiment.million_tokens=0.006"
    ),
    **{f"{name}, two processes": Job(f"{line} --workers 2") for name, line in BUILDS.items()},
}  # fmt: skip
RAY_JOBS = {
    f"{name}, on Ray": Job(f"{line} --engine ray --workers 2 --ray-address {{ray}}")
    for name, line in BUILDS.items()
}


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
    for name, count in (("many", 120), ("few", 30)):
        with (made / f"{name}.jsonl").open("w") as file:
            for number in range(count):
                record = records[number % len(records)]
                file.write(json.dumps({**record, "id": f"c{number}"}) + "\n")
    (made / "wiki").mkdir()
    articles, pages = made_up_wiki(24)
    write_dump(made / "wiki" / "dump.xml.bz2", articles, per_stream=4)
    for number in range(3):
        write_page_lines(made / "wiki" / f"{number}.jsonl", pages[number::3])
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
        # Workers import the main module; the one that runs here would cost each of them seconds.
        sys.modules["__main__"] = ModuleType("__main__")
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
        data = re.sub(rb"\d+(?:\.\d+)? ?(?:s|min|h|seconds|minutes)\b( \| \d+(?= \|))?", b"T", data)
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
        self.ray = ""

    def line(self, job: Job, work: Path) -> str:
        """Return a job's command for a folder, after running what it needs."""
        names = {"ex": EXAMPLES, "made": self.made, "work": work, "ray": self.ray}
        if job.needs:
            subprocess.run(job.needs.format(**names).split(), check=True)
        return job.line.format(**names)

    def kill(self, job: Job, kills: int, seconds: float) -> dict[str, Any]:
        """Kill a command until so many kills are done, and compare what each run leaves."""
        # Every run has the same path, one after the other, since results may name it.
        work, log = self.root / "work", self.root / "log"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        taken = run_to_end(self.line(job, work))
        wanted = snapshot(work)
        counts = Counter(kills=0, runs=0, equal=0)
        differing: set[str] = set()
        stop = time.monotonic() + seconds
        while counts["kills"] < kills and time.monotonic() < stop:
            shutil.rmtree(work)
            work.mkdir()
            line = self.line(job, work)
            # A start goes on where the last one was killed, so moments fall anywhere in a run.
            # Most kills come soon, so that a run has many; some come late, so that it gets on.
            for _ in range(min(-(-kills // RUNS), kills - counts["kills"])):
                after = self.draw.random() * self.draw.uniform(0, 0.6 * taken)
                if not kill_after(start(command(line), log), after):
                    break
                counts["kills"] += 1
            run_to_end(line, log)
            counts["runs"] += 1
            found = snapshot(work)
            differ = {n for n in found.keys() | wanted.keys() if found.get(n) != wanted.get(n)}
            counts["equal"] += not differ
            differing |= differ
        return {**counts, "files": len(wanted), "differing": sorted(differing)[:9]}

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

    def fill(self, job: Job) -> dict[str, Any]:
        """Run a command on a full, then on a larger, and on a read-only file system."""
        work = self.root / "work"
        with mounted(work, "64m"):
            run_to_end(self.line(job, work))
            wanted = snapshot(work)
            used = _size(work)
        outcome: dict[str, Any] = {"refused": 0, "one line": 0}
        log = self.root / "log"
        with mounted(work, "64m"):
            line = self.line(job, work)
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
            line = self.line(job, work)
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


@contextmanager
def ray_cluster(torture: Torture) -> Iterator[None]:
    """Start Ray on this machine, for programs that are killed and started again."""
    import ray  # noqa: F401  # before processes are forked, so that each need not

    subprocess.run(
        ["ray", "start", "--head", "--port=6390", "--num-cpus=2", "--include-dashboard=false",
         "--object-store-memory=100000000", "--disable-usage-stats"],
        check=True, capture_output=True,
    )  # fmt: skip
    torture.ray = "127.0.0.1:6390"
    try:
        yield
    finally:
        subprocess.run(["ray", "stop"], check=False, capture_output=True)
