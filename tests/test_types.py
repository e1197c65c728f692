"""The nouns carry their sources, and a result line has the fields that programs count on."""

from __future__ import annotations

import json

from hiersum.types import (
    Document,
    Paragraph,
    Place,
    Side,
    Source,
    SourceDisagreement,
    Summary,
    SummarySentence,
    Unread,
    UnsupportedSpan,
    unread_lines,
)


def test_a_result_line_has_the_pinned_fields() -> None:
    summary = Summary(
        sentences=(
            SummarySentence(
                "One.",
                (Source(0, 3, 0.91),),
                (UnsupportedSpan("One", 0, 3, "name"),),
                support=0.87512,
                is_quoted=True,
                speaker="Union",
            ),
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
                "shown": "Union: \u201cOne.\u201d",
                "sources": [{"document": 0, "paragraph": 3, "score": 0.91, "quote": ""}],
                "unsupported": [{"text": "One", "start": 0, "end": 3, "kind": "name"}],
                "support": 0.875,
                "quoted": True,
                "speaker": "Union",
                "disputed": False,
                "reason": "",
            },
            {
                "text": "Two.",
                "shown": "Two.",
                "sources": [],
                "unsupported": [],
                "support": None,
                "quoted": False,
                "speaker": "",
                "disputed": False,
                "reason": "",
            },
        ],
        "dropped": [],
        "documents": [{"name": "a.txt", "url": ""}],
        "disagreements": [],
        "answered": None,
        "uncited": [],
        "unread": [{"name": "b.txt", "reason": "too long", "document": 1}],
        "system": "lexrank",
        "model": None,
        "seconds": 0.123,
    }


def test_dropped_sentences_and_uncited_documents_are_in_the_line() -> None:
    summary = Summary(
        sentences=(SummarySentence("It has 486 metres.", (Source(1, 0, 0.8),)),),
        documents=(Document("a"), Document("b"), Document("c")),
        paragraphs=(),
        dropped=(SummarySentence("Nobody said this.", (Source(2, 0, 0.8),)),),
    )
    record = json.loads(json.dumps(summary.to_record()))
    assert record["dropped"][0]["text"] == "Nobody said this."
    assert record["summary"] == "It has 486 metres."
    assert record["uncited"] == [0, 2], "what only a dropped sentence cites is not cited"


def test_a_sentence_is_supported_by_a_source_and_without_unsupported_facts() -> None:
    source, span = Source(0, 0, 0.9), UnsupportedSpan("One", 0, 3, "name")
    assert SummarySentence("One.", (source,)).is_supported
    assert not SummarySentence("One.", (source,), (span,)).is_supported
    assert not SummarySentence("One.").is_supported


def test_a_paragraph_knows_all_its_places() -> None:
    paragraph = Paragraph("text", 1, 4, also_in=(Place(2, 0),))
    assert paragraph.places == (Place(1, 4), Place(2, 0))


def test_given_paragraphs_are_also_the_text() -> None:
    document = Document.from_paragraphs(["one", "two"], "n", "u")
    assert (document.text, document.paragraphs) == ("one\ntwo", ("one", "two"))


def test_a_summary_with_disagreements_is_a_record_that_json_gives_back() -> None:
    sides = (Side(0, 1, "It cost 48 crowns.", 8, 10), Side(2, 0, "It was free.", 7, 11))
    found = SourceDisagreement("cost", "number", sides, "Cost: 48 or free", 0.6)
    record = Summary((), (), (), disagreements=(found,)).to_record()
    assert json.loads(json.dumps(record)) == record


def test_what_was_not_read_is_told_by_its_reason() -> None:
    many = [Unread(f"{n}.txt", "too many documents") for n in range(9_000)]
    assert unread_lines([*many[:2], Unread("b.pdf", "no text"), *many[2:]]) == [
        "0.txt, 1.txt, 2.txt and 8,997 more: too many documents",
        "b.pdf: no text",
    ]
    assert unread_lines(many[:3]) == ["0.txt, 1.txt, 2.txt: too many documents"]
