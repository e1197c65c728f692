"""Files that a browser sends are read as files on disk are, and refused with one sentence."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi.testclient import TestClient
from support import EXAMPLES, make_docx, make_pdf, without_bytes

from hiersum import Summarizer
from hiersum.serving.app import create_app
from hiersum.text.documents import read_document

PROSE = "The harbour bridge reopened on Monday after eleven months of repairs, the city said."


def client() -> TestClient:
    app = create_app(Summarizer())
    return TestClient(app, headers={"Content-Type": "application/octet-stream"})


@pytest.mark.parametrize("name", ["1-gazette.txt", "2-union.md", "3-observer.html"])
def test_a_file_gives_what_the_file_on_disk_gives(name: str) -> None:
    path = EXAMPLES / "harbour-bridge" / name
    answer = client().post("/v1/read", params={"name": name}, content=path.read_bytes())
    document, _ = read_document(path)
    assert answer.json() == {
        "documents": [{"name": name, "url": document.url, "text": document.text}],
        "unread": [],
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", make_pdf([[PROSE]])),
        ("a.docx", make_docx([PROSE])),
        ("a.txt.gz", gzip.compress(PROSE.encode())),
        ("latin.txt", "Über die Brücke, sagte er.".encode("latin-1")),
    ],
    ids=without_bytes,
)
def test_every_kind_is_read(name: str, content: bytes) -> None:
    answer = client().post("/v1/read", params={"name": name}, content=content)
    assert answer.status_code == 200
    (document,) = answer.json()["documents"]
    assert document["name"] == name
    assert ("reopened on Monday" in document["text"]) or ("Über die Brücke" in document["text"])


@pytest.mark.parametrize(
    ("name", "content", "status", "sentence"),
    [
        ("a.txt", b"", 422, "a.txt: the file is empty"),
        ("a.txt", b" \n", 422, "a.txt: contains no text"),
        ("a.pdf", make_pdf([[PROSE]])[:300], 422, "a.pdf: damaged PDF"),
        ("a.docx", b"PK\x03\x04 nothing", 422, "a.docx: damaged Word file"),
        ("a.png", b"\x89PNG", 422, "a.png: this is an image; hiersum reads text only"),
        ("a.bin", bytes(range(256)), 422, "a.bin: looks like a binary file"),
        ("a.jsonl", b"{}", 422, "a.jsonl: holds clusters; summarise it with: hiersum summarize"),
        ("a.txt", b"x" * 1_001, 413, "a.txt: larger than 1,000 bytes; send less"),
        ("../../etc/a.txt", b"", 422, "a.txt: the file is empty"),
        ("C:\\me\\a.txt", b"", 422, "a.txt: the file is empty"),
    ],
    ids=without_bytes,
)
def test_a_bad_file_is_refused_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, status: int, sentence: str
) -> None:
    limit = 1_000 if status == 413 else 1_000_000
    monkeypatch.setattr("hiersum.serving.pages.MAX_UPLOAD_BYTES", limit)
    answer = client().post("/v1/read", params={"name": name}, content=content)
    assert answer.status_code == status
    assert answer.json()["detail"].startswith(sentence)


def test_a_large_file_is_refused_though_it_does_not_say_how_large_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hiersum.serving.pages.MAX_UPLOAD_BYTES", 1_000)
    pieces = (b"x" * 400 for _ in range(5))
    answer = client().post("/v1/read", params={"name": "a"}, content=pieces)
    assert answer.status_code == 413


@pytest.mark.parametrize("name", ["", "/", "n" * 300])
def test_a_file_needs_a_name(name: str) -> None:
    answer = client().post("/v1/read", params={"name": name}, content=b"x")
    assert answer.status_code == 422
    sentence = "a file needs a name of at most 255 characters (?name=a.txt)"
    assert answer.json() == {"detail": sentence}


def test_a_file_must_be_declared_as_bytes() -> None:
    """Which a web page elsewhere cannot do without asking the server first."""
    answer = client().post(
        "/v1/read?name=a.txt", content=b"x", headers={"Content-Type": "text/plain"}
    )
    assert answer.status_code == 415
    assert answer.json()["detail"] == (
        "a.txt: must be sent as application/octet-stream, got text/plain"
    )


def test_a_file_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hiersum.serving.pages._MAX_SECONDS", 0.05)

    async def slowly() -> AsyncIterator[bytes]:
        yield b"The beginning"
        await asyncio.sleep(60)

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(client().app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as asking:
            headers = {"Content-Type": "application/octet-stream"}
            return await asking.post("/v1/read?name=a.txt", content=slowly(), headers=headers)

    answer = asyncio.run(send())
    assert answer.status_code == 408
    assert answer.json()["detail"] == "a.txt: took longer than 0.05 s to arrive"


def test_what_is_beyond_a_limit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hiersum.text.documents.MAX_CHARACTERS", 40)
    answer = client().post("/v1/read", params={"name": "a.txt"}, content=PROSE.encode())
    (unread,) = answer.json()["unread"]
    assert unread["reason"].startswith("only its first 40 characters were read")
