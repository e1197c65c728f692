"""WARC and WET files as raw pages; what is damaged is skipped, and reading goes on behind it."""

from __future__ import annotations

import mmap
import re
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import IO, Any

from hiersum.building.pages.raw import RawPage
from hiersum.errors import MissingDependencyError

_MEMBER = re.compile(rb"\x1f\x8b\x08")
_RECORD = re.compile(rb"WARC/1\.")
_HTML = ("text/html", "application/xhtml+xml")


def read_warc(
    path: Path, max_bytes: int, problems: Counter[str], is_wanted: Callable[[str], bool]
) -> Iterator[RawPage]:
    """Yield the pages of a WARC file (HTML), or of a WET file (text).

    Args:
        path: plain, gzip, zstd or lz4.
        max_bytes: larger pages are counted and dropped.
        problems: counts what is dropped, by kind.
        is_wanted: says of an address whether its page is needed.
    """
    start: int | None = 0
    while start is not None:
        with path.open("rb") as file:
            file.seek(start)
            place = yield from _read_from(file, start, max_bytes, problems, is_wanted)
        start = None if place is None else _next_record(path, place)


def _read_from(
    file: IO[bytes],
    start: int,
    max_bytes: int,
    problems: Counter[str],
    is_wanted: Callable[[str], bool],
) -> Generator[RawPage, None, int | None]:
    """Yield pages until the end or until damage; return where to look for the next record then."""
    iterator, kinds = _open(file)
    place = start + 1
    is_counted = False
    while True:
        try:
            record = next(iterator)
        except StopIteration:
            return None
        except Exception:  # fastwarc raises OSError and others, and what it raises changes
            problems["damaged record"] += not is_counted
            return place
        is_counted = False
        place = start + record.stream_pos + 1
        url = (record.headers.get("WARC-Target-URI") or "").strip("<>")
        if not is_wanted(url):
            continue
        is_text = record.record_type == kinds.conversion
        try:
            if (page := _page(record, url, is_text, max_bytes, problems)) is not None:
                yield page
        except Exception:  # a payload that cannot be unpacked; the next record may be whole
            problems["damaged record"] += 1
            is_counted = True


def _page(
    record: Any, url: str, is_text: bool, max_bytes: int, problems: Counter[str]
) -> RawPage | None:
    declared = record.content_length
    if not is_text:
        record.parse_http(auto_decode="all")
        if record.http_headers is not None and record.http_headers.status_code != 200:
            problems[f"status {record.http_headers.status_code}"] += 1
            return None
        kind = record.http_content_type or record.headers.get("Content-Type") or ""
        if not kind.startswith(_HTML):
            problems["not HTML"] += 1
            return None
    data = record.reader.read(max_bytes + 1)
    if len(data) > max_bytes:
        problems["too large"] += 1
        return None
    if is_text and len(data) < declared:
        problems["record cut off"] += 1
        return None
    if not is_text and _is_cut(record, data):
        problems["record cut off"] += 1
        return None
    return RawPage("text" if is_text else "html", data, url)


def _is_cut(record: Any, data: bytes) -> bool:
    """Is a plain payload shorter than its own header says?"""
    headers = record.http_headers
    if headers is None or headers.get("Content-Encoding") or headers.get("Transfer-Encoding"):
        return False
    length = headers.get("Content-Length") or ""
    return length.isdigit() and len(data) < int(length)


def _next_record(path: Path, place: int) -> int | None:
    """Return where the next record begins that can be opened, None if there is none."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        is_packed = data[:2] == b"\x1f\x8b"
        if not is_packed and _RECORD.match(data) is None:
            return None  # zstd and lz4 cannot be entered in the middle
        while found := (_MEMBER if is_packed else _RECORD).search(data, place):
            place = found.start()
            if not is_packed or _begins_record(data[place : place + 512]):
                return place
            place += 1
    return None


def _begins_record(packed: bytes) -> bool:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, 64).startswith(b"WARC/")
    except zlib.error:
        return False


def _open(file: IO[bytes]) -> tuple[Any, Any]:
    try:
        from fastwarc.warc import ArchiveIterator, WarcRecordType
    except ImportError as error:
        raise MissingDependencyError("reading WARC files", "build") from error
    kinds = WarcRecordType.response | WarcRecordType.resource | WarcRecordType.conversion
    return ArchiveIterator(file, record_types=kinds, parse_http=False), WarcRecordType
