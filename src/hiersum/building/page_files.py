"""Source pages from files: web archives, JSON Lines, saved HTML.

    .warc .wet (.gz .zst .lz4)   archives: responses as HTML, conversions as text
    .jsonl (.gz)                 lines {"url": ..., "text" or "html": ...}, optionally with a "title"
    .html .htm .xhtml (.gz)      saved pages, which name their own URL or are stored as HOST/PATH

Damaged records are counted and skipped; reading continues after them.
"""

from __future__ import annotations

import gzip
import hashlib
import mmap
import re
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from hiersum.data.files import read_lines
from hiersum.data.records import parse_json
from hiersum.errors import DataError, MissingDependencyError

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
    """A page as it was found."""

    kind: str
    """`html`, or `text` in UTF-8."""
    data: bytes
    url: str = ""
    """Empty if only the page itself can tell."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class PageFiles:
    """What one worker reads at a time: an archive, a file of lines, or some saved pages."""

    number: int
    kind: str
    paths: tuple[Path, ...]
    root: Path
    """What the user named; HOST/PATH is relative to it."""


@dataclass(frozen=True, slots=True)
class _Filter:
    """Which pages are read."""

    max_bytes: int
    problems: Counter[str]
    """Counts what is dropped, by kind."""
    is_wanted: Callable[[str], bool]


def find_sources(roots: Sequence[Path]) -> list[PageFiles]:
    """Return the files of all sources, always in the same order.

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
            raise DataError(
                f"{root}: no source pages in it; expected .warc .wet .jsonl .html files, or gzip of them"
            )
    return found


def identify(path: Path) -> str:
    """Identify a large file by its name, its size, and a checksum of its first and last megabyte."""
    size = path.stat().st_size
    with path.open("rb") as file:
        digest = hashlib.sha256(file.read(_ENDS_BYTES))
        file.seek(max(size - _ENDS_BYTES, 0))
        digest.update(file.read(_ENDS_BYTES))
    return f"{path.name} {size} {digest.hexdigest()[:16]}"


def read_source(
    files: PageFiles,
    max_bytes: int,
    problems: Counter[str],
    is_wanted: Callable[[str], bool] = lambda url: True,
) -> Iterator[RawPage]:
    """Yield the pages of some files.

    Args:
        files: what to read.
        max_bytes: larger pages are dropped.
        problems: counts what is dropped, by kind.
        is_wanted: tells whether the page of a known URL is needed.
    """
    chosen = _Filter(max_bytes, problems, is_wanted)
    for path in files.paths:
        if files.kind == "archive":
            yield from _read_archive(path, chosen)
        elif files.kind == "lines":
            yield from _read_lines(path, chosen)
        else:
            yield from _read_html(path, files.root, chosen)


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


def _read_lines(path: Path, chosen: _Filter) -> Iterator[RawPage]:
    problems = chosen.problems
    lines = read_lines(path)
    while True:
        try:
            number, line = next(lines)
        except StopIteration:
            return
        except DataError:  # truncated gzip
            problems["file cut off"] += 1
            return
        try:
            record = parse_json(line, f"{path}:{number}")
        except DataError:
            problems["not a line of JSON"] += 1
            continue
        kind = "html" if isinstance(record, dict) and "html" in record else "text"
        if not isinstance(record, dict) or not isinstance(record.get(kind), str):
            problems["line without a text"] += 1
            continue
        url, title = str(record.get("url") or ""), str(record.get("title") or "")
        if not url and kind == "text":
            problems["no address"] += 1
            continue
        data = record[kind].encode("utf-8", "replace")
        if len(data) > chosen.max_bytes:
            problems["too large"] += 1
        elif chosen.is_wanted(url):
            yield RawPage(kind, data, url, title)


def _read_html(path: Path, root: Path, chosen: _Filter) -> Iterator[RawPage]:
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            data = file.read(chosen.max_bytes + 1)
    except (OSError, EOFError, zlib.error):
        chosen.problems["file that cannot be read"] += 1
        return
    if len(data) > chosen.max_bytes:
        chosen.problems["too large"] += 1
        return
    yield RawPage("html", data, _mirrored_url(path, root))


def _mirrored_url(path: Path, root: Path) -> str:
    """Return the URL of a file stored as HOST/PATH, empty if it is not."""
    parts = path.relative_to(root).parts if root.is_dir() else ()
    if len(parts) < 2 or not _HOST.fullmatch(parts[0]):
        return ""
    name = re.sub(r"(?:^|/)index\.x?html?(?:\.gz)?$", "", "/".join(parts[1:]))
    return f"https://{parts[0]}/{name}"


def _read_archive(path: Path, chosen: _Filter) -> Iterator[RawPage]:
    start: int | None = 0
    while start is not None:
        with path.open("rb") as file:
            file.seek(start)
            damage = yield from _read_until_damage(file, start, chosen)
        start = None if damage is None else _next_record(path, damage)


def _read_until_damage(
    file: IO[bytes], start: int, chosen: _Filter
) -> Generator[RawPage, None, int | None]:
    """Yield pages; return where to look for the next record, None at the end of the file."""
    try:
        from fastwarc.warc import ArchiveIterator, WarcRecordType
    except ImportError as error:
        raise MissingDependencyError("reading WARC files", "build") from error
    kinds = WarcRecordType.response | WarcRecordType.resource | WarcRecordType.conversion
    records = ArchiveIterator(file, record_types=kinds, parse_http=False)
    place = start + 1
    is_counted = False
    while True:
        try:
            record = next(records)
        except StopIteration:
            return None
        except Exception:  # fastwarc raises OSError and others, which differ by version
            chosen.problems["damaged record"] += not is_counted
            return place
        is_counted = False
        place = start + record.stream_pos + 1
        url = (record.headers.get("WARC-Target-URI") or "").strip("<>")
        if not chosen.is_wanted(url):
            continue
        is_text = record.record_type == WarcRecordType.conversion
        try:
            page = _page_of(record, url, is_text, chosen)
        except Exception:  # a payload that cannot be decompressed; the next record may be whole
            chosen.problems["damaged record"] += 1
            is_counted = True
            continue
        if page is not None:
            yield page


def _page_of(record: Any, url: str, is_text: bool, chosen: _Filter) -> RawPage | None:
    problems = chosen.problems
    declared = record.content_length
    if not is_text:
        record.parse_http(auto_decode="all")
        headers = record.http_headers
        if headers is not None and headers.status_code != 200:
            problems[f"status {headers.status_code}"] += 1
            return None
        kind = record.http_content_type or record.headers.get("Content-Type") or ""
        if not kind.startswith(_HTML_TYPES):
            problems["not HTML"] += 1
            return None
        declared = _declared_length(headers)
    data = record.reader.read(chosen.max_bytes + 1)
    if len(data) > chosen.max_bytes:
        problems["too large"] += 1
        return None
    if len(data) < declared:
        problems["record cut off"] += 1
        return None
    return RawPage("text" if is_text else "html", data, url)


def _declared_length(headers: Any) -> int:
    """Return the length that HTTP headers give for an unencoded body, 0 if they give none."""
    if headers is None or headers.get("Content-Encoding") or headers.get("Transfer-Encoding"):
        return 0
    length = headers.get("Content-Length") or ""
    return int(length) if length.isdigit() else 0


def _next_record(path: Path, place: int) -> int | None:
    """Return where the next readable record begins, None if there is none."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        is_packed = data[:2] == b"\x1f\x8b"
        if not is_packed and _WARC_RECORD.match(data) is None:
            return None  # zstd and lz4 cannot be entered in the middle
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
