"""A Wikipedia dump cut into chunks that are read apart from each other, without unpacking it.

Dumps are bzip2 files of many streams (a hundred pages each), which can be read from any stream on; a
plain .xml file can be read from anywhere. A chunk owns the pages whose `<page>` begins in it, and reads
on beyond its end to finish the last one: so it does not matter where a packer cut. Where a stream is
damaged, what is left of it is skipped, and reading goes on with the next.
"""

from __future__ import annotations

import bz2
import mmap
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from hiersum.errors import DataError

CHUNK_BYTES = 8_000_000
"""Of the file as it lies there: about a minute of work, and what a killed run has to do again."""
MAX_PAGE_BYTES = 20_000_000
_READ_BYTES = 1 << 18
_STREAM = re.compile(rb"BZh[1-9]1AY&SY")  # a stream's header and its first block's: 80 bits
_BZIP2 = b"BZh"
_OPEN, _CLOSE = b"<page>", b"</page>"


@dataclass(frozen=True, slots=True)
class DumpChunk:
    """Some bytes of a dump file."""

    number: int
    path: Path
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class WikiPage:
    """A page as the dump has it."""

    id: str
    title: str
    namespace: int
    text: str
    is_redirect: bool


def chunks_of(paths: Sequence[Path], chunk_bytes: int = CHUNK_BYTES) -> list[DumpChunk]:
    """Cut dump files into chunks.

    Raises:
        DataError: a file is missing, empty or neither bzip2 nor XML.
    """
    chunks: list[DumpChunk] = []
    for path in paths:
        starts = _starts(path, chunk_bytes)
        size = path.stat().st_size
        for start, end in zip(starts, [*starts[1:], size]):
            chunks.append(DumpChunk(len(chunks), path, start, end))
    return chunks


def read_pages(chunk: DumpChunk, problems: Counter[str]) -> Iterator[WikiPage]:
    """Yield the pages that a chunk owns.

    Args:
        chunk: what to read.
        problems: counts what could not be read, by kind.
    """
    for data in _page_elements(chunk, problems):
        try:
            yield _parsed(data)
        except (ElementTree.ParseError, ValueError, AttributeError):
            problems["damaged page in the dump"] += 1


def _starts(path: Path, chunk_bytes: int) -> list[int]:
    """Return the places where chunks begin: for bzip2, at streams."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            head = data[:1024]
            if head.startswith(_BZIP2):
                starts: list[int] = []
                place = 0
                while found := _STREAM.search(data, place):
                    starts.append(found.start())
                    place = max(found.end(), found.start() + chunk_bytes)
                return starts or [0]
            if b"<mediawiki" in head or b"<page>" in head:
                return list(range(0, len(data), 4 * chunk_bytes))
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        reason = getattr(error, "strerror", None) or "it is empty"
        raise DataError(f"{path}: cannot be read ({reason})") from error
    raise DataError(f"{path}: not a Wikipedia dump; expected pages-articles .xml.bz2 or .xml")


def _page_elements(chunk: DumpChunk, problems: Counter[str]) -> Iterator[bytes]:
    """Yield `<page>...</page>` of every page that begins in the chunk."""
    buffer = b""
    is_past_end = False
    for piece, begins_past_end in _pieces(chunk, problems):
        if piece is None:  # something is missing here: what was begun cannot be ended
            problems["page cut off by damage"] += buffer.startswith(_OPEN)
            buffer = b""
            if begins_past_end:
                return
            continue
        if begins_past_end and not is_past_end:
            # From here on only a page is finished whose beginning lies before.
            is_past_end = True
            begun = buffer.rfind(_OPEN)
            if begun < 0:  # but the tag itself may be torn
                begun = _torn_tag(buffer, piece)
            if begun < 0:
                return
            buffer = buffer[begun:]
        buffer += piece
        while (end := buffer.find(_CLOSE)) >= 0:
            start = buffer.rfind(_OPEN, 0, end)
            if start >= 0:
                yield buffer[start : end + len(_CLOSE)]
            buffer = buffer[end + len(_CLOSE) :]
            if is_past_end:
                return
        if len(buffer) > MAX_PAGE_BYTES:
            problems["page in the dump too large"] += 1
            buffer = b""
        elif (start := buffer.find(_OPEN)) > 0:
            buffer = buffer[start:]
        elif start < 0:
            buffer = buffer[-len(_OPEN) :]
    problems["page cut off by damage"] += buffer.startswith(_OPEN)


def _torn_tag(before: bytes, after: bytes) -> int:
    for length in range(min(len(_OPEN) - 1, len(before)), 0, -1):
        if before.endswith(_OPEN[:length]) and after.startswith(_OPEN[length:]):
            return len(before) - length
    return -1


def _pieces(chunk: DumpChunk, problems: Counter[str]) -> Iterator[tuple[bytes | None, bool]]:
    """Yield the unpacked bytes from a chunk's start on, and whether they lie beyond its end.

    None stands for bytes that could not be unpacked.
    """
    with chunk.path.open("rb") as file:
        file.seek(chunk.start)
        if not _is_bzip2(chunk.path):
            left = chunk.end - chunk.start
            while piece := file.read(min(_READ_BYTES, left) if left > 0 else _READ_BYTES):
                yield piece, left <= 0
                left -= len(piece)
            return
        next_place: int | None = chunk.start
        while (place := next_place) is not None:
            file.seek(place)
            begins_past_end = place >= chunk.end
            unpacker = bz2.BZ2Decompressor()
            read = 0
            try:
                while not unpacker.eof:
                    packed = file.read(_READ_BYTES)
                    if not packed:
                        problems["dump file cut off"] += not begins_past_end
                        yield None, begins_past_end
                        return
                    read += len(packed)
                    yield unpacker.decompress(packed), begins_past_end
                next_place = _next_stream(chunk.path, place + read - len(unpacker.unused_data))
            except OSError:
                problems["damaged stream in the dump"] += not begins_past_end
                yield None, begins_past_end
                next_place = _next_stream(chunk.path, place + 1)


def _is_bzip2(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(3) == _BZIP2


def _next_stream(path: Path, place: int) -> int | None:
    """Return where the next stream begins, None at the end of the file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        found = _STREAM.search(data, place)
        return None if found is None else found.start()


def _parsed(data: bytes) -> WikiPage:
    page = ElementTree.fromstring(data)

    def text_of(element: Any, name: str) -> str:
        return (element.findtext(name) or "") if element is not None else ""

    title = text_of(page, "title").strip()
    if not title:
        raise ValueError("a page without a title")
    return WikiPage(
        id=text_of(page, "id").strip() or title,
        title=title,
        namespace=int(text_of(page, "ns") or 0),
        text=text_of(page.find("revision"), "text"),
        is_redirect=page.find("redirect") is not None,
    )
