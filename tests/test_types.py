"""The nouns carry their sources, and a result line has the fields that programs count on."""

from __future__ import annotations

import json

from hiersum.types import (
    Document,
    Paragraph,
    Place,
    Source,
    Summary,
    SummarySentence,
    Unread,
    UnsupportedSpan,
)


def test_a_result_line_has_the_pinned_fields() -> None:
    summary = Summary(
        sentences=(
            SummarySentence("One.", (Source(0, 3, 0.91),), (UnsupportedSpan("One", 0, 3, "name"),)),
            SummarySentence("Two."),
        ),
        documents=(Document("text", "a.txt"),),
        paragraphs=(),
        title="T",
        id="x",
        unread=(Unread("b.txt", "too long", 1),),
        system="lexrank",
        seconds=0.12345,
    )
    record = json.loads(json.dumps(summary.to_record()))
    assert record == {
        "id": "x",
        "title": "T",
        "summary": "One. Two.",
        "sentences": [
            {
                "text": "One.",
                "sources": [{"document": 0, "paragraph": 3, "score": 0.91}],
                "unsupported": [{"text": "One", "start": 0, "end": 3, "kind": "name"}],
                "conflicts": [],
            },
            {"text": "Two.", "sources": [], "unsupported": [], "conflicts": []},
        ],
        "documents": [{"name": "a.txt", "url": ""}],
        "unread": [{"name": "b.txt", "reason": "too long", "document": 1}],
        "system": "lexrank",
        "model": None,
        "seconds": 0.123,
    }


def test_a_paragraph_knows_all_its_places() -> None:
    paragraph = Paragraph("text", 1, 4, also_in=(Place(2, 0),))
    assert paragraph.places == (Place(1, 4), Place(2, 0))


def test_given_paragraphs_are_also_the_text() -> None:
    document = Document.from_paragraphs(["one", "two"], "n", "u")
    assert (document.text, document.paragraphs) == ("one\ntwo", ("one", "two"))
