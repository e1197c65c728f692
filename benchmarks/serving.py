"""Throughput of `hiersum serve`: requests written in batches against one at a time.

    python benchmarks/serving.py MODEL_FOLDER [--requests N] [--rounds N]

Two servers on the loopback address, alike but for `serving.max_batch`, take turns: in every round each is
sent the same requests by as many clients, so that all of them wait at once. Reported are processor time
and wall time of a request, the ratio of the two servers by round, and whether both gave the same answers.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import psutil
from measure import times_faster, wikilead_articles, write_results

MAX_WORDS = 40
SETTINGS = ("decoding.max_length=64", "serving.max_queue=256")
MAX_BATCH = {"batched": 32, "one at a time": 1}


def start(folder: Path, max_batch: int) -> tuple[subprocess.Popen[str], str]:
    settings = (*SETTINGS, f"serving.max_batch={max_batch}")
    options = [argument for setting in settings for argument in ("--set", setting)]
    process = subprocess.Popen(
        [sys.executable, "-m", "hiersum", "serve", "--port", "0", "--model", str(folder), *options],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = next(line for line in process.stderr if " at http" in line)
    return process, line.split(" at ")[1].strip()


def bodies(number: int) -> list[dict[str, Any]]:
    """Articles of many lengths as clusters of one document."""
    articles = [a for a in wikilead_articles("test") if len(a["paragraphs"]) >= 3]
    chosen = articles[:: len(articles) // number][:number]
    return [
        {
            "id": article["id"],
            "title": article["title"],
            "documents": [{"paragraphs": article["paragraphs"]}],
            "max_words": MAX_WORDS,
        }
        for article in chosen
    ]


async def ask_all(url: str, requests: list[dict[str, Any]]) -> list[str]:
    limits = httpx.Limits(max_connections=len(requests))
    async with httpx.AsyncClient(
        base_url=url, timeout=None, trust_env=False, limits=limits
    ) as client:
        answers = await asyncio.gather(*(client.post("/v1/summarize", json=r) for r in requests))
    assert all(answer.status_code == 200 for answer in answers)
    assert [answer.json()["id"] for answer in answers] == [request["id"] for request in requests]
    return [answer.json()["summary"] for answer in answers]


parser = argparse.ArgumentParser()
parser.add_argument("folder", type=Path)
parser.add_argument("--requests", type=int, default=48)
parser.add_argument("--rounds", type=int, default=3)
arguments = parser.parse_args()
requests = bodies(arguments.requests)
servers: dict[str, tuple[subprocess.Popen[str], str]] = {}
processor: dict[str, list[float]] = {name: [] for name in MAX_BATCH}
wall: dict[str, list[float]] = {name: [] for name in MAX_BATCH}
summaries: dict[str, list[str]] = {}
try:
    for name, size in MAX_BATCH.items():
        servers[name] = start(arguments.folder, size)
    for number in range(arguments.rounds + 1):
        for name, (process, url) in servers.items():
            asked = requests if number else requests[:2]  # the first round only warms up
            before, clock = psutil.Process(process.pid).cpu_times(), time.perf_counter()
            summaries[name] = asyncio.run(ask_all(url, asked))
            after = psutil.Process(process.pid).cpu_times()
            if number:
                used = after.user + after.system - before.user - before.system
                processor[name].append(used / len(asked))
                wall[name].append((time.perf_counter() - clock) / len(asked))
finally:
    for process, _ in servers.values():
        process.terminate()
        process.wait()
same = [one == other for one, other in zip(*summaries.values())]
write_results(
    "serving",
    {
        "model": arguments.folder.name,
        "requests": len(requests),
        "clients": len(requests),
        "rounds": arguments.rounds,
        "max_words": MAX_WORDS,
        "processor_seconds_per_request": {n: round(median(s), 3) for n, s in processor.items()},
        "wall_seconds_per_request": {n: round(median(s), 3) for n, s in wall.items()},
        "times_less_processor_time": times_faster(processor["one at a time"], processor["batched"]),
        "times_more_requests_per_second": times_faster(wall["one at a time"], wall["batched"]),
        "same_summaries": f"{sum(same)} of {len(same)}",
    },
)
