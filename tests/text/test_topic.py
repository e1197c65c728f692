"""A topic is found in what the documents share, and said in their own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import EXAMPLES

from hiersum.config import DataConfig
from hiersum.text.documents import read_documents
from hiersum.text.topic import find_topic

BODIES = [
    "The harbour bridge is closed. Cracks were found in the harbour bridge on Monday.",
    "Ferries carry everyone while the harbour bridge is closed. Ferries are full on Monday.",
    "Nobody paid for the Harbour Bridge yet. On Monday nobody wanted to.",
]


def test_words_that_stand_together_in_most_documents_are_the_topic() -> None:
    assert find_topic(BODIES) == "harbour bridge"
    named = [body.replace("harbour bridge", "Harbour Bridge") for body in BODIES]
    assert find_topic(named) == "Harbour Bridge"


def test_days_months_numbers_and_small_words_are_no_topic() -> None:
    assert find_topic(["On Monday 12 March it may be. On Monday 12 March it was a tram."]) == "tram"


def test_a_heading_with_these_words_says_more() -> None:
    headings = ["What a morning", "Harbour bridge closed after cracks", "Who pays"]
    documents = [f"{heading}\n\n{body}" for heading, body in zip(headings, BODIES)]
    assert find_topic(documents) == headings[1]


@pytest.mark.parametrize(
    "first", ["The harbour bridge is closed.", "Harbour bridge " * 10, "Summary", ""]
)
def test_a_sentence_a_paragraph_or_a_word_is_no_heading(first: str) -> None:
    assert find_topic([f"{first}\n\n{BODIES[0]}", *BODIES[1:]]).lower() == "harbour bridge"


@pytest.mark.parametrize("documents", [[], [""], ["...", "12 12"], ["of the and", ""]])
def test_documents_without_words_have_no_topic(documents: list[str]) -> None:
    assert find_topic(documents) == ""


@given(st.lists(st.text(max_size=200), max_size=4))
def test_a_topic_is_a_part_of_the_documents(documents: list[str]) -> None:
    topic = find_topic(documents)
    words = {word for text in documents for word in text.replace("-", " ").split()}
    assert all(any(part in word for word in words) for part in topic.replace("-", " ").split())


def test_the_topics_of_the_example_folders() -> None:
    """As a person sees them who gives no title."""
    found = {}
    for name in ("harbour-bridge", "queue-outage", "car-free-centre"):
        documents, _ = read_documents([EXAMPLES / name], DataConfig())
        found[name] = find_topic([document.text for document in documents])
    assert found == {
        "harbour-bridge": "Harbour bridge reopens after eleven months",
        "queue-outage": "Incident report: order queue stalled on 12 March",
        "car-free-centre": "Lowmoor without cars: first the tram",
    }
