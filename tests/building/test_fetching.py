"""A request goes to public addresses only, whatever the name, and ends within its limits."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from local_web import LocalWeb, local_web

from hiersum.building.fetching import Fetched, FetchError, fetch, is_public


@pytest.fixture
def web() -> Iterator[LocalWeb]:
    with local_web() as served:
        yield served


def get(url: str, **changes: Any) -> Fetched:
    options = {"agent": "Test/1", "seconds": 30.0, "max_bytes": 100_000, "allow_private": True}
    return fetch(url, **{**options, **changes})


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
     "100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1",
     "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "192.0.2.1"],
)  # fmt: skip
def test_private_addresses_of_every_kind(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "127.1"]
)
def test_loopback_is_refused_under_all_its_names(web: LocalWeb, host: str) -> None:
    """Some of these are only other spellings, which the system's resolver understands."""
    port = web.base.rpartition(":")[2]
    with pytest.raises(FetchError, match=r"private address|unknown host"):
        get(f"http://{host}:{port}/", allow_private=False)
    assert web.requests == []


def test_what_is_checked_is_what_is_connected_to(
    web: LocalWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is public when asked first and private the second time is asked only once."""
    answers = ["93.184.216.34", "127.0.0.1"]
    connected: list[Any] = []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers.pop(0), port))]

    def connect(self: socket.socket, address: Any) -> None:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(FetchError, match="no connection"):
        get("http://rebinding.example/", allow_private=False)
    assert connected == [("93.184.216.34", 80)]
    assert answers == ["127.0.0.1"]


def test_private_ones_among_public_ones_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    connected: list[Any] = []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        names = ("10.0.0.1", "93.184.216.34", "127.0.0.1")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (name, port)) for name in names]

    def connect(self: socket.socket, address: Any) -> None:
        connected.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(FetchError):
        get("http://mixed.example/", allow_private=False)
    assert connected == ["93.184.216.34"]


def test_pages_come_as_they_are_and_unpacked(web: LocalWeb) -> None:
    web.pages["/a%20b?c=d"] = b"<p>here"
    assert get(f"{web.base}/a b?c=d#part").body == b"<p>here"
    assert get(f"{web.base}/packed").body == b"<p>packed"
    assert get(f"{web.base}/nothing").status == 404
    assert web.agents == {"Test/1"}


@pytest.mark.parametrize(
    ("path", "kind", "is_temporary"),
    [
        ("/huge", "too large", False),
        ("/bomb", "too large", False),
        ("/silent", "took too long", True),
        ("/drip", "took too long", True),
        ("/broken", "connection broke", True),
        ("/garbage", "no HTTP answer", False),
    ],
)
def test_bad_answers_end_within_the_limits(
    web: LocalWeb, path: str, kind: str, is_temporary: bool
) -> None:
    seconds = 1.0 if kind == "took too long" else 30.0  # a busy machine is no bad answer
    start = time.monotonic()
    with pytest.raises(FetchError) as caught:
        get(web.base + path, seconds=seconds)
    assert (caught.value.kind, caught.value.is_temporary) == (kind, is_temporary)
    if kind == "took too long":
        assert time.monotonic() - start < 15, "the server would have gone on for 20 seconds"


def test_a_beginning_can_be_enough(web: LocalWeb) -> None:
    assert len(get(f"{web.base}/huge", cut=True).body) == 100_000


@pytest.mark.parametrize(
    "url",
    ["ftp://a.example/", "http://", "http://a.example:99999/", "file:///etc/passwd", "http://[::1"],
)
def test_what_is_no_web_address_is_not_asked_for(url: str) -> None:
    with pytest.raises(FetchError, match="not a web address"):
        get(url)


def test_no_connection_is_worth_another_try() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(FetchError, match="no connection") as caught:
            get(f"http://127.0.0.1:{unused.getsockname()[1]}/")
    assert caught.value.is_temporary
