"""A summary is made of whole sentences that nobody speaks in person, and begins with its topic."""

from __future__ import annotations

import pytest

from hiersum.text.quotable import fills_its_place, find_openings, is_quotable


@pytest.mark.parametrize(
    ("sentence", "title", "expected"),
    [
        ("The tower (built [again] in 1990) fell.", "Tower", True),
        ("The tower (pop.", "Tower", False),
        ("1,200) lies in Kent.", "Tower", False),
        ("My tower fell.", "Tower", False),
        ("My Fair Lady is a show.", "My Fair Lady", True),
        ("My Fair Lady is a show.", "My Fair Lady (musical)", True),
        ("My tower fell.", "M (1931 film)", False),
        ("In 1990 the tower fell.", "", True),
        ("We met (Anna) there.", "(1990)", False),
    ],
)
def test_what_can_be_quoted(sentence: str, title: str, expected: bool) -> None:
    assert is_quotable(sentence, title) is expected


def test_openings_have_a_share_of_as_many_words_of_the_title_as_any() -> None:
    sentences = [
        "Ferries are slow.",
        "Old towns need towers.",
        "The tower's bells ring.",
        "It rang.",
    ]
    assert find_openings(sentences, "Old tower") == {1, 2}
    assert find_openings(sentences, "Old tower", share=2 / 3) == {1}
    assert find_openings(sentences, "Old towers of the old town") == {1}
    assert find_openings(sentences, "Zebras") == set()
    assert find_openings([], "Old tower") == set()


@pytest.mark.parametrize(
    ("sentence", "num_words", "expected"),
    [
        ("The bridge was closed for months.", 6, True),
        ("The bridge was closed.", 4, False),
        ("The bridge was closed for months.", 60, True),
        ("The bridge was closed for months.", 61, False),
        ("The bridge was closed for months", 6, False),
        ("Why was the old bridge closed?", 6, False),
    ],
)
def test_fragments_lists_and_questions_do_not_fill_their_place(
    sentence: str, num_words: int, expected: bool
) -> None:
    assert fills_its_place(sentence, num_words) is expected
