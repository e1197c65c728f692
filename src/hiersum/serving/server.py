"""Run a web application: bind, serve until a signal, then finish accepted requests."""

from __future__ import annotations

import signal
import socket

import uvicorn
from fastapi import FastAPI

from hiersum.errors import InputError


def run_app(app: FastAPI, listener: socket.socket) -> None:
    """Serve an application until SIGINT or SIGTERM, without an access log."""
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="on")
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
