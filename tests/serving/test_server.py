"""`hiersum serve` as a process: it says where it is, stops when asked, and loses nobody."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from servers import PROSE

Start = Callable[..., tuple[subprocess.Popen[str], str]]
BODY = {"id": "b", "documents": [PROSE] * 3}


@pytest.fixture
def notes() -> list[str]:
    """What the last server said on stderr until it was up."""
    return []


@pytest.fixture
def start(notes: list[str]) -> Iterator[Start]:
    """Start servers; end those that a test leaves behind."""
    processes: list[subprocess.Popen[str]] = []

    def start_server(*arguments: str, **environment: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "hiersum", "serve", "--port", "0", *arguments],
            env={**os.environ, **environment},
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stderr is not None
        notes.clear()
        for line in process.stderr:
            notes.append(line)
            if " at http" in line:
                break
        return process, notes[-1].split(" at ")[1].strip()

    yield start_server
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_stop_it_answers_what_it_accepted(
    start: Start, model_folder: Path, number: signal.Signals
) -> None:
    """Each request takes its time, so that most of them wait when the signal comes."""
    process, url = start(
        "--model", str(model_folder), "--set", "decoding.max_length=60",
        "--set", "decoding.min_length=59", "--set", "serving.max_batch=1",
    )  # fmt: skip
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        assert client.get("/readyz").status_code == 200
        with ThreadPoolExecutor(6) as pool:
            answers = [
                pool.submit(client.post, "/v1/summarize", json={**BODY, "id": str(n)})
                for n in range(6)
            ]
            while "hiersum_queue_requests 0.0" in client.get("/metrics").text:
                pass
            process.send_signal(number)
            assert [a.result().json()["id"] for a in answers] == list("012345")
    assert process.wait(timeout=60) == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/healthz", trust_env=False)


def test_the_key_comes_from_the_environment(start: Start) -> None:
    _, url = start(HIERSUM_API_KEY="s3cret")
    assert httpx.get(f"{url}/v1/models", trust_env=False).status_code == 401
    headers = {"authorization": "Bearer s3cret"}
    assert httpx.get(f"{url}/v1/models", headers=headers, trust_env=False).status_code == 200


def test_it_says_what_it_does_while_it_loads(start: Start, notes: list[str]) -> None:
    start()
    assert notes[0] == "note: loading the model\n"
    assert notes[-1].startswith("note: serving ")


def refused(*arguments: str) -> str:
    completed = subprocess.run(
        [sys.executable, "-m", "hiersum", "serve", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert completed.returncode == 2
    assert completed.stderr.startswith("error: ")
    return completed.stderr


def test_an_address_that_cannot_be_served_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"127.0.0.1:{port} cannot be served (" in refused("--port", port)
    assert "Invalid value for '--port': " in refused("--port", "70000")
    assert "Invalid value for '--max-queue': " in refused("--max-queue", "0")
    assert "--api-key is empty; leave it out to let everyone in" in refused("--api-key", " ")


def test_without_the_extra_it_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "uvicorn.py").write_text("raise ImportError")
    completed = subprocess.run(
        [sys.executable, "-c", "from hiersum.cli import main; main()", "serve"],
        env={
            **os.environ,
            "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert completed.returncode == 2
    assert "hiersum serve needs the extra 'serve'; install it with: pip install" in completed.stderr


def test_a_door_open_to_others_is_noted(start: Start, notes: list[str]) -> None:
    _, url = start("--host", "127.0.0.2")
    assert url.startswith("http://127.0.0.2:")
    assert notes[0].startswith(
        "note: anyone who can reach 127.0.0.2 can use this server; set --api-key"
    )
