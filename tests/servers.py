"""Servers on the loopback address, small networks of random weights, and work that can be held up."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import torch
import uvicorn
from support import small_vocabulary

from hiersum import Cluster, Summarizer, Summary
from hiersum.config import ModelConfig
from hiersum.model.folder import save_pretrained
from hiersum.model.network import build_network
from hiersum.pipeline import Failure
from hiersum.serving.app import create_app

SHORT = ("decoding.beam_size=2", "decoding.max_length=12")
PROSE = (
    "The harbour bridge reopened on Monday after eleven months of repairs, the city said. "
    "Ferries will stop running in June, and the union of ferry workers is against it."
)


def make_model_folder(folder: Path) -> Path:
    """Write a model folder with random weights."""
    torch.manual_seed(0)
    pieces = folder / "pieces.model"
    pieces.write_bytes(small_vocabulary("t5"))
    config = ModelConfig(
        vocab_size=200, width=32, ff_width=48, num_heads=4, num_pooling_heads=4,
        num_decoder_layers=1, layers=("local", "global"), profile="t5", pad_id=0, begin_id=0, end_id=1,
    )  # fmt: skip
    network = build_network(config)
    with torch.no_grad():
        for parameter in network.parameters():  # so that other sources give other summaries
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return save_pretrained(network, folder / "model", tokenizer=pieces)


@contextmanager
def running(summarizer: Summarizer, api_key: str | None = None) -> Iterator[httpx.Client]:
    """Serve in a thread, as `hiersum serve` does, and stop as gracefully."""
    bound = socket.create_server(("127.0.0.1", 0))
    app = create_app(summarizer, api_key=api_key)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])))
    thread.start()
    url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    try:
        with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()
        bound.close()


def events(text: str) -> list[tuple[str, Any]]:
    """Parse server-sent events."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


class GatedSummarizer(Summarizer):
    """Begins to work when its gate is opened; remembers which clusters came together."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.gate = threading.Event()
        self.has_begun = threading.Event()
        self.batches: list[list[str]] = []
        self.breaks_at = "none"

    def summarize_each(
        self, clusters: Iterable[Cluster], **options: Any
    ) -> Iterator[tuple[int, Summary | Failure]]:
        clusters = list(clusters)
        self.batches.append([cluster.id for cluster in clusters])
        self.has_begun.set()
        assert self.gate.wait(timeout=60)
        if self.breaks_at in self.batches[-1]:
            raise ZeroDivisionError("a bug of ours")
        yield from super().summarize_each(clusters, **options)
