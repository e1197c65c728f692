"""Facts of a summary are found, and the sources are asked for them in any spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiersum.text.facts import SourceFacts, find_facts

SOURCES = [
    "Anna Hale, the president, spoke to the United Nations on June 3, 1990. The repair cost 4,500,000 "
    "dollars, and twelve Germans were hurt.",
    "P\u00e9rez won the first prize. A Boeing 747 landed in Port Ellery.",
]


def test_facts_come_in_order_with_their_kinds() -> None:
    text = "On Monday Hale paid 12,400 dollars to NATO."
    facts = find_facts(text)
    assert [(f.text, f.kind) for f in facts] == [
        ("Monday", "date"), ("Hale", "name"), ("12,400", "number"), ("NATO", "name")
    ]  # fmt: skip
    assert all(text[f.start : f.end] == f.text for f in facts)


@pytest.mark.parametrize(
    "text",
    [
        "It was President Anna M. Hale's idea.",
        "He told the UN so.",
        "They met on 3 June.",
        "It happened in June 1990.",
        "It happened in 1990.",
        "It cost $4.5m in all.",
        "There were 12 hurt, every one a German.",
        "He met Perez and ANNA HALE.",
        "It was the 1st.",
        "A plane flew to Port Ellery.",
    ],
)
def test_what_the_sources_say_in_other_words_is_held(text: str) -> None:
    assert find_facts(text)
    assert SourceFacts.of(SOURCES).missing(text) == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Bob Hale spoke to Anna Hale.", ["Bob Hale"]),
        ("They met on 4 June, not 3 June 1991.", ["4 June", "3 June 1991"]),
        ("It cost 4.5 dollars; 13 paid.", ["4.5", "13"]),
        ("He met Hale P\u00e9rez.", ["Hale P\u00e9rez"]),
        ("He told NATO in July.", ["NATO", "July"]),
    ],
)
def test_what_they_do_not_say_is_missing(text: str, missing: list[str]) -> None:
    assert [fact.text for fact in SourceFacts.of(SOURCES).missing(text)] == missing


@given(st.text())
def test_a_text_holds_its_own_facts(text: str) -> None:
    assert SourceFacts.of([text]).missing(text) == []


def test_no_sources_hold_nothing() -> None:
    assert [f.text for f in SourceFacts.of([]).missing("He met Hale at 9.")] == ["Hale", "9"]
