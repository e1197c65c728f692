"""Names, numbers and dates are found, and sources are asked for them in any spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiersum.text.facts import (
    Evidence,
    SourceFacts,
    acronym,
    find_facts,
    find_names,
    name_words,
    without_asides,
)

SOURCES = [
    "Anna Hale, the president, spoke to the United Nations on June 3, 1990. The repair cost 4,500,000 "
    "dollars, and twelve Germans were hurt.",
    "P\u00e9rez won the first prize. A Boeing 747 landed in Port Ellery.",
]
BODY = [
    "The bridge was opened by the mayor in 1931 and crosses the harbour.",
    "Repairs cost 1,200,000 crowns; the engineer's report was written later.",
]
EVIDENCE = Evidence.of(["Harbour bridge", *BODY])


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
def test_source_facts_hold_other_spellings(text: str) -> None:
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
def test_source_facts_report_what_is_missing(text: str, missing: list[str]) -> None:
    assert [fact.text for fact in SourceFacts.of(SOURCES).missing(text)] == missing


@given(st.text())
def test_source_facts_hold_their_own_text(text: str) -> None:
    assert SourceFacts.of([text]).missing(text) == []


def test_source_facts_of_nothing_hold_nothing() -> None:
    assert [f.text for f in SourceFacts.of([]).missing("He met Hale at 9.")] == ["Hale", "9"]


@pytest.mark.parametrize(
    "sentence",
    [
        "The mayor opened the harbour bridge in 1931.",
        "The repair of the bridge cost 1200000 crowns.",
        "The engineers reported on the repairs.",
        "The mayors crossed the bridge, harbour and opening, happily, quickly.",  # 5 of 7
    ],
)
def test_evidence_supports_most_words_and_all_numbers(sentence: str) -> None:
    assert EVIDENCE.supports(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The mayor opened the harbour bridge in 1932.",
        "The mayor opened the harbour bridge on 4 May 1931.",
        "A famous Swedish architect designed the bridge.",
        "It was.",
        "",
    ],
)
def test_evidence_rejects_new_numbers_and_words(sentence: str) -> None:
    assert not EVIDENCE.supports(sentence)


def test_evidence_needs_three_fifths_of_the_content_words() -> None:
    evidence = Evidence.of(["red green blue"])
    assert evidence.supports("red green blue fox hen")
    assert not evidence.supports("red green blue fox hen dog")


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("The mayor (born 4 May 1817) opened it.", "The mayor opened it."),
        ("The bridge (1931) crosses the harbour (1932).", "The bridge (1931) crosses the harbour."),
        ("The bridge (known as Zork (in Quux) abroad) fell.", "The bridge fell."),
        ("The bridge (opened (in 1931) by the mayor) fell.",) * 2,
        ("The bridge (of which", "The bridge (of which"),
    ],
)
def test_asides_are_judged_apart_from_their_sentence(sentence: str, kept: str) -> None:
    assert without_asides(sentence, EVIDENCE.supports) == kept


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The bridge in Port Ellery is open.", ["Port Ellery"]),
        ("Cars are back. Buses too.", []),
        ("Berlin is big. I like Berlin.", ["Berlin", "Berlin"]),
        ("NATO met. K2 is high. McAvoy spoke.", ["NATO", "K2", "McAvoy"]),
        ("At the University of Oxford of old", ["University of Oxford"]),
        ("President Anna M. Hale's office", ["President Anna M. Hale's"]),
        ("PORT ELLERY - The ferry sank.", ["PORT ELLERY"]),
        ("Twelve K2 sensors drifted.", ["K2"]),
        ("On Monday in June I said OK.", []),
        ("We saw Paris, London and Rome", ["Paris", "London", "Rome"]),
        ("J. R. R. Tolkien and U.S. troops", ["J. R. R. Tolkien", "U.S."]),
        ("We met Jos\u00e9 P\u00e9rez-Garc\u00eda.", ["Jos\u00e9 P\u00e9rez-Garc\u00eda"]),
        ("\u6865\u6881\u5f00\u653e\u4e86\u3002", []),
        ("", []),
    ],
)
def test_names_are_found(text: str, names: list[str]) -> None:
    assert [text[name.start : name.end] for name in find_names(text)] == names


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("We met President Anna M. Hale's", "anna hale"),
        ("We met Jos\u00e9 P\u00e9rez-Garc\u00eda", "jose perez garcia"),
        ("We met U.S. troops", "us"),
    ],
)
def test_name_value_has_no_titles_or_accents(text: str, value: str) -> None:
    assert [name.value for name in find_names(text)] == [value]


def test_name_words_have_the_form_of_names() -> None:
    assert name_words("Anna M. Hale\u2019s P\u00e9rez-Garc\u00eda") == [
        "anna",
        "hale",
        "perez",
        "garcia",
    ]


def test_acronym_leaves_out_joiners() -> None:
    assert acronym("university of the west") == "uw"


@given(st.text())
def test_name_places_are_in_the_text_and_in_order(text: str) -> None:
    ends = [0]
    for name in find_names(text):
        assert ends[-1] <= name.start < name.end <= len(text)
        ends.append(name.end)
