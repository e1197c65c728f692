"""Sentences are told from notes and orders, held to cases marked by hand and to our own prose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import bridge_texts

from hiersum.text.sentences import ends_sentence, split_sentences
from hiersum.text.verbs import has_verb, is_order


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Two people died when the ferry sank.", True),
        ("The firm handles 14 airlines.", True),
        ("They don\u2019t know.", True),
        ("The bridge reopened.", True),
        ("Two goals up, a man up, three minutes from the cup.", False),
        ("A lorry trailer belonging to a contractor.", False),
        ("Felix to go to their meeting.", False),
        ("The plans of the council.", False),
        ("One hundred metres of rope.", False),
        ("Indeed a bed of reeds.", False),
        ("Network: 3,140 km of rural verge.", False),
        ("", False),
    ],
)
def test_a_sentence_has_a_verb(sentence: str, expected: bool) -> None:
    assert has_verb(sentence) is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Bring a towel.", True),
        ("Do not attempt to glue the handle.", True),
        ("Don\u2019t keep charging it.", True),
        ("Imagine a bridge.", True),
        ("Cut the cord.", True),
        ("Visit our shop.", True),
        ("Consider 7 to 10 days.", True),
        ("Use of the bridge is free.", False),
        ("Travel agents said bookings rose.", False),
        ("Face masks are required on trains.", False),
        ("Lead author Jane Doe said so.", False),
        ("Run by volunteers, the shop opened in 1990.", False),
        ("Otherwise the plan stays as it was.", False),
        ("Die Stadt Lindau liegt am Bodensee.", False),
        ('"Bring a towel," the mayor said.', False),
        ("The mayor brings a towel.", False),
        ("Do they know?", False),
        ("", False),
    ],
)
def test_an_order_begins_with_a_plain_verb(sentence: str, expected: bool) -> None:
    assert is_order(sentence) is expected


def test_prose_is_made_of_sentences() -> None:
    sentences = [s for text in bridge_texts() for s in split_sentences(text) if ends_sentence(s)]
    assert len(sentences) > 20
    assert all(map(has_verb, sentences))
    assert not any(map(is_order, sentences))


@given(st.text(max_size=80))
def test_any_text_is_looked_at(text: str) -> None:
    assert has_verb(text) in (True, False)
    assert is_order(text) in (True, False)
