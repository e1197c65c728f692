"""Files, folders and standard input become documents.

A file that a person names must be readable, or there is an error. A folder is read as far as it goes:
what cannot be read in it is handed back as unread, with the reason.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO

from hiersum.config import DataConfig
from hiersum.errors import InputError
from hiersum.text.encodings import clean_text
from hiersum.text.formats import DOCUMENT_SUFFIXES, extract_text, kind_of
from hiersum.text.words import count_words
from hiersum.types import Document, Unread

STDIN = "-"
_CLUSTER_LINE = re.compile(r'\s*\[?\s*\{\s*"\w+"\s*:')
# PDF and Word files hold images; a larger one than this is no article.
_MAX_PACKED_BYTES = 500_000_000
_SNIFFED_BYTES = 1 << 16


def read_documents(
    paths: Sequence[Path | str], config: DataConfig, *, as_found: bool = False
) -> tuple[list[Document], list[Unread]]:
    """Read files and folders (`-` is standard input) as documents of one cluster.

    Args:
        paths: what to read.
        config: limits.
        as_found: treat the files like those of a folder: what cannot be read is left out.

    Returns:
        The documents, named by their paths, and what was not read, with reasons.

    Raises:
        InputError: a named file is missing or unreadable, or nothing at all could be read.
    """
    documents: list[Document] = []
    unread: list[Unread] = []
    for path, is_named in _files(paths, as_found):
        if len(documents) == config.max_documents:
            limit = f"beyond the first {config.max_documents} documents (data.max_documents)"
            unread.append(Unread(_shown(path), limit))
            continue
        try:
            if not is_named:
                _check_kind(path)
            document, rest = read_document(path, config)
        except InputError as error:
            if is_named:
                raise
            unread.append(Unread(_shown(path), str(error).removeprefix(f"{_shown(path)}: ")))
            continue
        documents.append(document)
        if rest is not None:
            unread.append(replace(rest, document=len(documents) - 1))
    if not documents:
        raise InputError(_nothing_read(paths, unread))
    return documents, unread


def gather_documents(
    given: Sequence[str | Path | Document], config: DataConfig
) -> tuple[list[Document], list[Unread]]:
    """Return what a program hands in as documents: a string is a text, a `Path` is read.

    Raises:
        InputError: something is neither, or a file cannot be read.
    """
    if isinstance(given, (str, Path, Document)):
        given = [given]
    if not isinstance(given, Iterable):
        raise InputError(f"documents must be a list of texts or paths, got {given!r}")
    documents: list[Document] = []
    unread: list[Unread] = []
    for item in given:
        if isinstance(item, Document):
            documents.append(item)
        elif isinstance(item, str):
            documents.append(Document(item, name=f"document {len(documents) + 1}"))
        elif isinstance(item, Path):
            found, missed = read_documents([item], config)
            unread += [_shifted(part, len(documents)) for part in missed]
            documents += found
        else:
            raise InputError(f"a document must be text, a Document or a Path, got {item!r}")
    return documents, unread


def _shifted(unread: Unread, offset: int) -> Unread:
    return unread if unread.document is None else replace(unread, document=unread.document + offset)


def _files(paths: Sequence[Path | str], as_found: bool) -> Iterator[tuple[Path, bool]]:
    """Yield each file once, and whether it was named by itself."""
    seen: set[Path] = set()
    for given in dict.fromkeys(paths):
        path = _checked_path(given)
        is_folder = os.path.isdir(path)  # unlike Path.is_dir, this never raises
        for file in folder_files(path) if is_folder else [path]:
            if file.absolute() not in seen:
                seen.add(file.absolute())
                yield file, not (is_folder or as_found)


def read_document(path: Path, config: DataConfig) -> tuple[Document, Unread | None]:
    """Read one file, or standard input for `-`; also say what part of it was beyond the limit.

    Raises:
        InputError: the file is missing, empty, damaged or not text.
    """
    name = "standard input" if str(path) == STDIN else _shown(path)
    data = _read_bytes(path, name, config.max_document_characters)
    return document_of(data, name, kind_of(path), config)


def document_of(
    data: bytes, name: str, suffix: str, config: DataConfig
) -> tuple[Document, Unread | None]:
    """Return the document in a file's bytes, and what part of it was beyond the limit.

    Args:
        data: the content of the file.
        name: what to call it.
        suffix: the end of the file's name, such as `.md`; may be empty.
        config: limits.

    Raises:
        InputError: the bytes are damaged, or there is no text in them.
    """
    extract = extract_text(data, name, suffix, max_characters=config.max_document_characters)
    if _CLUSTER_LINE.match(extract.text):
        raise InputError(
            f"{name}: this is JSON, perhaps clusters; give it as a .jsonl or .json file"
        )
    if not count_words(extract.text[:100_000]):
        raise InputError(f"{name}: there is no text in it")
    unread = None
    if extract.is_cut:
        limit = f"{config.max_document_characters:,}"
        reason = f"only its first {limit} characters were read (data.max_document_characters)"
        unread = Unread(name, reason)
    return Document(extract.text, name, extract.url), unread


def folder_files(folder: Path) -> Iterator[Path]:
    """Yield what lies below a folder in a fixed order, hidden files and folders left out.

    A folder that cannot be entered is yielded itself, so that it is not passed over in silence.
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        yield folder
        return
    for path in (folder / name for name in names if not name.startswith(".")):
        if path.is_dir() and not path.is_symlink():
            yield from folder_files(path)
        else:
            yield path


