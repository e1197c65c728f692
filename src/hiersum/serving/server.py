"""Run a web application: bind, serve until a signal, then finish accepted requests."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from hiersum.errors import InputError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from hiersum.pipeline import Summarizer


def serve(
    summarizer: Summarizer,
    *,
    host: str,
    port: int,
    api_key: str | None = None,
    tell: Callable[[str], None],
) -> None:
    """Serve summaries until SIGINT or SIGTERM; then answer the waiting requests and return.

    Args:
        summarizer: writes the summaries.
        host: the address to bind.
        port: the port; 0 picks a free one.
        api_key: the key that clients must send; None: no authentication.
        tell: called with the server's URL once it accepts connections.

    Raises:
        InputError: the address cannot be bound.
    """
    with listen(host, port) as listener:
        from hiersum.serving.app import create_app

        app = create_app(summarizer, api_key=api_key)
        run_app(app, listener, lambda: tell(url_of(host, listener.getsockname()[1])))


def run_app(app: FastAPI, listener: socket.socket, started: Callable[[], None]) -> None:
    """Serve an application until SIGINT or SIGTERM, without an access log."""
    import uvicorn

    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="on")
    # uvicorn re-raises the signal after it has stopped; nothing is left to do then.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    started()
    uvicorn.Server(config).run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """Bind an address; early clients wait until the server has started.

    Raises:
        InputError: the address is in use, or not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1_024)
    except OverflowError:
        raise InputError(f"--port must be a number from 0 to 65535, got {port}") from None
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
