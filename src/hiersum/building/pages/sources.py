"""Where source pages come from: WARC and WET files, JSON Lines, folders of saved HTML.

.warc .wet (.gz .zst .lz4)   web archives: responses as HTML, conversions as text
.jsonl (.gz)                 lines {"url": ..., "text" or "html": ...}, perhaps with a "title"
.html .htm .xhtml            saved pages: a folder of them; each says its address itself, or lies where
                             a mirror would put it (HOST/PATH)
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from hiersum.building.pages.raw import RawPage
from hiersum.building.pages.warc import read_warc
from hiersum.data.files import read_lines
from hiersum.data.records import parse_json
from hiersum.errors import DataError

_ARCHIVE = re.compile(r"\.w(?:arc|et|at)(?:\.(?:gz|zst|lz4))?$", re.I)
_LINES = re.compile(r"\.(?:jsonl|ndjson)(?:\.gz)?$", re.I)
_HTML = re.compile(r"\.(?:html?|xhtml)(?:\.gz)?$", re.I)
_HTML_PER_ITEM = 256
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?", re.I)
_ENDS_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class PageFiles:
    """What one worker reads at a time: one archive, one file of lines, or some saved pages."""

    number: int
    kind: str
    paths: tuple[Path, ...]
    root: Path
    """What the user named; a mirror's paths are counted from here."""


def find_sources(roots: Sequence[Path], *, first_number: int = 0) -> list[PageFiles]:
    """Return the files of all sources, in an order that is always the same.

    Raises:
        DataError: a source is missing, or holds no pages.
    """
    found: list[PageFiles] = []
    for root in roots:
        before = len(found)
        for kind, files in groupby(_files(root), key=lambda path: _kind(path.name)):
            size = _HTML_PER_ITEM if kind == "html" else 1
            paths = list(files)
            for start in range(0, len(paths), size):
                number = first_number + len(found)
                found.append(PageFiles(number, kind, tuple(paths[start : start + size]), root))
        if len(found) == before:
            raise DataError(
                f"{root}: no source pages in it; expected .warc .wet .jsonl .html files, or gzip of them"
            )
    return found


def identify(path: Path) -> str:
    """Say which file this is without reading all of it: archives are large.

    The name, the size, and a checksum of the first and last megabyte.
    """
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
    """Yield the pages of some files; what cannot be read is counted by kind.

    Args:
        files: what to read.
        max_bytes: larger pages are counted and dropped.
        problems: counts what is dropped.
        is_wanted: says of a known address whether its page is needed.
    """
    for path in files.paths:
        if files.kind == "archive":
            yield from read_warc(path, max_bytes, problems, is_wanted)
        elif files.kind == "lines":
            yield from _read_lines(path, max_bytes, problems, is_wanted)
        else:
            yield from _read_html(path, files.root, max_bytes, problems)


def _files(root: Path) -> list[Path]:
    try:
        if root.is_dir():
            files = sorted(path for path in root.rglob("*") if path.is_file() and _kind(path.name))
            return sorted(files, key=lambda path: _kind(path.name))
        root.open("rb").close()
    except FileNotFoundError as error:
        raise DataError(f"{root}: no such file or folder") from error
    except OSError as error:
        raise DataError(f"{root}: cannot be read ({error.strerror})") from error
    return [root] if _kind(root.name) else []


def _kind(name: str) -> str:
    for kind, pattern in (("archive", _ARCHIVE), ("lines", _LINES), ("html", _HTML)):
        if pattern.search(name):
            return kind
    return ""


def _read_lines(
    path: Path, max_bytes: int, problems: Counter[str], is_wanted: Callable[[str], bool]
) -> Iterator[RawPage]:
    lines = read_lines(path)
    while True:
        try:
            number, line = next(lines)
        except StopIteration:
            return
        except DataError:  # gzip that ends too early: what came before is kept
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
        if len(data) > max_bytes:
            problems["too large"] += 1
        elif is_wanted(url):
            yield RawPage(kind, data, url, title)


def _read_html(path: Path, root: Path, max_bytes: int, problems: Counter[str]) -> Iterator[RawPage]:
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except (OSError, EOFError, zlib.error):
        problems["file that cannot be read"] += 1
        return
    if len(data) > max_bytes:
        problems["too large"] += 1
        return
    yield RawPage("html", data, _mirrored(path, root))


def _mirrored(path: Path, root: Path) -> str:
    """Return the address of a mirror's file, HOST/PATH, empty if it lies otherwise."""
    parts = path.relative_to(root).parts if root.is_dir() else ()
    if len(parts) < 2 or not _HOST.fullmatch(parts[0]):
        return ""
    name = re.sub(r"(?:^|/)index\.x?html?(?:\.gz)?$", "", "/".join(parts[1:]))
    return f"https://{parts[0]}/{name}"
