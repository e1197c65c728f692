"""Words are counted, cut and found alike in every script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiersum.text.words import (
    count_words,
    cut_words,
    has_words,
    leans_on_another,
    split_every,
    split_stems,
    split_words,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The bridge isn't open.", ["the", "bridge", "isn't", "open"]),
        ("1,200.5 people (4.5 %)", ["1,200.5", "people", "4.5"]),
        ("大桥开放", ["大", "桥", "开", "放"]),
        ("l\u2019eau naïve", ["l\u2019eau", "naïve"]),
        ("הגשר נפתח", ["הגשר", "נפתח"]),
        ("... -- !", []),
    ],
)  # fmt: skip
def test_words_of_many_scripts(text: str, words: list[str]) -> None:
    assert split_words(text) == words
    assert count_words(text) == len(words)
    assert has_words(text) == bool(words)


@given(st.text(max_size=300), st.integers(1, 20))
def test_a_cut_text_has_at_most_that_many_words_and_is_a_beginning(text: str, limit: int) -> None:
    cut = cut_words(text, limit)
    assert count_words(cut) == min(limit, count_words(text))
    assert text.strip().startswith(cut)


@given(st.text(max_size=300), st.integers(1, 20))
def test_pieces_of_a_text_hold_all_its_words(text: str, size: int) -> None:
    pieces = list(split_every(text, size))
    assert [word for piece in pieces for word in split_words(piece)] == split_words(text)
    assert all(count_words(piece) <= size for piece in pieces)


@given(st.text(st.characters(codec="ascii"), max_size=300))
def test_english_words_are_counted_as_they_are_split(text: str) -> None:
    assert count_words(text) == len(split_words(text))


def test_the_words_of_a_text_are_the_callers_own() -> None:
    split_words("one two").append("three")
    assert split_words("one two") == ["one", "two"]


def test_long_texts_are_counted_like_short_ones() -> None:
    assert count_words("word " * 50_000) == 50_000


def test_stems_are_for_english_words_only() -> None:
    assert split_stems("Bridges are réparées 1990s") == ["bridg", "are", "réparées", "1990"]


def test_a_possessive_is_its_word() -> None:
    assert split_stems("Shutt's bridge\u2019s its") == ["shutt", "bridg", "its"]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It was closed.", True),
        ("In March it was closed.", True),
        ("However, the bridge was closed.", True),
        ("But the bridge was closed.", True),
        ("The bridge was closed, but not for long.", False),
        ("The old bridge over the river lost its cables.", False),
        ("During his youth Anna slept.", True),
        ("For example, Anna slept.", True),
        ("On the other hand, Anna slept.", True),
        ("The latter was closed.", True),
        ("The following year Anna slept.", True),
        ("Later that day Anna slept.", True),
        ("The same bridge was closed.", False),
        ("John Smith is a former English cricketer.", False),
        ("The town, also known as Foo, lies in the north.", False),
        ("Marie Curie and her husband won it.", False),
        ("A hand grenade exploded.", False),
        ("It's also a port.", True),
        ("They\u2019ve won twice.", True),
        ("", False),
    ],
)
def test_a_sentence_leans_on_another_by_its_subject(sentence: str, expected: bool) -> None:
    assert leans_on_another(split_words(sentence)) is expected
