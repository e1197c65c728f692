"""Sentence ends, held to cases marked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from languages import DOCUMENTS, joined

from hiersum.text.sentences import ends_sentence, split_sentences, without_label

CASES = [
    ["Dr. J. R. Smith met Mr. Jones in the U.S.", "The talks lasted 4.5 hours."],
    ['"It is over."', "He left at 5 p.m.", "The end."],
    ["Is it?", "Yes!", "See No. 12 and Fig. 3.", "He said no.", "Then he left."],
    ["It cost e.g. five crowns, i.e. much.", "Apple Inc. sells phones."],
    ["He was born in 1990.", "12 people came.", "(They left.)", "Nobody stayed ... at all."],
    ["Vitamin C.", "The rest is water."],
    ["No full stop here"],
    ["J.R.R. Tolkien wrote it.", "H.G. Wells and J.K. Rowling read it.", "See Op. 67."],
    ["It is a township, pop. 340, in the hills.", "She married Max.", "Police came."],
    ["Der Vertrag endet zum 31. Dezember.", "Laut Abs. 2 kostet er 4 Mio. Euro.", "„Ja“, sagt er."],
    ["La Dra. López vive en la calle núm. 12.", "Il sig. Rossi vive qui.", "Ул. Ленина, рис. 3."],
    ["Then-No. 10 paid Rs. 500 for it.", "It cost 5 тыс. рублей there."],
]


@pytest.mark.parametrize("sentences", CASES, ids=lambda sentences: sentences[0][:20])
def test_sentences_come_apart_where_a_person_would_part_them(sentences: list[str]) -> None:
    assert split_sentences(" ".join(sentences)) == sentences


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("桥重新开放。交通很少！好吗？", 3),
        ("הגשר נפתח. סוף הדרך.", 2),
        ("यह वाक्य है। यह दूसरा है।", 2),
        ("هل هذا جسر؟ نعم هو جسر.", 2),
    ],
)  # fmt: skip
def test_other_scripts_have_sentences_too(text: str, number: int) -> None:
    assert len(split_sentences(text)) == number


@pytest.mark.parametrize("language", DOCUMENTS)
def test_split_sentences_finds_those_of_other_languages(language: str) -> None:
    for sentences in DOCUMENTS[language]:
        assert split_sentences(joined(language, sentences)) == sentences


@given(st.text(max_size=300))
def test_no_character_but_space_is_lost(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_ends_of_sentences() -> None:
    assert ends_sentence('He said "no."')
    assert ends_sentence("开放。")
    assert not ends_sentence("A heading")
    assert not ends_sentence("")


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        ("BRANDMOOR (Unipress) Oct 24 - ", "A strike began."),
        ("STRANDHAVEN, Nov 10 (NPA) -- ", "Two people died."),
        ("Port Ellery (dpa) - ", '"We won", he said.'),
        ("MELK, 17 January (Highland News Agency) \u2013 ", "Pigs died."),
        ("LONDON, England (CNN) \u2014 ", "12 people came."),
        ("March 4 (Marketline) - ", "Shares rose."),
        ("(AP) -- ", "A man won."),
        ("1.2. ", "The council spends much."),
        ("2. ", "the thing was set to heat the tank."),
        ("3) ", "Boats are slow."),
        ("", "The old bridge - A marvel - stood there."),
        ("", "NASA - The agency of the U.S. was asked."),
        ("", "IBM (Big Blue) \u2013 The firm of old \u2013 reported a loss."),
        ("", "ROME 3 - Milan 1 after extra time."),
        ("", "COVID-19 \u2013 What doctors know."),
        ("", "3.5 Billion years ago life began."),
        ("", "1. FC Nuremberg won."),
        ("", "May (1990) was cold."),
    ],
)
def test_labels_are_no_part_of_a_sentence(label: str, sentence: str) -> None:
    assert without_label(label + sentence) == sentence


@given(st.text(alphabet="A-. (b)1,\u2013", max_size=60))
def test_without_its_label_a_sentence_is_its_own_end(text: str) -> None:
    assert text.endswith(without_label(text))


@pytest.mark.parametrize("text", ["." * 200_000, "?! " * 70_000, "AA " * 70_000, "A-" * 100_000])
def test_odd_texts_are_split_in_linear_time(text: str) -> None:
    """Were it quadratic, this would take hours."""
    assert split_sentences(f"{text}a")
    assert without_label(f"{text}a")
