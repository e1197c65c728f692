"""A study on the web: the server's life from opening the folder to being told to stop."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from hiersum.errors import InputError, MissingDependencyError
from hiersum.humaneval.answers import AnswerStore
from hiersum.humaneval.study import Links, Study, read_links, read_study

if TYPE_CHECKING:
    import uvicorn


def open_study(folder: Path) -> tuple[Study, Links, AnswerStore]:
    """Open a study folder for judging."""
    study = read_study(folder)
    return study, read_links(folder), AnswerStore(folder, study)


def build_server(study: Study, links: Links, store: AnswerStore) -> uvicorn.Server:
    """Return what serves a study once it is run.

    Raises:
        MissingDependencyError: the web server is not installed.
    """
    try:
        import uvicorn

        from hiersum.humaneval.server import build_app
    except ImportError as error:
        raise MissingDependencyError("serving a study", "serve") from error
    # The log would hold the links; who answered what is in the database.
    app = build_app(study, links, store)
    config = uvicorn.Config(app, log_config=None, log_level="warning", access_log=False)
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """Take a place to be reached at, before anyone is told of it.

    Raises:
        InputError: it is taken, or not this machine's.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # It listens at once: who follows a link early waits until the server is there.
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{host}:{port}: cannot be listened at ({reason}); give another --port or --host"
        ) from error


def address_of(listener: socket.socket) -> str:
    """Return the address that links begin with."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    if ipaddress.ip_address(host).is_unspecified:
        shown = socket.gethostname()  # everywhere is no address to send to anyone
    return f"http://{shown}:{port}"
