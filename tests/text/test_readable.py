"""What is read of a cluster's documents; the rest is named, and indices hold."""

from __future__ import annotations

from hiersum.config import DataConfig
from hiersum.text.readable import choose_documents, find_passed_over
from hiersum.types import Document, Paragraph

ENGLISH = (
    "The harbour bridge reopened on Monday after eleven months of repairs, and it was full. " * 2
)
GERMAN = "Die Hafenbrücke wurde am Montag nach elf Monaten wieder für den Verkehr geöffnet. " * 2


def test_left_out_documents_keep_their_place() -> None:
    documents = [Document(GERMAN, "a"), Document(ENGLISH * 2, "b"), Document(ENGLISH, "c", "u")]
    chosen, unread = choose_documents(documents, DataConfig(max_documents=2))
    assert [d.name for d in chosen] == ["a", "b", "c"]
    assert [bool(d.text) for d in chosen] == [False, True, False]
    assert [(u.name, u.document) for u in unread] == [("a", 0), ("c", 2)]


def test_of_documents_that_nothing_was_read_of_the_reason_is_told() -> None:
    documents, read = [Document(ENGLISH, "a"), Document(ENGLISH, "b")], [Paragraph(ENGLISH, 0, 0)]
    (needless,) = find_passed_over(documents, read, [])
    assert (needless.name, needless.reason) == ("b", "none of its paragraphs was needed")
    (off_topic,) = find_passed_over(documents, read, [], on_topic_only=True)
    assert "data.on_topic_only" in off_topic.reason


def test_given_paragraphs_are_cleaned_and_cut_but_never_split() -> None:
    document = Document.from_paragraphs(["The \x1b[1mferry\x00 sank.", "x" * 50, "beyond"])
    (chosen,), (unread,) = choose_documents([document], DataConfig(max_document_characters=30))
    assert chosen.paragraphs is not None
    assert len(chosen.paragraphs) == 3, "a user's graph counts on every paragraph"
    assert chosen.paragraphs[0] == "The [1mferry sank."
    assert chosen.paragraphs[2] == ""
    assert "only its first 30 characters" in unread.reason


def test_a_single_document_is_read_whatever_its_language() -> None:
    chosen, unread = choose_documents([Document(GERMAN)], DataConfig())
    assert chosen[0].text == GERMAN
    assert unread == []


def test_without_a_clear_language_everything_is_read() -> None:
    chosen, unread = choose_documents([Document("Kurz."), Document("Short.")], DataConfig())
    assert all(document.text for document in chosen)
    assert unread == []
