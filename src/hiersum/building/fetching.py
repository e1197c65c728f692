"""One HTTP request: public addresses only, limits on time and size, redirects not followed.

The IP address that is checked is the one connected to, so a name that resolves differently the
second time cannot lead into a private network.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
import zlib
from contextlib import closing, suppress
from dataclasses import dataclass
from time import monotonic
from urllib.parse import quote, urlsplit

_READ_BYTES = 1 << 16
_MAX_ADDRESSES = 4  # of one host, tried in turn
_SAFE = "/:@!$&'()*+,;=~-._%?"
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class FetchError(Exception):
    """A page that could not be fetched, and why."""

    def __init__(self, kind: str, *, is_temporary: bool = False) -> None:
        super().__init__(kind)
        self.kind = kind
        self.is_temporary = is_temporary


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response; the names of its headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


def fetch(
    url: str,
    *,
    agent: str,
    seconds: float,
    max_bytes: int,
    allow_private: bool = False,
    cut: bool = False,
) -> Fetched:
    """Request one URL.

    Args:
        url: http or https.
        agent: the User-Agent header.
        seconds: limit for the whole exchange.
        max_bytes: limit for the decompressed body.
        allow_private: also connect to loopback and private addresses.
        cut: truncate a body that is too large instead of refusing it.

    Raises:
        FetchError: no response, or one beyond the limits.
    """
    try:
        parts = urlsplit(url)
        is_secure = parts.scheme == "https"
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise FetchError("not a web address")
        host = parts.hostname.encode("idna").decode("ascii")
        port = parts.port or (443 if is_secure else 80)
    except ValueError as error:
        raise FetchError("not a web address") from error
    target = quote(parts.path or "/", _SAFE) + (
        f"?{quote(parts.query, _SAFE)}" if parts.query else ""
    )
    deadline = monotonic() + seconds
    line = _Line(_connect(host, port, seconds, allow_private=allow_private), seconds)
    try:
        if is_secure:
            line.secure(host)
        connection = http.client.HTTPConnection(parts.netloc.rpartition("@")[2])
        connection.sock = line.socket
        headers = {"User-Agent": agent, "Accept": "text/html,*/*;q=0.5", "Accept-Encoding": "gzip"}
        connection.request("GET", target, headers={**headers, "Connection": "close"})
        with closing(connection.getresponse()) as response:
            found = {name.lower(): value for name, value in response.getheaders()}
            body = b""
            if response.status == 200:
                packing = found.get("content-encoding", "").strip().lower()
                body = _read(response, packing, max_bytes, deadline, cut=cut)
            return Fetched(response.status, found, body)
    except ssl.SSLCertVerificationError as error:
        raise FetchError("certificate") from error
    except (TimeoutError, OSError, http.client.HTTPException, ValueError, zlib.error) as error:
        if monotonic() >= deadline or isinstance(error, TimeoutError):
            raise FetchError("took too long", is_temporary=True) from error
        kind = "connection broke" if isinstance(error, OSError) else "no HTTP answer"
        raise FetchError(kind, is_temporary=isinstance(error, OSError)) from error
    finally:
        line.close()


def is_public(address: str) -> bool:
    """Is this an address of the public internet? IPv4 inside IPv6 is unwrapped first."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if ip.teredo is not None:
            inner = ip.teredo[1]
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


def _connect(host: str, port: int, seconds: float, *, allow_private: bool) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchError("unknown host") from error
    allowed = [entry for entry in found if allow_private or is_public(str(entry[4][0]))]
    allowed = allowed[:_MAX_ADDRESSES]
    if not allowed:
        raise FetchError("private address")
    last: OSError | None = None
    for family, kind, protocol, _, address in allowed:
        line = socket.socket(family, kind, protocol)
        line.settimeout(seconds / len(allowed))
        try:
            line.connect(address)
        except OSError as error:
            line.close()
            last = error
        else:
            line.settimeout(seconds)
            return line
    raise FetchError("no connection", is_temporary=True) from last


class _Line:
    """A connection that a timer shuts down: a socket's own timeout restarts with every byte."""

    def __init__(self, line: socket.socket, seconds: float) -> None:
        self.socket = line
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def secure(self, host: str) -> None:
        context = ssl.create_default_context()
        self.socket = context.wrap_socket(self.socket, server_hostname=host)

    def close(self) -> None:
        self._timer.cancel()
        self.socket.close()

    def _cut(self) -> None:
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


def _read(
    response: http.client.HTTPResponse,
    packing: str,
    max_bytes: int,
    deadline: float,
    *,
    cut: bool,
) -> bytes:
    """Read a body; the limit holds for its decompressed size."""
    if packing not in ("", "identity", "gzip", "x-gzip"):
        raise FetchError(f"packed as {packing[:20]}")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16) if packing.endswith("gzip") else None
    body = bytearray()
    while piece := response.read1(_READ_BYTES):
        body += piece if unpacker is None else unpacker.decompress(piece, max_bytes + 1)
        if len(body) > max_bytes or (unpacker is not None and unpacker.unconsumed_tail):
            if cut:
                return bytes(body[:max_bytes])
            raise FetchError("too large")
        if monotonic() >= deadline:
            raise TimeoutError
    if monotonic() >= deadline:  # a connection shut down by the timer looks finished
        raise TimeoutError
    length = response.getheader("Content-Length") or ""
    if unpacker is None and length.isdigit() and len(body) < int(length):
        raise ConnectionResetError
    return bytes(body)
