"""Read documents from files, folders and standard input; apply limits and language.

A file named by the user must be readable. Unreadable files in folders are reported as unread, with
the reason.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from hiersum.config import DataConfig
from hiersum.errors import InputError
from hiersum.text.encodings import clean_text
from hiersum.text.formats import DOCUMENT_SUFFIXES, extract_text, kind_of, named_kind
from hiersum.text.labels import STANDARD_INPUT
from hiersum.text.languages import UNKNOWN, detect_language, main_language
from hiersum.text.words import has_words
from hiersum.types import Document, Paragraph, Unread

MAX_CHARACTERS = 5_000_000
"""Characters read of one document."""
_STDIN = "-"
_MAX_PATH = 1_000
_TEXT_FIELDS = ("text", "page_content", "get_content", "content", "body", "article", "document")
_NAME_FIELDS = ("name", "title", "file_name", "source", "file_path", "path", "id")
_IS_ADDRESS = re.compile(r"https?:/")
_CLUSTER_LINE = re.compile(r'\s*\[?\s*\{\s*"\w+"\s*:')
# For PDF and Word files, which hold images, and for gzip.
_MAX_PACKED_BYTES = 500_000_000
_SNIFFED_BYTES = 1 << 16


def read_documents(
    paths: Sequence[Path | str], config: DataConfig, *, as_found: bool = False
) -> tuple[list[Document], list[Unread]]:
    """Read files and folders (`-` is standard input) as documents of one cluster.

    Also return what was not read, with reasons. `as_found` treats named files like those found in a
    folder: unreadable ones are skipped.
    """
    documents: list[Document] = []
    unread: list[Unread] = []
    for path, folder in _files(paths):
        is_named = folder is None and not as_found
        if len(documents) == config.max_documents:
            unread.append(Unread(_shown(path), _beyond(config)))
            continue
        try:
            if not is_named:
                _check_kind(path, folder)
            document, rest = read_document(path)
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
    given: Iterable[Any], config: DataConfig
) -> tuple[list[Document], list[Unread]]:
    """Return documents from Python values, alone or in a list or table.

    A string is a text and a `Path` is read. Others are known by their shape: rows of `datasets` and
    other mappings, documents of LangChain and LlamaIndex, data frames with a column of texts.
    """
    if hasattr(given, "columns") and hasattr(given, "to_dict"):
        given = given.to_dict("records")  # a data frame
    elif isinstance(given, Mapping) and any(isinstance(given.get(f), list) for f in _TEXT_FIELDS):
        given = [dict(zip(given, row)) for row in zip(*given.values())]  # a slice of `datasets`
    elif isinstance(given, (str, Path, Document, Mapping)) or _find(given, _TEXT_FIELDS):
        given = [given]
    if not isinstance(given, Iterable):
        raise InputError(f"documents must be a list of texts or paths, got {given!r}")
    documents: list[Document] = []
    unread: list[Unread] = []
    for item in given:
        if isinstance(item, Document):
            documents.append(item)
        elif isinstance(item, str):
            _refuse_path(item, len(documents) + 1)
            documents.append(Document(item, name=f"document {len(documents) + 1}"))
        elif isinstance(item, Path):
            found, missed = read_documents([item], config)
            for part in missed:
                index = None if part.document is None else part.document + len(documents)
                unread.append(replace(part, document=index))
            documents += found
        else:
            documents.append(_shaped(item, len(documents) + 1))
    return documents, unread


def _refuse_path(text: str, number: int) -> None:
    """Refuse a string that names a file or folder here: its name is not what was meant."""
    if len(text) < _MAX_PATH and os.path.exists(text):
        raise InputError(
            f"document {number} is the name of a file or folder, but a string is read as a text; "
            f"give pathlib.Path({text!r}), or what is in it"
        )


def _shaped(item: Any, number: int) -> Document:
    """Return the document in a mapping or in another library's object."""
    if hasattr(item, "iloc"):
        item = item.to_dict()  # a row of a data frame, whose own `name` is its number
    text = _find(item, _TEXT_FIELDS)
    if not text:
        raise InputError(
            f"document {number} must be text, a Path, a Document, or have one of the fields "
            f"{', '.join(_TEXT_FIELDS)}, got {item!r:.200}"
        )
    is_mapping = isinstance(item, Mapping)
    about = (item.get("metadata") if is_mapping else getattr(item, "metadata", None)) or item
    name = _find(about, _NAME_FIELDS) or _find(item, _NAME_FIELDS) or f"document {number}"
    if page := _find(about, ("page_label",)):  # LangChain makes each page of a PDF a document
        name += f", page {page}"
    url = _find(about, ("url", "link"))
    return Document(text, name, url or (name if _IS_ADDRESS.match(name) else ""))


def _find(item: Any, fields: Iterable[str]) -> str:
    """Return the first of these fields or attributes that is a text."""
    for field in fields:
        value = item.get(field) if isinstance(item, Mapping) else getattr(item, field, None)
        if callable(value):
            value = value()  # LlamaIndex: get_content()
        if isinstance(value, str) and value:
            return value
    return ""


def _files(paths: Sequence[Path | str]) -> Iterator[tuple[Path, Path | None]]:
    """Yield each file once, and the folder it was found in; None if it was named itself."""
    seen: set[Path] = set()
    for given in dict.fromkeys(paths):
        path = _checked_path(given)
        is_folder = os.path.isdir(path)  # unlike Path.is_dir, this never raises
        for file in folder_files(path) if is_folder else [path]:
            if file.absolute() not in seen:
                seen.add(file.absolute())
                yield file, path if is_folder else None


