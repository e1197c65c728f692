"""Read and order the articles of a Wikipedia dump, in parallel and without unpacking it.

Dumps are bzip2 files of many streams (a hundred pages each) that can be read from any stream on; a
plain .xml file can be read from anywhere. A chunk owns the pages whose `<page>` begins in it, and
reads past its end to finish the last one.

    articles/00000.arrow    the articles of one chunk: id, title, lead, urls
    articles/00000.npz      hashes of titles, keys of URLs, hashes of title words
    articles/00000.json     the number of skipped pages, by reason; written last
    order.npy               all articles, each title once: split, hash, chunk, row

The hash of its title determines an article's split and position, independent of the dump, the
number of workers and the other articles.
"""

from __future__ import annotations

import bz2
import mmap
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from hiersum.building.clusters import Article
from hiersum.building.guard import Guard, Limits
from hiersum.building.lookup import Keys, hash_words, key_of, title_hash
from hiersum.building.wikitext import read_article
from hiersum.building.workplace import (
    RowStore,
    Tally,
    Workplace,
    save_array,
    save_arrays,
    write_rows,
)
from hiersum.data.files import write_json
from hiersum.errors import DataError

CHUNK_BYTES = 8_000_000
"""Compressed size of a chunk: about a minute of work, the most a killed run repeats."""
MAX_PAGE_BYTES = 20_000_000
_READ_BYTES = 1 << 18
_STREAM = re.compile(rb"BZh[1-9]1AY&SY")  # header of a stream and its first block: 80 bits
_BZIP2 = b"BZh"
_OPEN, _CLOSE = b"<page>", b"</page>"
_ORDER = np.dtype([("split", "u1"), ("hash", "u8"), ("chunk", "u4"), ("row", "u4")])


@dataclass(frozen=True, slots=True)
class DumpChunk:
    """A byte range of a dump file."""

    number: int
    path: Path
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class WikiPage:
    """A page of a dump."""

    id: str
    title: str
    namespace: int
    text: str
    is_redirect: bool


def chunks_of(paths: Sequence[Path], chunk_bytes: int = CHUNK_BYTES) -> list[DumpChunk]:
    """Cut dump files into chunks."""
    chunks: list[DumpChunk] = []
    for path in paths:
        starts = _starts(path, chunk_bytes)
        size = path.stat().st_size
        for start, end in zip(starts, [*starts[1:], size]):
            chunks.append(DumpChunk(len(chunks), path, start, end))
    return chunks


def read_pages(chunk: DumpChunk, problems: Counter[str]) -> Iterator[WikiPage]:
    """Yield the pages of a chunk; problems are counted by kind."""
    for data in _page_elements(chunk, problems):
        try:
            yield _parsed(data)
        except (ElementTree.ParseError, ValueError):
            problems["damaged page in the dump"] += 1


def _starts(path: Path, chunk_bytes: int) -> list[int]:
    """Return the start offsets of chunks; in bzip2, these are streams."""
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
    begin = 0  # where the buffer begins in the unpacked text
    limit: int | None = None  # where the chunk ends there, once that is known
    for piece, is_past_end in _pieces(chunk):
        if is_past_end and limit is None:
            limit = begin + len(buffer)
        buffer += piece
        while (close := buffer.find(_CLOSE)) >= 0:
            start, end = buffer.rfind(_OPEN, 0, close), close + len(_CLOSE)
            if limit is not None and (start < 0 or begin + start >= limit):
                return
            if start >= 0:
                yield buffer[start:end]
            buffer, begin = buffer[end:], begin + end
        start = buffer.find(_OPEN)
        if len(buffer) > MAX_PAGE_BYTES:
            problems["page in the dump too large"] += 1
            start = len(buffer)
        elif start < 0:
            start = max(len(buffer) - len(_OPEN), 0)  # the tag itself may be split between pieces
        buffer, begin = buffer[start:], begin + start
        if limit is not None and begin >= limit:
            return
    if buffer.startswith(_OPEN):
        raise _damaged(chunk.path)


def _pieces(chunk: DumpChunk) -> Iterator[tuple[bytes, bool]]:
    """Yield unpacked bytes from a chunk's start on, and whether they lie past its end."""
    unpacker = bz2.BZ2Decompressor()
    with chunk.path.open("rb") as file:
        is_packed = file.read(len(_BZIP2)) == _BZIP2
        file.seek(chunk.start)
        left = chunk.end - chunk.start
        while data := file.read(min(_READ_BYTES, left) if left > 0 else _READ_BYTES):
            is_past_end = left <= 0
            left -= len(data)
            if not is_packed:
                yield data, is_past_end
                continue
            while data:
                if unpacker.eof:
                    unpacker = bz2.BZ2Decompressor()
                try:
                    yield unpacker.decompress(data), is_past_end
                except OSError as error:
                    raise _damaged(chunk.path) from error
                data = unpacker.unused_data
    if is_packed and not unpacker.eof:
        raise _damaged(chunk.path)


