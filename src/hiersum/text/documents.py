"""Files, folders and standard input become documents.

A file that a person names must be readable, or there is an error. A folder is read as far as it goes:
what cannot be read in it is handed back as unread, with the reason.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hiersum.config import DataConfig
from hiersum.errors import InputError
from hiersum.text.encodings import clean_text
from hiersum.text.formats import DOCUMENT_SUFFIXES, TEXT_SUFFIXES, extract_text
from hiersum.text.words import count_words
from hiersum.types import Document, Unread

STDIN = "-"
_CLUSTER_LINE = re.compile(r'\s*\[?\s*\{\s*"\w+"\s*:')
# PDF and Word files hold images; a larger one than this is no article.
_MAX_PACKED_BYTES = 500_000_000


def read_documents(
    paths: Sequence[Path | str], config: DataConfig
) -> tuple[list[Document], list[Unread]]:
    """Read files and folders (`-` is standard input) as documents of one cluster.

    Returns:
        The documents, named by their paths, and what was not read, with reasons.

    Raises:
        InputError: a named file is missing or unreadable, or nothing at all could be read.
    """
    documents: list[Document] = []
    unread: list[Unread] = []
    seen: set[Path] = set()
    for given in dict.fromkeys(paths):
        path = _checked_path(given)
        if not os.path.isdir(path):
            _append(documents, unread, path, config)
            seen.add(path.absolute())
            continue
        for file in folder_files(path):
            if file.absolute() in seen:  # named by itself, and again by its folder
                continue
            try:
                _check_kind(file)
                _append(documents, unread, file, config)
            except InputError as error:
                reason = str(error).removeprefix(f"{_shown(file)}: ")
                unread.append(Unread(_shown(file), reason))
    if not documents:
        raise InputError(_nothing_read(paths, unread))
    return documents, unread


def read_document(path: Path, config: DataConfig) -> tuple[Document, Unread | None]:
    """Read one file, or standard input for `-`; also say what part of it was beyond the limit.

    Raises:
        InputError: the file is missing, empty, damaged or not text.
    """
    name = "standard input" if str(path) == STDIN else _shown(path)
    data = _read_bytes(path, name, config.max_document_characters)
    extract = extract_text(data, name, _kind(path), max_characters=config.max_document_characters)
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
    if _kind(path) not in DOCUMENT_SUFFIXES:
        raise InputError(f"{_shown(path)}: not a kind that is read in folders; name it by itself")


def _kind(path: Path) -> str:
    """The suffix that says what a file is, without `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _append(
    documents: list[Document], unread: list[Unread], path: Path, config: DataConfig
) -> None:
    document, part = read_document(path, config)
    documents.append(document)
    if part is not None:
        unread.append(Unread(part.name, part.reason, document=len(documents) - 1))


def _shown(path: Path) -> str:
    """The path as text that any terminal and file can hold."""
    return clean_text(str(path).encode("utf-8", "replace").decode())


def _read_bytes(path: Path, name: str, max_characters: int) -> bytes:
    is_text = path.suffix.lower() in TEXT_SUFFIXES
    # Of plain text only what can be used is read; one byte more tells that there is more.
    limit = (4 * max_characters + 1) if is_text else _MAX_PACKED_BYTES
    try:
        if name == "standard input":
            data = sys.stdin.buffer.read(limit)
        else:
            with path.open("rb") as file:
                data = file.read(limit)
    except FileNotFoundError as error:
        raise InputError(f"{name}: no such file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{name}: cannot be read ({reason})") from error
    if not data:
        raise InputError(f"{name}: the file is empty")
    return data


def _nothing_read(paths: Sequence[Path | str], unread: Sequence[Unread]) -> str:
    shown = ", ".join(_shown(Path(path)) for path in paths)
    if not unread:
        kinds = " ".join(sorted(DOCUMENT_SUFFIXES))
        return f"{shown}: nothing to read in it; put files of these kinds there: {kinds}"
    first = f"{unread[0].name}: {unread[0].reason}"
    return f"{shown}: none of {len(unread)} files could be read; the first, {first}"
