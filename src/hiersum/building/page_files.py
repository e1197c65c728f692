"""Source pages from files: web archives, JSON Lines, saved HTML.

    .warc .wet (.gz .zst .lz4)   archives: responses as HTML, conversions as text
    .jsonl (.gz)                 lines {"url": ..., "text" or "html": ...}, optional "title"
    .html .htm .xhtml (.gz)      saved pages, which name their own URL or are stored as HOST/PATH

Unreadable pages are counted by reason.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from hiersum.data.files import read_lines
from hiersum.data.records import parse_json
from hiersum.errors import DataError

_KINDS = {
    "archive": re.compile(r"\.w(?:arc|et|at)(?:\.(?:gz|zst|lz4))?$", re.I),
    "lines": re.compile(r"\.(?:jsonl|ndjson)(?:\.gz)?$", re.I),
    "html": re.compile(r"\.(?:html?|xhtml)(?:\.gz)?$", re.I),
}
_HTML_PER_ITEM = 256
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?", re.I)
_ENDS_BYTES = 1 << 20
_HEADER_BYTES = 1 << 16
_HTML_TYPES = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as read, before its text is extracted."""

    kind: str
    """`html`, or `text` as UTF-8."""
    data: bytes
    url: str = ""
    """Empty if unknown; the page itself may name it."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class PageFiles:
    """The files of one part: an archive, a JSON Lines file, or saved pages."""

    number: int
    kind: str
    paths: tuple[Path, ...]
    root: Path
    """The path given by the user; HOST/PATH is relative to it."""


def find_sources(roots: Sequence[Path]) -> list[PageFiles]:
    """Return the files of all sources, in a fixed order."""
    found: list[PageFiles] = []
    for root in roots:
        before = len(found)
        for kind, files in groupby(_files(root), key=_kind):
            size = _HTML_PER_ITEM if kind == "html" else 1
            while paths := tuple(islice(files, size)):
                found.append(PageFiles(len(found), kind, paths, root))
        if len(found) == before:
            expected = ".warc .wet .jsonl .html files, or gzip of them"
            raise DataError(f"{root}: contains no source pages; expected {expected}")
    return found


def identify(path: Path) -> str:
    """Identify a large file by name, size, and a checksum of its first and last megabyte."""
    size = path.stat().st_size
    with path.open("rb") as file:
        digest = hashlib.sha256(file.read(_ENDS_BYTES))
        file.seek(max(size - _ENDS_BYTES, 0))
        digest.update(file.read(_ENDS_BYTES))
    return f"{path.name} {size} {digest.hexdigest()[:16]}"


def read_source(
    files: PageFiles, max_bytes: int, is_wanted: Callable[[str], bool] = lambda url: True
) -> Iterator[RawPage | str]:
    """Yield the wanted pages of some files, or the reason why a page is dropped."""
    for path in files.paths:
        if files.kind == "archive":
            found = _read_archive(path, max_bytes, is_wanted)
        elif files.kind == "lines":
            found = _read_lines(path, is_wanted)
        else:
            found = _read_html(path, files.root, max_bytes)
        for page in found:
            is_large = isinstance(page, RawPage) and len(page.data) > max_bytes
            yield "too large" if is_large else page


def _files(root: Path) -> list[Path]:
    try:
        if root.is_dir():
            files = (path for path in root.rglob("*") if path.is_file() and _kind(path))
            return sorted(files, key=lambda path: (_kind(path), path))
        root.open("rb").close()
    except FileNotFoundError as error:
        raise DataError(f"{root}: no such file or folder") from error
    except OSError as error:
        raise DataError(f"{root}: cannot be read ({error.strerror})") from error
    return [root] if _kind(root) else []


def _kind(path: Path) -> str:
    return next((kind for kind, pattern in _KINDS.items() if pattern.search(path.name)), "")


def _read_lines(path: Path, is_wanted: Callable[[str], bool]) -> Iterator[RawPage | str]:
    try:
        for number, line in read_lines(path):
            page = _page_of_line(line, f"{path}:{number}")
            if isinstance(page, str) or is_wanted(page.url):
                yield page
    except DataError:  # truncated gzip
        yield "file cut off"


def _page_of_line(line: bytes, where: str) -> RawPage | str:
    try:
        record = parse_json(line, where)
    except DataError:
        return "not a line of JSON"
    kind = "html" if isinstance(record, dict) and "html" in record else "text"
    if not isinstance(record, dict) or not isinstance(record.get(kind), str):
        return "line without a text"
    url, title = str(record.get("url") or ""), str(record.get("title") or "")
    if not url and kind == "text":
        return "no address"
    return RawPage(kind, record[kind].encode("utf-8", "replace"), url, title)


def _read_html(path: Path, root: Path, max_bytes: int) -> Iterator[RawPage | str]:
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            yield RawPage("html", file.read(max_bytes + 1), _mirrored_url(path, root))
    except (OSError, EOFError, zlib.error):
        yield "file that cannot be read"


def _mirrored_url(path: Path, root: Path) -> str:
    """Return the URL of a file stored as HOST/PATH, empty if it is not."""
    parts = path.relative_to(root).parts if root.is_dir() else ()
    if len(parts) < 2 or not _HOST.fullmatch(parts[0]):
        return ""
    name = re.sub(r"(?:^|/)index\.x?html?(?:\.gz)?$", "", "/".join(parts[1:]))
    return f"https://{parts[0]}/{name}"


def _read_archive(
    path: Path, max_bytes: int, is_wanted: Callable[[str], bool]
) -> Iterator[RawPage | str]:
    """Read an archive up to its end or to the first record that cannot be delimited."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    kinds = WarcRecordType.response | WarcRecordType.resource | WarcRecordType.conversion
    with path.open("rb") as file:
        records = ArchiveIterator(file, record_types=kinds, parse_http=False)
        while True:
            try:
                if (record := next(records, None)) is None:
                    return
                url = (record.headers.get("WARC-Target-URI") or "").strip("<>")
                data = record.reader.read(max_bytes + _HEADER_BYTES) if is_wanted(url) else None
            except Exception:  # fastwarc raises different errors, depending on the version
                yield "damaged record"
                return
            if data is None:
                continue
            if len(data) < min(record.content_length, max_bytes + _HEADER_BYTES):
                yield "record cut off"
            elif record.record_type == WarcRecordType.conversion:
                yield RawPage("text", data, url)
            else:
                yield _page_of_response(record, data, url, max_bytes)


def _page_of_response(record: Any, data: bytes, url: str, max_bytes: int) -> RawPage | str:
    from fastwarc.warc import WarcRecord

    copy = WarcRecord()  # a body that cannot be unpacked would disturb the archive's own reader
    copy.set_bytes_content(data)
    copy.is_http = record.is_http
    try:
        copy.parse_http(auto_decode="all")
        body = copy.reader.read(max_bytes + 1)
    except Exception:
        return "damaged record"
    if copy.http_headers is not None and copy.http_headers.status_code != 200:
        return f"status {copy.http_headers.status_code}"
    kind = copy.http_content_type or record.headers.get("Content-Type") or ""
    return RawPage("html", body, url) if kind.startswith(_HTML_TYPES) else "not HTML"
