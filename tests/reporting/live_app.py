"""A small application that answers as the server does, one request at a time, for tests of the page."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException
from fastapi.responses import StreamingResponse

from hiersum import Cluster, Document, Summarizer
from hiersum.errors import InputError
from hiersum.reporting.html import result_with_report
from hiersum.reporting.pages import mount_pages


def make_app() -> FastAPI:
    app = FastAPI()
    summarizer = Summarizer()
    mount_pages(app)

    @app.get("/v1/models")
    def models() -> dict[str, Any]:
        systems = summarizer.systems
        return {"default": systems[0], "systems": systems, "models": [], "limits": {}}

    @app.post("/v1/summarize/stream")
    def stream(body: dict[str, Any]) -> StreamingResponse:
        if body["title"] == "busy":
            raise HTTPException(503, "the queue is full", headers={"Retry-After": "2"})
        return StreamingResponse(_events(summarizer, body), media_type="text/event-stream")

    return app


def _events(summarizer: Summarizer, body: dict[str, Any]) -> Iterator[str]:
    for stage in ("queued", "reading", "encoding", "writing", "sourcing"):
        yield _event("progress", {"stage": stage, "done": 0, "total": None})
    cluster = Cluster(body["title"], tuple(Document(**d) for d in body["documents"]))
    try:
        summary = summarizer.summarize_cluster(
            cluster, system=body["system"], max_words=body["max_words"], focus=body.get("focus", "")
        )
        yield _event("result", result_with_report(summary))
    except InputError as error:
        yield _event("error", {"detail": str(error)})


def _event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


if __name__ == "__main__":
    uvicorn.run(make_app(), port=int(sys.argv[1]), log_level="warning")
