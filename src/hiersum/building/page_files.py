"""Source pages from files: web archives, JSON Lines, saved HTML.

    .warc .wet (.gz .zst .lz4)   archives: responses as HTML, conversions as text
    .jsonl (.gz)                 lines {"url": ..., "text" or "html": ...}, optional "title"
    .html .htm .xhtml (.gz)      saved pages, which name their own URL or are stored as HOST/PATH

Damaged records are counted and skipped; reading continues after them.
"""

from __future__ import annotations

import gzip
import hashlib
import mmap
import re
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, Any

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
_GZIP_MEMBER = re.compile(rb"\x1f\x8b\x08")
_WARC_RECORD = re.compile(rb"WARC/1\.")
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
    """Return the files of all sources, in a fixed order.

    Raises:
        DataError: a source is missing, or holds no pages.
    """
    found: list[PageFiles] = []
    for root in roots:
        before = len(found)
        for kind, files in groupby(_files(root), key=_kind):
            size = _HTML_PER_ITEM if kind == "html" else 1
            paths = list(files)
            for start in range(0, len(paths), size):
                number = len(found)
                found.append(PageFiles(number, kind, tuple(paths[start : start + size]), root))
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
    """Yield the pages of some files, or the reason why a page is dropped.

    Args:
        files: what to read.
        max_bytes: larger pages are dropped.
        is_wanted: whether a URL is needed; other pages are skipped.
    """
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
            files = sorted(path for path in root.rglob("*") if path.is_file() and _kind(path))
            return sorted(files, key=_kind)
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
    start: int | None = 0
    while start is not None:
        with path.open("rb") as file:
            file.seek(start)
            damage = yield from _read_until_damage(file, start, max_bytes, is_wanted)
        start = None if damage is None else _next_record(path, damage)


def _read_until_damage(
    file: IO[bytes], start: int, max_bytes: int, is_wanted: Callable[[str], bool]
) -> Generator[RawPage | str, None, int | None]:
    """Yield pages; return where to look for the next record, None at the end of file."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    kinds = WarcRecordType.response | WarcRecordType.resource | WarcRecordType.conversion
    records = ArchiveIterator(file, record_types=kinds, parse_http=False)
    place = start + 1
    is_reported = False
    while True:
        try:
            record = next(records)
        except StopIteration:
            return None
        except Exception:  # fastwarc raises different errors, depending on the version
            if not is_reported:
                yield "damaged record"
            return place
        is_reported = False
        place = start + record.stream_pos + 1
        url = (record.headers.get("WARC-Target-URI") or "").strip("<>")
        if not is_wanted(url):
            continue
        is_text = record.record_type == WarcRecordType.conversion
        try:
            page = _page_of_record(record, url, is_text, max_bytes)
        except Exception:  # cannot be decompressed; the next record may be fine
            page, is_reported = "damaged record", True
        yield page


def _page_of_record(record: Any, url: str, is_text: bool, max_bytes: int) -> RawPage | str:
    declared = record.content_length
    if not is_text:
        record.parse_http(auto_decode="all")
        headers = record.http_headers
        if headers is not None and headers.status_code != 200:
            return f"status {headers.status_code}"
        kind = record.http_content_type or record.headers.get("Content-Type") or ""
        if not kind.startswith(_HTML_TYPES):
            return "not HTML"
        declared = _declared_length(headers)
    data = record.reader.read(max_bytes + 1)
    if len(data) < min(declared, max_bytes + 1):
        return "record cut off"
    return RawPage("text" if is_text else "html", data, url)


def _declared_length(headers: Any) -> int:
    """Return the length given by HTTP headers for an unencoded body, 0 if none."""
    if headers is None or headers.get("Content-Encoding") or headers.get("Transfer-Encoding"):
        return 0
    length = headers.get("Content-Length") or ""
    return int(length) if length.isdigit() else 0


def _next_record(path: Path, place: int) -> int | None:
    """Return the offset of the next readable record, None if there is none."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        is_packed = data[:2] == b"\x1f\x8b"
        if not is_packed and _WARC_RECORD.match(data) is None:
            return None  # zstd and lz4 cannot be read from the middle
        while found := (_GZIP_MEMBER if is_packed else _WARC_RECORD).search(data, place):
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
