"""The folder of a crawl: pages in WARC files, and a journal of every URL.

A page is appended to a WARC file, then a line to the journal that gives the new length of that file.
A killed crawl resumes from there: whatever lies beyond the journal's last whole line is cut off.
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import threading
import uuid
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from hiersum.building.keys import key_of
from hiersum.data.files import alone_in
from hiersum.errors import InputError

FETCHED = "fetched"
_MAX_FILE_BYTES = 1_000_000_000


class CrawlArchive:
    """The pages and outcomes of a crawl; entering it locks the folder."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be made a folder ({error.strerror})") from error
        self.folder = folder
        self.outcomes: Counter[str] = Counter()
        self._done: set[int] = set()
        self._lock = threading.Lock()
        self._number = 0
        self._journal: io.FileIO | None = None
        self._file: io.FileIO | None = None

    def __enter__(self) -> CrawlArchive:
        self._alone = alone_in(self.folder)
        self._alone.__enter__()
        self._resume()
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._journal, self._file):
            if file is not None:
                file.close()
        self._alone.__exit__(None, None, None)

    def __contains__(self, url: str) -> bool:
        return key_of(url) in self._done

    @property
    def files(self) -> list[Path]:
        """The WARC files that are not empty."""
        return sorted(p for p in self.folder.glob("crawl-*.warc.gz") if p.stat().st_size)

    def add(self, url: str, outcome: str, *, kind: str = "", body: bytes = b"") -> None:
        """Record the outcome of a URL, and its page if it was fetched.

        Raises:
            InputError: the disk is full.
        """
        try:
            with self._lock:
                end = self._write_page(url, kind, body) if outcome == FETCHED else None
                line = {"url": url, "outcome": outcome, "file": self._number, "end": end}
                assert self._journal is not None
                _append(self._journal, json.dumps(line).encode() + b"\n")
                self._count(url, outcome)
        except OSError as error:
            raise InputError(
                f"{self.folder}: cannot be written ({error.strerror}); what was fetched stays: run "
                "the same command again to go on"
            ) from error

    def _count(self, url: str, outcome: str) -> None:
        self._done.add(key_of(url))
        self.outcomes[outcome] += 1

    def _write_page(self, url: str, kind: str, body: bytes) -> int:
        if self._file is None or self._file.tell() > _MAX_FILE_BYTES:
            if self._file is not None:
                self._file.close()
                self._number += 1
            self._file = self._path(self._number).open("ab", buffering=0)
        _append(self._file, gzip.compress(_record(url, kind, body), 6))
        return self._file.tell()

    def _path(self, number: int) -> Path:
        return self.folder / f"crawl-{number:05}.warc.gz"

    def _resume(self) -> None:
        path = self.folder / "journal.jsonl"
        try:
            self._journal = path.open("a+b", buffering=0)
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror})") from error
        whole = 0
        ends: dict[int, int] = {}
        with path.open("rb") as lines:
            for line in lines:
                try:
                    record = json.loads(line) if line.endswith(b"\n") else None
                except ValueError:
                    record = None
                if not isinstance(record, dict):
                    break  # cut off by a kill
                whole += len(line)
                self._count(record["url"], record["outcome"])
                if record["end"] is not None:
                    ends[record["file"]] = record["end"]
        self._journal.truncate(whole)
        for file in self.folder.glob("crawl-*.warc.gz"):
            number = int(file.name[6:11])
            os.truncate(file, min(ends.get(number, 0), file.stat().st_size))
        self._number = max(ends, default=0)


def _append(file: io.FileIO, data: bytes) -> None:
    """Write unbuffered, so that a full disk is noticed here."""
    if file.write(data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _record(url: str, kind: str, body: bytes) -> bytes:
    """Return a WARC response record."""
    kind = kind.replace("\r", " ").replace("\n", " ")
    http = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    block = http.encode("latin-1", "replace") + body
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\n"
        f"WARC-Target-URI: {url}\r\n"
        f"WARC-Date: {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\r\n"
        f"WARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode("utf-8", "replace") + block + b"\r\n\r\n"