def read_document(path: Path) -> tuple[Document, Unread | None]:
    """Read one file, or standard input for `-`; also return what was cut off at the limit."""
    name = STANDARD_INPUT if str(path) == _STDIN else _shown(path)
    data = _read_bytes(path, name, MAX_CHARACTERS)
    return document_of(data, name, kind_of(path))


def document_of(data: bytes, name: str, suffix: str) -> tuple[Document, Unread | None]:
    """Return the document in a file's bytes, and what was cut off at the limit."""
    extract = extract_text(data, name, suffix, max_characters=MAX_CHARACTERS)
    if _CLUSTER_LINE.match(extract.text):
        raise InputError(f"{name}: this is JSON; if it holds clusters, name it .jsonl or .json")
    if not has_words(extract.text[:100_000]):
        hint = "; its pages may be scanned; run OCR on it first" if b"%PDF-" in data[:9] else ""
        raise InputError(f"{name}: contains no text{hint}")
    unread = Unread(name, _cut_off()) if extract.is_cut else None
    return Document(extract.text, name, extract.url), unread


def folder_files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder in a fixed order, without hidden ones.

    A folder that cannot be listed is yielded itself, so that it can be reported.
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
    if _IS_ADDRESS.match(text):
        raise InputError(f"{text}: hiersum reads files only; save the page and give its file")
    return Path(given)


def _check_kind(path: Path, folder: Path | None) -> None:
    """Refuse an entry of a folder that is not a regular file of a known kind within it."""
    if path.is_dir():
        reason = "a link to a folder" if path.is_symlink() else "the folder cannot be entered"
        raise InputError(f"{_shown(path)}: {reason}")
    if not path.is_file():
        reason = "not a regular file" if os.path.lexists(path) else "no such file any more"
        raise InputError(f"{_shown(path)}: {reason}")
    if folder and path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
        reason = "a link to a file outside the folder; name it explicitly"
        raise InputError(f"{_shown(path)}: {reason}")
    if what := named_kind(kind_of(path)):
        raise InputError(f"{_shown(path)}: this is {what}")
    if kind_of(path) not in DOCUMENT_SUFFIXES:
        raise InputError(
            f"{_shown(path)}: not a file type that is read from folders; name it explicitly"
        )


def _shown(path: Path) -> str:
    """Return the path as one line of printable text."""
    return clean_text(str(path).encode("utf-8", "replace").decode()).replace("\n", " ")


def _read_bytes(path: Path, name: str, max_characters: int) -> bytes:
    try:
        with _open(path, name) as file:
            start = file.read(_SNIFFED_BYTES)
            # Read one extra byte to detect that the text was cut.
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
    if str(path) != _STDIN:
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


def choose_documents(
    documents: Sequence[Document], config: DataConfig
) -> tuple[list[Document], list[Unread]]:
    """Apply limits and language to documents and clean their text; also return what was dropped.

    Dropped documents stay in the list without text, so that indices remain valid.
    """
    wanted = config.language
    if wanted == "any" or (wanted == "auto" and len(documents) == 1):
        languages = [UNKNOWN] * len(documents)
    else:
        languages = [detect_language(document.text) for document in documents]
    if wanted == "auto":
        wanted = main_language(languages, [len(document.text) for document in documents])
    chosen: list[Document] = []
    unread: list[Unread] = []
    for number, (document, language) in enumerate(zip(documents, languages)):
        reason = ""
        if number >= config.max_documents:
            reason = _beyond(config)
        elif UNKNOWN not in (wanted, language) and language != wanted:
            reason = (
                f"its language is {language}, not {wanted} (read all with --set data.language=any)"
            )
        if reason:
            chosen.append(Document("", document.name, document.url))
        else:
            chosen.append(_cleaned(document))
            if len(document.text) > MAX_CHARACTERS:
                reason = _cut_off()
        if reason:
            unread.append(Unread(document.display_name(number), reason, number))
    return chosen, unread


def find_passed_over(
    documents: Sequence[Document],
    paragraphs: Iterable[Paragraph],
    unread: Sequence[Unread],
    *,
    on_topic_only: bool = False,
) -> list[Unread]:
    """Return the documents with no used paragraph."""
    reason = "none of its paragraphs was needed"
    if on_topic_only:
        reason += (
            "; documents that hardly mention the title are skipped "
            "(read them with --set data.on_topic_only=false)"
        )
    known = {part.document for part in unread}
    known |= {place.document for paragraph in paragraphs for place in paragraph.places}
    return [
        Unread(document.display_name(number), reason, number)
        for number, document in enumerate(documents)
        if number not in known
    ]


def nothing_to_read(unread: Sequence[Unread]) -> str:
    """Return the error message if no document can be summarized."""
    if unread:
        return f"no document could be read; the first, {unread[0].name}: {unread[0].reason}"
    return "there is no text in the documents"


def _cleaned(document: Document) -> Document:
    """Return the beginning of a document with clean text."""
    if document.paragraphs is None:
        text = clean_text(document.text[:MAX_CHARACTERS])
        # What was read from files is clean already, and thousands of copies take memory.
        return document if text == document.text else replace(document, text=text)
    kept: list[str] = []
    room = MAX_CHARACTERS
    for paragraph in document.paragraphs:
        kept.append(clean_text(paragraph[: max(room, 0)]))
        room -= len(paragraph)
    return Document.from_paragraphs(kept, document.name, document.url)


def _beyond(config: DataConfig) -> str:
    limit = config.max_documents
    return f"beyond the first {limit} documents (read more with --set data.max_documents=N)"


def _cut_off() -> str:
    return f"only its first {MAX_CHARACTERS:,} characters were read"
