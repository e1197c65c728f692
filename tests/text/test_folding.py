"""What a vocabulary cannot spell is read as what looks alike, and comes back as the sources have it."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiersum.text.folding import Folding

FOLDING = Folding(frozenset(string.printable.replace("`", "")) | frozenset("éüß"))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Martínez of São Paulo", "Martinez of Sao Paulo"),
        ("Ærø, Łódź and Đà Nẵng", "Ærø, Łódź and Đà Nẵng".translate(
            str.maketrans("øŁóźĐàẵ", "oLozDaa"))),
        ("café über Straße", "café über Straße"),
        ("Привет 大桥", "Привет 大桥"),
        ("run `ls` at −5", "run 'ls' at -5"),
        ("", ""),
    ],
)  # fmt: skip
def test_letters_lose_marks_that_are_not_known(text: str, folded: str) -> None:
    """Known ones, and those that look like none, stay."""
    assert FOLDING.fold(text) == folded


@given(st.text(max_size=80))
def test_every_letter_becomes_one_letter(text: str) -> None:
    assert len(FOLDING.fold(text)) == len(text)
    assert FOLDING.fold(FOLDING.fold(text)) == FOLDING.fold(text)


def test_words_come_back_as_sources_write_them() -> None:
    sources = ["José Martínez was born in São Paulo.", "Martínez, not Martines. Ascii only."]
    assert FOLDING.unfold("Martinez left Sao Paulo.", sources) == "Martínez left São Paulo."
    assert FOLDING.unfold("Martines left.", sources) == "Martines left."


def test_where_sources_write_both_nothing_is_changed() -> None:
    assert FOLDING.unfold("Nino fell.", ["Niño fell.", "Nino slept."]) == "Nino fell."


def test_of_two_spellings_the_more_frequent_comes_back() -> None:
    sources = ["Dvořák and Dvořák met Dvorák."]
    assert FOLDING.unfold("Dvorak slept.", sources) == "Dvořák slept."


@given(st.lists(st.text(alphabet="aåäöñn e", max_size=12), max_size=3))
def test_a_source_alone_comes_back_whole_unless_it_writes_both(words: list[str]) -> None:
    text = " ".join(words)
    back = FOLDING.unfold(FOLDING.fold(text), [text])
    assert len(back) == len(text)
    assert FOLDING.fold(back) == FOLDING.fold(text)
