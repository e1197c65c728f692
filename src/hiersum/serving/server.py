"""Run a server until a signal: in this process, or as several replicas on a Ray cluster.

Each replica is a process with its own model and queue; Ray Serve's proxy balances the load and
replaces dead replicas. /metrics shows the replica that responds.
"""

from __future__ import annotations

import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Any

import uvicorn
from fastapi import FastAPI

from hiersum.config import Config
from hiersum.errors import InputError
from hiersum.jobs.distributed import connect, ray_serve

_STOP_SECONDS = 60.0


def run_app(app: FastAPI, listener: socket.socket) -> None:
    """Serve an application until SIGINT or SIGTERM, without an access log."""
    # Proxies keep idle connections for a minute and expect the same; a request that meets a closing
    # connection is lost.
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="on", timeout_keep_alive=75
    )
    # uvicorn re-raises the signal after it has stopped; nothing is left to do then.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    uvicorn.Server(config).run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """Bind an address; early clients wait until the server has started."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1_024)
    except OSError as error:
        raise InputError(
            f"{host}:{port} cannot be served ({error.strerror or error}); "
            "choose another --host or --port"
        ) from error


def url_of(host: str, port: int) -> str:
    """Return the URL to visit; 0.0.0.0 means all addresses of this machine."""
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve_replicas(
    *,
    model: str | None,
    config: Config,
    replicas: int,
    host: str,
    port: int,
    address: str | None = None,
    api_key: str | None = None,
    tell: Callable[[str], None],
) -> None:
    """Serve with replicas until SIGINT or SIGTERM; then answer the waiting requests and return.

    The queue's capacity is divided among the replicas. `address` is an existing Ray cluster; without
    it, Ray is started on this machine. `tell` is called with the URL once connections are accepted.
    """
    if port == 0:
        raise InputError("--port must be a number from 1 to 65535 with --engine ray, got 0")
    each = -(-config.serving.max_queue // replicas)
    shared = replace(config, serving=replace(config.serving, max_queue=each))
    with redirect_stdout(sys.stderr):  # Ray logs to stdout, which is for results
        ray = connect(address, replicas + 1)  # the proxy takes part of a core
        try:
            serve = ray_serve()
            logging.getLogger("ray.serve").setLevel(logging.ERROR)
            serve.start(
                http_options={"host": host, "port": port, "location": "HeadOnly"},
                logging_config={"log_level": "ERROR", "enable_access_log": False},
            )
            serve.run(_application(serve, model, shared, replicas, api_key), name="hiersum")
            stopped = threading.Event()
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: stopped.set())
            tell(url_of(host, port))
            stopped.wait()
            serve.shutdown()
        except (RuntimeError, TimeoutError) as error:
            reason = str(error).splitlines()[0][:300]
            raise InputError(f"the replicas did not start ({reason})") from error
        finally:
            ray.shutdown()


def _application(
    serve: Any, model: str | None, config: Config, replicas: int, api_key: str | None
) -> Any:
    """Return the Ray Serve application; every replica runs the app of a single server."""

    def build() -> Any:
        from hiersum.pipeline import Summarizer
        from hiersum.serving.app import create_app

        logging.getLogger("ray.serve").setLevel(logging.ERROR)
        summarizer = Summarizer.from_pretrained(model, config=config).prepare()
        return create_app(summarizer, api_key=api_key)

    deployment = serve.deployment(
        num_replicas=replicas,
        ray_actor_options={"num_cpus": 1},
        max_ongoing_requests=config.serving.max_queue + config.serving.max_batch,
        graceful_shutdown_timeout_s=_STOP_SECONDS,
        name="hiersum",
    )
    return deployment(serve.ingress(build)(_Replica)).bind()


class _Replica:
    """The class that Ray Serve wraps around the app."""
