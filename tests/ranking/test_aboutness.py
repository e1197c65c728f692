"""Documents about a title are told from what only shares a word with it, and none of a folder is lost."""

from __future__ import annotations

import pytest

from hiersum.ranking.aboutness import documents_about
from hiersum.types import Document

OWN = "Shutt was a councillor in Calderdale. Lord Shutt spoke for his party. " + "He rose. " * 20
NOISE = [
    "David bought the house of a lumber baron. " + "It stood empty for many years. " * 40,
    "The baron and David met in Leeds. " + "The match ended in a draw that nobody liked. " * 40,
    "The mill of Greetland made wool. "
    + "It closed when the war ended and all work was lost. " * 40,
    "The river is long and cold. " * 40,
    "A baron of coal built the town. " + "Nobody lives in it today, as far as is known. " * 40,
]


def about(title: str, *texts: str) -> set[int]:
    return set(documents_about(title, [Document(text) for text in texts]))


@pytest.mark.parametrize(
    "title",
    [
        "David Shutt, Baron Shutt of Greetland",
        "David Shutt (politician)",
        "Lord Shutt",
        "shutt",
    ],
)
def test_what_a_search_brings_along_is_left_out(title: str) -> None:
    assert about(title, OWN, *NOISE) == {0}
    assert about(title, *NOISE, OWN) == {len(NOISE)}


def test_a_title_as_a_whole_says_more_than_its_words() -> None:
    filler = "Nobody was at the place for the rest of the day. " * 4
    names = [f"The red lion is an inn. {filler}", f"A fox and a lion sleep. {filler}"]
    assert about("Red Lion", *names, *NOISE) == {0}


def test_where_most_speak_of_it_none_is_left_out() -> None:
    """Documents that a person gathered: two of them have no word of the title."""
    texts = [f"The harbour bridge is closed. {text}" for text in NOISE]
    assert about("Harbour bridge", texts[0], *NOISE[1:], OWN) == {0}
    assert about("Harbour bridge", *texts[:4], NOISE[4], OWN) == {0, 1, 2, 3, 4, 5}


def test_of_few_documents_none_is_left_out() -> None:
    texts = ["The order queue stalled. The order queue is back.", *NOISE[:4]]
    assert about("Order queue", *texts) == {0, 1, 2, 3, 4}
    assert about("Order queue", *texts, OWN) == {0}


@pytest.mark.parametrize("title", ["", "?", "Quantum chromodynamics"])
def test_where_none_speaks_of_it_none_is_left_out(title: str) -> None:
    assert about(title, *NOISE, OWN) == {0, 1, 2, 3, 4, 5}


def test_a_headline_is_about_all_that_say_the_same() -> None:
    """It stands as a whole only where it was taken from."""
    headline = "Harbour bridge in Port Ellery reopens, eleven months late"
    texts = [
        f"{headline}. It was time, the mayor says.",
        "The harbour bridge is open again in Port Ellery.",
        "Port Ellery: months of work on the bridge are over.",
        *NOISE[:3],
    ]
    assert about(headline, *texts) == {0, 1, 2, 3, 4, 5}


def test_no_documents_and_empty_ones() -> None:
    assert about("Harbour bridge") == set()
    assert about("Harbour bridge", "", "") == {0, 1}
