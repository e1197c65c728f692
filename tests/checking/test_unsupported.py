"""A fact that stands anywhere in title or documents is supported; any other is marked with its place."""

from __future__ import annotations

from hiersum.checking.unsupported import KnownFacts
from hiersum.types import Document, Paragraph, Source, SummarySentence

DOCUMENTS = (
    Document("The bridge was opened by Mayor Anna Berg on 3 June 1931.\nIt cost 4.5 million."),
    Document("Engineers of the North Sea Institute counted twelve cracks."),
)
READ = [Paragraph("The bridge was opened by Mayor Anna Berg on 3 June 1931.", 0, 0)]


def marked(text: str, title: str = "Ellery Bridge") -> list[tuple[str, str]]:
    sentence = SummarySentence(text, (Source(0, 0, 0.9),))
    spans = KnownFacts(title, DOCUMENTS, READ).unsupported(sentence)
    assert all(text[span.start : span.end] == span.text for span in spans)
    return [(span.text, span.kind) for span in spans]


def test_what_no_source_has_is_marked() -> None:
    text = "The bridge was opened by Carl Dahl on 4 June 1931 and cost 7 million."
    assert marked(text) == [("Carl Dahl", "name"), ("4 June 1931", "date"), ("7 million", "number")]


def test_what_a_source_has_in_other_words_is_not() -> None:
    assert marked("In June 1931 Berg opened it, and the bridge cost 4,500,000.") == []


def test_a_paragraph_that_was_not_read_still_supports() -> None:
    assert marked("The North Sea Institute counted 12 cracks.") == []


def test_what_a_person_put_into_the_title_is_no_invention() -> None:
    assert marked("They call it Ellery Bridge.") == []
    assert marked("They call it Ellery Bridge.", title="") == [("Ellery Bridge", "name")]
