"""Many clients at once, some careless or impatient: who stays is answered, correctly and once."""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from servers import SHORT, events

from hiersum import Summarizer, load_config
from hiersum.data.records import cluster_from_record

NUM_CLIENTS = 64
NUM_REQUESTS = 500
PLACES = ["harbour", "station", "market", "mill", "library", "tower", "school", "garden", "theatre"]
DEEDS = [
    "reopened",
    "was sold",
    "burnt down",
    "was painted",
    "was flooded",
    "was moved",
    "is closed",
]


def make_clusters(number: int) -> list[dict[str, Any]]:
    """Clusters of one to twelve documents, no two alike."""
    generator = random.Random(0)
    clusters = []
    for n in range(number):
        place = generator.choice(PLACES)
        documents = [
            "\n".join(
                f"The {place} {generator.choice(DEEDS)} in {generator.randint(1900, 2020)}, said "
                f"{generator.randint(2, 90)} people near the {generator.choice(PLACES)} of the town."
                for _ in range(generator.randint(1, 6))
            )
            for _ in range(generator.randint(1, 12))
        ]
        clusters.append({"title": f"The {place} {n}", "documents": documents})
    return clusters


def make_request(number: int, clusters: list[dict[str, Any]], generator: random.Random) -> Any:
    """Return kind and body of a request."""
    kind = generator.choices(["plain", "stream", "malformed", "cancelled"], [6, 2, 1, 1])[0]
    body = {
        **generator.choice(clusters),
        "id": str(number),
        "system": generator.choice(["ht", "ht", "lexrank"]),
        "max_words": generator.choice([12, 20]),
    }
    if kind == "malformed":
        broken = generator.choice([{"documents": 3}, {"max_words": "many"}, {"system": "gpt"}])
        body = {**body, **broken}
    return kind, body


async def send(client: httpx.AsyncClient, kind: str, body: dict[str, Any]) -> tuple[str, Any]:
    """Send a request until it is accepted; return what came of it."""
    while True:
        path = "/v1/summarize/stream" if kind == "stream" else "/v1/summarize"
        try:
            timeout = random.uniform(0.001, 0.05) if kind == "cancelled" else 120
            answer = await client.post(path, json=body, timeout=timeout)
        except httpx.TimeoutException:
            return "cancelled", None
        if answer.status_code != 429:
            break
        assert int(answer.headers["retry-after"]) >= 1
        await asyncio.sleep(0.1)
    if kind == "stream" and answer.status_code == 200:
        *_, (name, data) = events(answer.text)
        return name, data
    return str(answer.status_code), answer.json()


async def run_clients(url: str, requests: list[Any]) -> list[tuple[str, Any]]:
    outcomes: list[Any] = [None] * len(requests)
    waiting = iter(enumerate(requests))

    async def work(client: httpx.AsyncClient) -> None:
        for number, (kind, body) in waiting:
            assert outcomes[number] is None
            outcomes[number] = await send(client, kind, body)

    limits = httpx.Limits(max_connections=NUM_CLIENTS)
    async with httpx.AsyncClient(base_url=url, trust_env=False, limits=limits) as client:
        await asyncio.gather(*(work(client) for _ in range(NUM_CLIENTS)))
    return outcomes


@pytest.fixture
def server(model_folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    settings = [argument for setting in SHORT for argument in ("--set", setting)]
    process = subprocess.Popen(
        [sys.executable, "-m", "hiersum", "serve", "--port", "0", "--model", str(model_folder),
         "--max-queue", "32", *settings],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    line = next(line for line in process.stderr if " at http" in line)
    yield line.split(" at ")[1].strip(), psutil.Process(process.pid)
    process.terminate()
    assert process.wait(timeout=60) == 0
    process.stderr.close()


@pytest.mark.slow
def test_everyone_who_stays_is_answered_correctly_and_once(
    server: tuple[str, psutil.Process], model_folder: Path
) -> None:
    """Each answer is held to the summarizer's own; memory to that after a first round."""
    url, process = server
    clusters = make_clusters(60)
    generator = random.Random(1)
    requests = [make_request(n, clusters, generator) for n in range(NUM_REQUESTS)]
    summarizer = Summarizer.from_pretrained(model_folder, config=load_config(None, SHORT))
    own: dict[str, dict[str, Any]] = {}

    def expected(body: dict[str, Any]) -> dict[str, Any]:
        options = {name: body[name] for name in ("system", "max_words")}
        key = json.dumps([body["title"], options])
        if key not in own:
            fields = {name: body[name] for name in ("title", "documents")}
            cluster = cluster_from_record(fields, "test")
            own[key] = summarizer.summarize_cluster(cluster, **options).to_record()
        return {**own[key], "id": body["id"]}

    resident = []
    for _ in range(3):
        outcomes = asyncio.run(run_clients(url, requests))
        resident.append(process.memory_info().rss / 1e6)
        kinds: Counter[str] = Counter()
        for (kind, body), (status, answer) in zip(requests, outcomes):
            kinds[f"{kind} {status}"] += 1
            if status == "cancelled":
                assert kind == "cancelled"
            elif kind == "malformed":
                assert status == "422"
                assert list(answer) == ["detail"]
            else:
                assert status in ("200", "result")
                assert {**answer, "seconds": 0} == {**expected(body), "seconds": 0}
        assert kinds["plain 200"] > 250
        assert kinds["stream result"] > 60
        assert kinds["malformed 422"] > 30
        assert kinds["cancelled cancelled"] > 10
    assert len({record["summary"] for record in own.values()}) > 60, "swapped answers would show"
    metrics = httpx.get(f"{url}/metrics", trust_env=False).text
    assert "hiersum_queue_requests 0.0" in metrics
    assert re.search(r'hiersum_batch_requests_bucket\{le="1.0"\} (\d+)', metrics)
    assert resident[2] < 1.05 * resident[0] + 10, resident
