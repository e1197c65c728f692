"""Files, folders and standard input become documents.

A file that a person names must be readable, or there is an error. A folder is read as far as it goes:
what cannot be read in it is handed back as unread, with the reason.
"""

from __future__ import annotations

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
    for path in dict.fromkeys(map(Path, paths)):
        if not path.is_dir():
            _append(documents, unread, path, config)
            seen.add(path.absolute())
            continue
        for file in folder_files(path):
            if file.absolute() in seen:  # named by itself, and again by its folder
                continue
            try:
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
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]] or [""]
    suffix = suffixes[-2] if suffixes[-1] == ".gz" and len(suffixes) > 1 else suffixes[-1]
    extract = extract_text(data, name, suffix, max_characters=config.max_document_characters)
    if not count_words(extract.text[:100_000]):
        raise InputError(f"{name}: there is no text in it")
    unread = None
    if extract.is_cut:
        limit = f"{config.max_document_characters:,}"
        reason = f"only its first {limit} characters were read (data.max_document_characters)"
        unread = Unread(name, reason)
    return Document(extract.text, name, extract.url), unread


def folder_files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder in a fixed order, hidden ones left out."""
    for path in sorted(folder.rglob("*")):
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.is_file() and not is_hidden:
            yield path


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