def _damaged(path: Path) -> DataError:
    return DataError(f"{path}: damaged or cut off; check its checksum or download it again")


def _parsed(data: bytes) -> WikiPage:
    page = ElementTree.fromstring(data)
    title = page.findtext("title", "").strip()
    if not title:
        raise ValueError("a page without a title")
    return WikiPage(
        id=page.findtext("id", "").strip() or title,
        title=title,
        namespace=int(page.findtext("ns") or 0),
        text=page.findtext("revision/text", ""),
        is_redirect=page.find("redirect") is not None,
    )


def read_chunk(chunk: DumpChunk, *, place: Workplace, limits: Limits) -> None:
    """Write the articles of a chunk, then the tally of what was skipped."""
    import pyarrow as pa

    text = pa.string()
    schema = pa.schema({"id": text, "title": text, "lead": text, "urls": pa.list_(text)})
    tally: Tally = Counter()
    problems: Counter[str] = Counter()
    titles: list[str] = []
    urls: set[int] = set()

    def rows(extract: Guard) -> Iterator[dict[str, Any]]:
        for page in read_pages(chunk, problems):
            tally["pages of the dump"] += 1
            found = _article(page, extract, limits)
            if "dropped" in found:
                problems[found["dropped"]] += 1
                continue
            tally["articles"] += 1
            titles.append(page.title)
            urls.update(map(key_of, found["urls"]))
            yield {"id": page.id, "title": page.title, **found}

    with Guard(f"{__name__}:{read_wikitext.__name__}", limits) as guard:
        path = place.part("articles", chunk.number, "arrow")
        write_rows(rows(guard), schema, path, is_packed=True)
    save_arrays(
        place.part("articles", chunk.number, "npz"),
        titles=np.array([title_hash(title) for title in titles], np.uint64),
        urls=np.array(sorted(urls - {0}), np.uint64),
        words=hash_words(titles),
    )
    tally.update({f"skipped: {kind}": count for kind, count in (+problems).items()})
    write_json(place.part("articles", chunk.number, "json"), tally)


def read_wikitext(facts: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    """Return what `read_article` returns; runs under a guard."""
    return read_article(facts["title"], data.decode("utf-8", "surrogatepass"))


def _article(page: WikiPage, extract: Guard, limits: Limits) -> dict[str, Any]:
    if page.namespace != 0:
        return {"dropped": "no article"}
    if page.is_redirect:
        return {"dropped": "redirect"}
    data = page.text.encode("utf-8", "surrogatepass")
    if len(data) > limits.page_bytes:
        return {"dropped": "too large"}
    return extract({"title": page.title}, data)


def arrays_of(place: Workplace, num_chunks: int, name: str) -> Iterator[Keys]:
    """Yield the `titles`, `urls` or `words` of each chunk."""
    for chunk in range(num_chunks):
        with np.load(place.part("articles", chunk, "npz")) as file:
            yield file[name]


def put_in_order(place: Workplace, num_chunks: int, valid_share: float, test_share: float) -> int:
    """Order all articles by split and hash, each title once; return their number."""
    parts = [np.zeros(0, _ORDER)]
    for chunk, hashes in enumerate(arrays_of(place, num_chunks, "titles")):
        part = np.zeros(len(hashes), _ORDER)
        part["hash"], part["chunk"], part["row"] = hashes, chunk, np.arange(len(hashes))
        parts.append(part)
    articles = np.concatenate(parts)
    _, first = np.unique(articles["hash"], return_index=True)
    kept = articles[first]
    share = kept["hash"] / 2.0**64
    kept["split"] = np.select([share < valid_share, share < valid_share + test_share], [1, 2])
    kept = np.sort(kept, order=("split", "hash"))
    save_array(kept, place.folder / "order.npy")
    return len(kept)


class CitingArticles:
    """The articles of a dump, in order."""

    def __init__(self, place: Workplace) -> None:
        self._order = np.load(place.folder / "order.npy", mmap_mode="r")
        self._open = lru_cache(maxsize=256)(
            lambda chunk: RowStore(place.part("articles", chunk, "arrow"))
        )

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, number: int) -> Article:
        entry = self._order[number]
        row = self._open(int(entry["chunk"]))[int(entry["row"])]
        return Article(row["id"], row["title"], row["lead"], urls=tuple(row["urls"]))
