"""Run the server: bind, serve until a signal, then finish the accepted requests."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable

from hiersum.errors import InputError, MissingDependencyError
from hiersum.pipeline import Summarizer

try:
    import uvicorn

    from hiersum.serving.app import create_app
except ImportError as error:
    raise MissingDependencyError("hiersum serve", "serve") from error


def serve(
    summarizer: Summarizer,
    *,
    host: str,
    port: int,
    api_key: str | None = None,
    tell: Callable[[str], None],
) -> None:
    """Serve until SIGINT or SIGTERM; then answer the waiting requests and return.

    Args:
        summarizer: writes the summaries.
        host: the address to bind.
        port: the port; 0 picks a free one.
        api_key: the key that clients must send; None lets everyone in.
        tell: called with the server's URL once it accepts connections.

    Raises:
        InputError: the address cannot be bound.
    """
    bound = _bind(host, port)
    shown = f"[{host}]" if ":" in host else host
    app = create_app(summarizer, api_key=api_key)
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="on")
    server = uvicorn.Server(config)
    # uvicorn raises the signal again after it has stopped; by then nothing is left to do.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with bound:
        tell(f"http://{shown}:{bound.getsockname()[1]}")
        server.run(sockets=[bound])


def _bind(host: str, port: int) -> socket.socket:
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
