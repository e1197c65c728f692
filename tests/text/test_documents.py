"""Files and folders are read as documents; a named file must be readable, a folder as far as it goes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest
from support import make_pdf, without_bytes

from hiersum.config import DataConfig
from hiersum.errors import InputError
from hiersum.text.documents import (
    choose_documents,
    find_passed_over,
    gather_documents,
    read_document,
    read_documents,
)
from hiersum.types import Document, Paragraph, Unread

PROSE = "The harbour bridge reopened on Monday after eleven months of repairs."
MORE = "Engineers replaced 212 cables of the bridge."
Write = Callable[..., Path]
CONFIG = DataConfig()
ENGLISH = (
    "The harbour bridge reopened on Monday after eleven months of repairs, and it was full. " * 2
)
GERMAN = "Die Hafenbrücke wurde am Montag nach elf Monaten wieder für den Verkehr geöffnet. " * 2


def test_read_documents_reads_a_folder_in_order_without_hidden_files(
    write: Write, tmp_path: Path
) -> None:
    for name in ("b.txt", "a.md", "sub/c.html", ".hidden.txt", ".git/x.txt"):
        write(name, PROSE)
    documents, unread = read_documents([tmp_path], CONFIG)
    assert [Path(d.name).name for d in documents] == ["a.md", "b.txt", "c.html"]
    assert unread == []


def test_read_documents_reports_unread_files_of_a_folder(write: Write, tmp_path: Path) -> None:
    write("a.txt", PROSE)
    write("b.png", b"\x89PNG\r\n")
    write("c.txt", "")
    documents, unread = read_documents([tmp_path], CONFIG)
    assert len(documents) == 1
    assert [(Path(u.name).name, u.reason) for u in unread] == [
        ("b.png", "this is an image; hiersum reads text only"),
        ("c.txt", "the file is empty"),
    ]


def test_read_documents_reads_a_file_named_twice_once(write: Write, tmp_path: Path) -> None:
    path = write("a.txt", PROSE)
    assert len(read_documents([path, path, tmp_path], CONFIG)[0]) == 1


def test_read_documents_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PROSE.encode())))
    document, _ = read_document(Path("-"))
    assert (document.name, document.text) == ("standard input", PROSE)


def test_read_documents_reports_where_a_long_document_is_cut(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hiersum.text.documents.MAX_CHARACTERS", 200)
    path = write("long.txt", "One line of text.\n" * 100)
    documents, unread = read_documents([path], CONFIG)
    assert len(documents[0].text) <= 200
    assert "only its first 200 characters were read" in unread[0].reason
    assert unread[0].document == 0


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "", r"a\.txt: the file is empty"),
        ("a.txt", " \n\t ", r"a\.txt: contains no text"),
        ("a.txt", "...", r"a\.txt: contains no text"),
        ("a.bin", bytes(range(256)), r"a\.bin: looks like a binary file"),
    ],
    ids=without_bytes,
)
def test_read_documents_refuses_an_unreadable_named_file(
    write: Write, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_documents([write(name, content)], CONFIG)


def test_read_documents_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no\.txt: no such file"):
        read_documents([tmp_path / "no.txt"], CONFIG)


def test_read_documents_refuses_an_impossible_path() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_documents([Path("a\0b")], CONFIG)


def test_read_documents_of_an_empty_folder_lists_known_kinds(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing to read in it; put files of these kinds there"):
        read_documents([tmp_path], CONFIG)


def test_read_documents_of_an_unreadable_folder_says_why(write: Write, tmp_path: Path) -> None:
    write("a.png", b"\x89PNG")
    write("b.txt", "")
    with pytest.raises(
        InputError,
        match=r"none of 2 files could be read; the first, .*a.png: this is an image",
    ):
        read_documents([tmp_path], CONFIG)


def test_read_documents_reports_every_entry_of_a_folder(write: Write, tmp_path: Path) -> None:
    write("a.txt", PROSE)
    write("script.py", "print('The bridge is open again.')")
    (tmp_path / "dangling.txt").symlink_to(tmp_path / "nothing")
    (tmp_path / "loop").symlink_to(tmp_path)
    documents, unread = read_documents([tmp_path], CONFIG)
    assert len(documents) == 1
    assert [(Path(u.name).name, u.reason) for u in unread] == [
        ("dangling.txt", "not a regular file"),
        ("loop", "a link to a folder"),
        ("script.py", "not a file type that is read from folders; name it explicitly"),
    ]


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (Path.unlink, "no such file any more"),
        (lambda path: path.write_bytes(b""), "the file is empty"),
        (lambda path: os.truncate(path, 40), None),
    ],
)
def test_read_documents_reports_a_file_that_changes_while_its_folder_is_read(
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[Path], object],
    reason: str | None,
) -> None:
    write("a.txt", PROSE)
    second = write("b.txt", PROSE)

    def read(path: Path) -> tuple[Document, Unread | None]:
        found = read_document(path)
        if path.name == "a.txt":
            happens(second)
        return found

    monkeypatch.setattr("hiersum.text.documents.read_document", read)
    documents, unread = read_documents([tmp_path], CONFIG)
    assert [document.text for document in documents] == ([PROSE] if reason else [PROSE, PROSE[:40]])
    assert [part.reason for part in unread] == ([reason] if reason else [])


def test_read_documents_follows_no_link_out_of_a_folder(write: Write, tmp_path: Path) -> None:
    secret = write("private/secret.txt", PROSE)
    inside = write("folder/a.txt", MORE)
    (tmp_path / "folder" / "b.txt").symlink_to(secret)
    (tmp_path / "folder" / "c.txt").symlink_to(inside)
    documents, unread = read_documents([tmp_path / "folder"], CONFIG)
    assert [Path(d.name).name for d in documents] == ["a.txt", "c.txt"]
    assert [(Path(u.name).name, u.reason) for u in unread] == [
        ("b.txt", "a link to a file outside the folder; name it explicitly")
    ]
    assert read_documents([tmp_path / "folder" / "b.txt"], CONFIG)[0][0].text == PROSE


def test_read_documents_says_that_a_pdf_without_text_may_be_scanned(write: Write) -> None:
    path = write("scan.pdf", make_pdf([[], []]))
    with pytest.raises(InputError, match=r"scan\.pdf: contains no text; its pages may be scan"):
        read_documents([path], CONFIG)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "a file name is empty; give a file, a folder, or - for standard input"),
        ("https://a.example/b.html", "hiersum reads files only; save the page and give its file"),
    ],
)
def test_read_documents_refuses_urls_and_empty_names(path: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_documents([path], CONFIG)


def test_read_documents_refuses_clusters_under_another_name(write: Write) -> None:
    with pytest.raises(InputError, match=r"this is JSON; if it holds clusters, name it \.jsonl"):
        read_documents([write("c.txt", '{"documents": ["The bridge is open."]}')], CONFIG)


def test_choose_documents_keeps_indices() -> None:
    documents = [Document(GERMAN, "a"), Document(ENGLISH * 2, "b"), Document(ENGLISH, "c", "u")]
    chosen, unread = choose_documents(documents, DataConfig(max_documents=2))
    assert [d.name for d in chosen] == ["a", "b", "c"]
    assert [bool(d.text) for d in chosen] == [False, True, False]
    assert [(u.name, u.document) for u in unread] == [("a", 0), ("c", 2)]


def test_find_passed_over_gives_the_reason() -> None:
    documents, read = [Document(ENGLISH, "a"), Document(ENGLISH, "b")], [Paragraph(ENGLISH, 0, 0)]
    (needless,) = find_passed_over(documents, read, [])
    assert (needless.name, needless.reason) == ("b", "none of its paragraphs was needed")
    (off_topic,) = find_passed_over(documents, read, [], on_topic_only=True)
    assert "data.on_topic_only" in off_topic.reason


def test_choose_documents_cleans_and_cuts_given_paragraphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hiersum.text.documents.MAX_CHARACTERS", 30)
    document = Document.from_paragraphs(["The \x1b[1mferry\x00 sank.", "x" * 50, "beyond"])
    (chosen,), (unread,) = choose_documents([document], CONFIG)
    assert chosen.paragraphs is not None
    assert len(chosen.paragraphs) == 3, "a user's graph counts on every paragraph"
    assert chosen.paragraphs[0] == "The [1mferry sank."
    assert chosen.paragraphs[2] == ""
    assert "only its first 30 characters" in unread.reason


def test_choose_documents_keeps_a_single_document_in_any_language() -> None:
    chosen, unread = choose_documents([Document(GERMAN)], DataConfig())
    assert chosen[0].text == GERMAN
    assert unread == []


def test_choose_documents_keeps_all_without_a_clear_language() -> None:
    chosen, unread = choose_documents([Document("Kurz."), Document("Short.")], DataConfig())
    assert all(document.text for document in chosen)
    assert unread == []


@dataclass
class LangChainDocument:
    """The shape of `langchain_core.documents.Document`."""

    page_content: str
    metadata: dict[str, object]
    id: str | None = None


class LlamaIndexNode:
    """The shape of a LlamaIndex node: its text is the answer of a method."""

    metadata: ClassVar = {"file_name": "b.pdf", "page_label": "4"}

    def get_content(self, metadata_mode: str = "none") -> str:
        return PROSE


@pytest.mark.parametrize(
    ("given", "name", "url"),
    [
        (PROSE, "document 1", ""),
        ([PROSE], "document 1", ""),
        (Document(PROSE, "a", "u"), "a", "u"),
        ({"text": PROSE}, "document 1", ""),
        ([{"article": PROSE, "title": "Bridge", "url": "http://a.b"}], "Bridge", "http://a.b"),
        ({"page_content": PROSE, "metadata": {"source": "a.txt"}}, "a.txt", ""),
        (LangChainDocument(PROSE, {"source": "http://a.b/c"}), "http://a.b/c", "http://a.b/c"),
        ([LangChainDocument(PROSE, {})], "document 1", ""),
        ([LlamaIndexNode()], "b.pdf, page 4", ""),
        (LlamaIndexNode(), "b.pdf, page 4", ""),
        (pd.DataFrame({"id": [7], "name": ["a.txt"], "content": [PROSE]}), "a.txt", ""),
        (pd.DataFrame({"text": [PROSE]}).iloc[0], "document 1", ""),
        (pd.DataFrame({"text": [PROSE], "name": ["A"]}).iloc[0], "A", ""),
        (pd.Series([PROSE]), "document 1", ""),
        ({"text": [PROSE], "title": ["A"], "url": ["http://a.b"]}, "A", "http://a.b"),
        (pd.DataFrame({"text": [PROSE], "title": ["A"]}).itertuples(), "A", ""),
    ],
)
def test_gather_documents_knows_what_people_have_by_its_shape(
    given: object, name: str, url: str
) -> None:
    assert gather_documents(given, CONFIG) == ([Document(PROSE, name, url)], [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([PROSE, {"title": "A"}], "document 2 must be text, a Path, a Document, or have one of"),
        (pd.DataFrame({"text": [PROSE, float("nan")]}), "document 2 must be text, a Path"),
        ([object], "document 1 must be text"),
        (3, "documents must be a list of texts or paths, got 3"),
    ],
)
def test_gather_documents_says_which_one_it_cannot_read(given: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gather_documents(given, CONFIG)


def test_gather_documents_refuses_the_name_of_a_file_as_a_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(PROSE)
    for name in (path, tmp_path):
        with pytest.raises(InputError) as error:
            gather_documents([PROSE, str(name)], CONFIG)
        assert str(error.value) == (
            "document 2 is the name of a file or folder, but a string is read as a text; "
            f"give pathlib.Path({str(name)!r}), or what is in it"
        )