def _checked_path(given: Path | str) -> Path:
    text = str(given)
    if not text:
        raise InputError("a file name is empty; give a file, a folder, or - for standard input")
    if re.match(r"https?:/", text):
        raise InputError(f"{text}: hiersum reads files only; save the page and give its file")
    return Path(given)


def _check_kind(path: Path) -> None:
    """Refuse, within a folder, what is not a regular file of a kind that holds documents."""
    if path.is_dir():
        reason = "a link to a folder" if path.is_symlink() else "the folder cannot be entered"
        raise InputError(f"{_shown(path)}: {reason}")
    if not path.is_file():
        raise InputError(f"{_shown(path)}: not a regular file")
    if kind_of(path) not in DOCUMENT_SUFFIXES:
        raise InputError(f"{_shown(path)}: not a kind that is read in folders; name it by itself")


def _shown(path: Path) -> str:
    """The path as one line of text that any terminal and file can hold."""
    return clean_text(str(path).encode("utf-8", "replace").decode()).replace("\n", " ")


def _read_bytes(path: Path, name: str, max_characters: int) -> bytes:
    try:
        with _open(path, name) as file:
            start = file.read(_SNIFFED_BYTES)
            # Of text only what can be used is read; one byte more tells that there is more.
            is_packed = start.startswith((b"%PDF-", b"PK\x03\x04", b"\x1f\x8b"))
            limit = _MAX_PACKED_BYTES if is_packed else 4 * max_characters + 1
            data = start + file.read(max(0, limit - len(start)))
    except FileNotFoundError as error:
        raise InputError(f"{name}: no such file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{name}: cannot be read ({reason})") from error
    if not data:
        raise InputError(f"{name}: the file is empty")
    return data


def _open(path: Path, name: str) -> AbstractContextManager[IO[bytes]]:
    if str(path) != STDIN:
        mode = path.stat().st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise InputError(f"{name}: a device, not a file")
        return path.open("rb")
    if sys.stdin is None:
        raise InputError("standard input is closed; give a file")
    return nullcontext(sys.stdin.buffer)


def _nothing_read(paths: Sequence[Path | str], unread: Sequence[Unread]) -> str:
    shown = ", ".join(_shown(Path(path)) for path in paths)
    if not unread:
        kinds = " ".join(sorted(DOCUMENT_SUFFIXES))
        return f"{shown}: nothing to read in it; put files of these kinds there: {kinds}"
    first = f"{unread[0].name}: {unread[0].reason}"
    return f"{shown}: none of {len(unread)} files could be read; the first, {first}"
