"""Replicas answer as one server does, and outlive the death of one of them."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import httpx
import psutil
import pytest
from servers import events, running
from support import EXAMPLES

from hiersum import Summarizer, load_config
from hiersum.cli.serve import serve
from hiersum.errors import InputError
from hiersum.serving.server import serve_replicas

REQUEST = json.loads((EXAMPLES / "request.json").read_text())


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(InputError, match="--replicas needs --engine ray"):
        serve(replicas=2)
    with pytest.raises(InputError, match="--ray-address needs --engine ray"):
        serve(ray_address="auto")
    with pytest.raises(InputError, match="engine 'spark' is unknown; known: local, ray"):
        serve(engine="spark")
    with pytest.raises(
        InputError, match="--port must be a number from 1 to 65535 with --engine ray"
    ):
        serve_replicas(
            model=None,
            config=load_config(None, ()),
            replicas=1,
            host="127.0.0.1",
            port=0,
            tell=print,
        )


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "hiersum", "serve", "--engine", "ray", "--replicas", "2"]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--api-key", "secret"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "2 replicas serving at" in line:
            break
    headers = {"Authorization": "Bearer secret"}
    address = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(
            base_url=address, headers=headers, timeout=120, trust_env=False
        ) as client:
            yield process, client
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_replicas_answer_as_one_server(server: tuple[Any, httpx.Client]) -> None:
    process, client = server
    with running(Summarizer()) as one_server:
        own = one_server.post("/v1/summarize", json=REQUEST).json()
    answers = [client.post("/v1/summarize", json=REQUEST).json() for _ in range(6)]
    for answer in answers:
        assert {**answer, "seconds": 0} == {**own, "seconds": 0}
    streamed = events(client.post("/v1/summarize/stream", json=REQUEST).text)
    assert streamed[-1][0] == "result"
    assert {**streamed[-1][1], "seconds": 0} == {**own, "seconds": 0}
    assert client.get("/readyz").json() == {"status": "ready"}
    assert client.post("/v1/summarize", json={}).status_code == 422
    assert httpx.post(f"{client.base_url}/v1/summarize", json=REQUEST).status_code == 401

    family = psutil.Process(process.pid).children(recursive=True)
    replicas = [one for one in family if "ServeReplica" in " ".join(one.cmdline())]
    assert len(replicas) == 2
    replicas[0].kill()
    time.sleep(0.5)
    for _ in range(6):
        assert client.post("/v1/summarize", json=REQUEST).status_code == 200

    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=120) == 0
    assert process.stdout.read() == "", "stdout is for results"
