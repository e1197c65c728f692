"""Half an hour of a busy server: is everyone answered, with their own summary, in flat memory?

    python benchmarks/soak.py [--minutes N] [--requests N] [--every N] [--burst N] [--clients N] [--dry]

Starts `hiersum serve` with the bundled model and a short queue. First the **burst**: so many requests
of the bundled writer, sent by all clients at once. Then the **soak**: requests spread over the
minutes, every Nth for the bundled writer and the others for LexRank, one in forty cancelled by its
client; some clients send half a request and fall silent. At the end the server is asked to stop
while all clients wait for answers. Every request is about a place of its own, so that an answer that
belongs to somebody else shows; every fortieth LexRank answer is held to the summarizer's own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import psutil
from measure import write_results

from hiersum import Summarizer
from hiersum.data.records import cluster_from_record

PATIENCE = 900.0
QUEUE = 48
DEEDS = ["reopened", "was sold", "was painted", "was flooded", "was moved", "is closed"]


def request(number: int, every: int) -> dict[str, Any]:
    """Return a request about a place that no other is about; sizes differ."""
    draw = random.Random(number)
    place = f"Mill{number}"
    system = "ht" if number % every == 0 else "lexrank"
    documents = [
        " ".join(
            f"{place} {draw.choice(DEEDS)} in {draw.randint(1900, 2020)}, said {draw.randint(2, 90)} "
            f"people of {place}."
            for _ in range(1 if system == "ht" else draw.randint(1, 6))
        )
        for _ in range(draw.randint(1, 2 if system == "ht" else 9))
    ]
    return {
        "id": str(number),
        "title": place,
        "documents": documents,
        "system": system,
        "max_words": 12,
    }


class Soak:
    """A server and what its clients have seen."""

    def __init__(self, url: str, server: psutil.Process) -> None:
        self.url = url
        self.server = server
        self.counts: Counter[str] = Counter()
        self.seconds: dict[str, list[float]] = {"ht": [], "lexrank": []}
        self.wrong: list[str] = []
        self.memory: list[dict[str, float]] = []
        self.own = Summarizer.from_pretrained()

    async def send(self, client: httpx.AsyncClient, body: dict[str, Any]) -> None:
        """Send a request until it is accepted; look at the answer."""
        number = int(body["id"])
        impatient = number % 40 == 7
        while True:
            started = time.monotonic()
            try:
                timeout = random.uniform(0.001, 0.05) if impatient else PATIENCE
                answer = await client.post("/v1/summarize", json=body, timeout=timeout)
            except httpx.TimeoutException:
                self.counts["cancelled" if impatient else "timed out"] += 1
                return
            if answer.status_code != 429:
                break
            self.counts["429"] += 1
            if "retry-after" not in answer.headers:
                self.wrong.append(f"{number}: 429 without Retry-After")
            await asyncio.sleep(random.uniform(1, 2) * int(answer.headers.get("retry-after", 1)))
        self.counts[f"{body['system']} {answer.status_code}"] += 1
        self.seconds[body["system"]].append(time.monotonic() - started)
        if answer.status_code != 200 or not self._is_own(body, answer.json()):
            self.wrong.append(f"{number}: {answer.status_code} {answer.text[:200]}")

    def _is_own(self, body: dict[str, Any], found: dict[str, Any]) -> bool:
        if found["id"] != body["id"] or body["title"] not in found["summary"]:
            return False
        if body["system"] == "lexrank" and int(body["id"]) % 40 == 1:
            fields = {name: body[name] for name in ("id", "title", "documents")}
            cluster = cluster_from_record(fields, "soak")
            options = {name: body[name] for name in ("system", "max_words")}
            wanted = self.own.summarize_cluster(cluster, **options).to_record()
            self.counts["held to the summarizer's own"] += 1
            return {**wanted, "seconds": 0} == {**found, "seconds": 0}
        return True

    async def run(self, bodies: Iterator[dict[str, Any]], clients: int, pause: float) -> None:
        """Send requests from many clients, one every so many seconds at most."""
        begun = time.monotonic()
        numbered = enumerate(bodies)

        async def work(client: httpx.AsyncClient) -> None:
            for number, body in numbered:
                await asyncio.sleep(max(0.0, begun + number * pause - time.monotonic()))
                await self.send(client, body)

        limits = httpx.Limits(max_connections=clients)
        async with httpx.AsyncClient(base_url=self.url, trust_env=False, limits=limits) as client:
            await asyncio.gather(*(work(client) for _ in range(clients)))

    async def accepted(self) -> int:
        """Return how many requests the server has accepted so far."""
        async with httpx.AsyncClient(base_url=self.url, trust_env=False, timeout=60) as client:
            lines = (await client.get("/metrics")).text.splitlines()
        # Those that began, and those that wait.
        names = ("hiersum_queue_seconds_count ", "hiersum_queue_requests ")
        return round(sum(float(line.split()[-1]) for line in lines if line.startswith(names)))

    async def watch(self) -> None:
        """Note the server's memory every half minute."""
        begun = time.monotonic()
        while True:
            self.memory.append(
                {
                    "minute": round((time.monotonic() - begun) / 60, 1),
                    "answers": sum(len(seconds) for seconds in self.seconds.values()),
                    "megabytes": round(self.server.memory_info().rss / 1e6),
                }
            )
            print(self.memory[-1], dict(self.counts), self.wrong[:3], file=sys.stderr, flush=True)
            await asyncio.sleep(30)

    async def fall_silent(self) -> None:
        """Send half a request and wait; count whether the server ends that."""
        host, port = self.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(
            b"POST /v1/summarize HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        )
        writer.write(b'Content-Length: 99\r\n\r\n{"tit')
        try:
            answer = await asyncio.wait_for(reader.read(), 300)
            self.counts[f"silent, ended with {answer[9:12].decode() or 'nothing'}"] += 1
        except TimeoutError:
            self.counts["silent, kept"] += 1
        writer.close()


def start_server() -> tuple[subprocess.Popen[str], str]:
    """Start a server with the bundled model; return it with its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hiersum", "serve", "--port", "0", "--max-queue", str(QUEUE)],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert process.stderr is not None
    line = next(line for line in process.stderr if " at http" in line)
    return process, line.split(" at ")[1].strip()


async def campaign(soak: Soak, asked: argparse.Namespace) -> dict[str, Any]:
    """Run burst, soak and stop; return what was found."""
    watching = asyncio.create_task(soak.watch())
    begun = time.monotonic()
    burst = (request(asked.every * number, asked.every) for number in range(asked.burst))
    await soak.run(burst, asked.clients, 0)
    found = {"burst": dict(soak.counts), "burst_seconds": round(time.monotonic() - begun)}
    soak.counts.clear()
    silent = [asyncio.create_task(soak.fall_silent()) for _ in range(5)]
    begun = time.monotonic()
    first = asked.every * asked.burst
    bodies = (request(number, asked.every) for number in range(first, first + asked.requests))

    def in_time() -> Iterator[dict[str, Any]]:
        for body in bodies:
            if time.monotonic() - begun > 60 * asked.most:
                return
            yield body

    await soak.run(in_time(), asked.clients, 60 * asked.minutes / max(asked.requests, 1))
    await asyncio.gather(*silent)
    found["soak"] = dict(soak.counts)
    found["soak_minutes"] = round((time.monotonic() - begun) / 60, 1)
    soak.counts.clear()
    # Who is accepted must be answered; who comes later meets a closed door, and that is no fault.
    last = [request(number, 10**9) for number in range(10**6 + 8, 10**6 + 38)]
    answered = await soak.accepted()
    sent = asyncio.create_task(soak.run(iter(last), len(last), 0))
    while await soak.accepted() < answered + len(last) and not sent.done():
        await asyncio.sleep(0.01)
    watching.cancel()
    soak.server.terminate()
    try:
        await asyncio.wait_for(sent, 120)
    except httpx.HTTPError as error:
        soak.wrong.append(f"while stopping: {type(error).__name__}: {error}")
    found["stop"] = dict(soak.counts)
    return found


def parse_arguments() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=30, help="over which requests are spread")
    parser.add_argument("--most", type=float, default=60, help="minutes after which none is sent")
    parser.add_argument("--requests", type=int, default=5_000, help="of the soak")
    parser.add_argument("--every", type=int, default=20, help="one in so many is for the writer")
    parser.add_argument("--burst", type=int, default=500, help="requests of the writer at first")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--dry", action="store_true", help="print the counts, write no results")
    return parser.parse_args()


def main() -> None:
    """Run the campaign."""
    asked = parse_arguments()
    process, url = start_server()
    soak = Soak(url, psutil.Process(process.pid))
    try:
        found = asyncio.run(campaign(soak, asked))
        found["exit_code"] = process.wait(timeout=120)
    finally:
        process.kill()
    medians = {name: sorted(s)[len(s) // 2] for name, s in soak.seconds.items() if s}
    found |= {
        "wrong": soak.wrong[:20],
        "median_seconds": {name: round(seconds, 2) for name, seconds in medians.items()},
        "memory": soak.memory,
    }
    if asked.dry:
        print(json.dumps(found))
    else:
        write_results("soak" if asked.requests else "burst", found)


if __name__ == "__main__":
    main()
