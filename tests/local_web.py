"""A web server on this machine for tests: pages we wrote, and every kind of bad behaviour."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_BOMB = gzip.compress(b"x" * 5_000_000)


@dataclass
class LocalWeb:
    """What the server has, and what it was asked."""

    base: str = ""
    robots: str | int = ""
    pages: dict[str, bytes] = field(default_factory=dict)
    requests: list[tuple[float, str]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    failures: dict[str, int] = field(default_factory=dict)
    """How often a path answers 503 before it has its page."""

    def asked(self, path: str) -> int:
        return sum(one == path for _, one in self.requests)


class _Handler(BaseHTTPRequestHandler):
    web: LocalWeb

    def do_GET(self) -> None:
        web = self.web
        web.requests.append((time.monotonic(), self.path))
        web.agents.add(self.headers.get("User-Agent", ""))
        path = self.path
        if path == "/robots.txt":
            if isinstance(web.robots, int):
                self._answer(web.robots)
            else:
                self._answer(200, web.robots.encode(), kind="text/plain")
        elif web.failures.get(path, 0) > 0:
            web.failures[path] -= 1
            self._answer(503)
        elif path.startswith("/to/"):
            self._answer(302, location=path.removeprefix("/to/"))
        elif path == "/nowhere":
            self._answer(302, location="http://[::1")
        elif path.startswith("/status/"):
            self._answer(int(path.removeprefix("/status/")))
        elif path == "/pdf":
            self._answer(200, b"%PDF-1.4", kind="application/pdf")
        elif path == "/huge":
            self._answer(200, b"<p>" + b"x" * 300_000)
        elif path == "/bomb":
            self._answer(200, _BOMB, packing="gzip")
        elif path == "/packed":
            self._answer(200, gzip.compress(b"<p>packed"), packing="gzip")
        elif path == "/silent":
            time.sleep(20)
        elif path == "/drip":
            self._drip()
        elif path == "/broken":
            self.wfile.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\nhalf"
            )
        elif path == "/garbage":
            self.wfile.write(b"this is not HTTP\r\n\r\n")
        elif path in web.pages:
            self._answer(200, web.pages[path])
        else:
            self._answer(404)

    def _answer(
        self,
        status: int,
        body: bytes = b"",
        *,
        kind: str = "text/html; charset=utf-8",
        location: str = "",
        packing: str = "",
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        if packing:
            self.send_header("Content-Encoding", packing)
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        """A byte now and then, for as long as anybody listens."""
        try:
            for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + b"y" * 200:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(0.1)
        except OSError:
            pass

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """Clients that hang up are what is tested."""


@contextmanager
def local_web() -> Iterator[LocalWeb]:
    """Serve on a free port of the loopback address."""
    web = LocalWeb()
    handler = type("Handler", (_Handler,), {"web": web})
    server = _Server(("127.0.0.1", 0), handler)
    web.base = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
