"""Another number or date for the same thing is pointed out; other things and rounding are not."""

from __future__ import annotations

import pytest

from hiersum.attribution.checking import check_facts
from hiersum.types import Cluster, Conflict, Document, Paragraph, Source, SummarySentence

SPAN = "The harbour bridge was built in 1931 and has a main span of 486 metres."


def conflicts(sentence: str, *sources: str) -> tuple[Conflict, ...]:
    """Check a sentence of the first source against the others, each a document."""
    paragraphs = [Paragraph(text, number, 0) for number, text in enumerate(sources)]
    documents = tuple(Document(text) for text in sources)
    (checked,) = check_facts(
        [SummarySentence(sentence, (Source(0, 0, 1.0),))], Cluster("", documents), paragraphs
    )
    for conflict in checked.conflicts:
        assert sentence[conflict.start : conflict.end] == conflict.text
    return checked.conflicts


@pytest.mark.parametrize(
    ("sentence", "other", "expected"),
    [
        (SPAN, "Built in 1931, the harbour bridge has a main span of 468 metres.", ("486", "468")),
        (SPAN, "The harbour bridge was built in 1932, engineers say.", ("1931", "1932")),
        (
            "The bridge reopened to traffic on Monday morning.",
            "On Tuesday the bridge reopened to traffic in the morning.",
            ("Monday", "Tuesday"),
        ),
        (
            "The repairs of the bridge cost $4.8 million.",
            "Repairs of the bridge cost $5.3 million, the mayor said.",
            ("4.8 million", "5.3 million"),
        ),
        (
            "Twelve people were hurt in the fire at the mill.",
            "In the fire at the mill 15 people were hurt.",
            ("Twelve", "15"),
        ),
    ],
)
def test_another_value_for_the_same_thing_is_pointed_out(
    sentence: str, other: str, expected: tuple[str, str]
) -> None:
    (conflict,) = conflicts(sentence, sentence, other)
    assert (conflict.text, conflict.other) == expected
    assert (conflict.document, conflict.paragraph) == (1, 0)


@pytest.mark.parametrize(
    "other",
    [
        "The harbour bridge was built in 1931 and has a main span of 486 metres.",
        "The harbour bridge has a main span of almost 500 metres and was built in 1931.",
        "The harbour bridge was built in June 1931 and has a main span.",
        "The ferry terminal was built in 1950 and has room for 300 cars.",
        "The harbour bridge was painted in 1960.",
        "The harbour bridge has 12 towers.",
        "The harbour bridge was built by people.",
    ],
)
def test_the_same_value_or_another_thing_is_no_conflict(other: str) -> None:
    assert conflicts(SPAN, SPAN, other) == ()


def test_a_document_that_has_the_value_itself_does_not_contradict_it() -> None:
    both = SPAN + " An older harbour bridge built in 1900 had a main span of 200 metres."
    assert conflicts(SPAN, both) == ()


def test_an_invented_number_is_both_unsupported_and_contradicted() -> None:
    (conflict,) = conflicts(SPAN.replace("486", "999"), SPAN)
    assert (conflict.text, conflict.other) == ("999", "486")


def test_conflicts_of_a_sentence_are_few() -> None:
    others = [SPAN.replace("486", str(n)) for n in range(300, 320)]
    assert len(conflicts(SPAN, SPAN, *others)) == 3
