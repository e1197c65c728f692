"""Documents about a title are told from what only shares a word with it, and none of a folder is lost."""

from __future__ import annotations

import random

import pytest
from made_up import WORDS

from hiersum.config import DataConfig
from hiersum.ranking.aboutness import weigh_documents
from hiersum.text.paragraphs import read_paragraphs
from hiersum.types import Document


def document(*sentences: str, seed: int, others: int = 0, dialect: str | None = None) -> str:
    """Return a paragraph for each sentence, which begins with it and goes on, and some others.

    Each seed goes on in words of its own, unless it shares a dialect with others.
    """
    generator = random.Random(seed)
    ending = dialect or chr(ord("a") + seed) * 2
    words = [f"{word}{ending}" for word in WORDS]
    return "\n".join(
        f"{sentence} {' '.join(generator.choices(words, k=70))}."
        for sentence in (*sentences, *["Well."] * others)
    )


OWN = document("Shutt was born in Leeds.", "Shutt spoke.", "Lord Shutt retired.", seed=0)
NOISE = [
    document("David bought the house of a lumber baron.", seed=1, others=9),
    document("The baron and David met in Leeds.", seed=2, others=9),
    document("The mill of Greetland made wool.", seed=3, others=9),
    document("The river is long and cold.", seed=4, others=9),
    document("A baron of coal built the town.", seed=5, others=9),
]


def weights(title: str, *texts: str) -> list[float]:
    documents = [Document(text) for text in texts]
    return weigh_documents(title, read_paragraphs(documents, DataConfig()), len(documents))


def about(title: str, *texts: str) -> set[int]:
    return {number for number, weight in enumerate(weights(title, *texts)) if weight}


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
    names = [
        document("The red lion is an inn.", seed=6),
        document("A fox and a lion sleep.", seed=7),
    ]
    assert about("Red Lion", *names, *NOISE) == {0}


def test_where_most_speak_of_it_none_is_left_out() -> None:
    """Documents that a person gathered: two of them have no word of the title."""
    texts = [
        document("The harbour bridge fell.", "The bridge was old.", seed=n, others=3)
        for n in range(6, 11)
    ]
    assert about("Harbour bridge", texts[0], *NOISE[1:], OWN) == {0}
    assert about("Harbour bridge", *texts[:4], NOISE[4], OWN) == {0, 1, 2, 3, 4, 5}


def test_where_documents_are_alike_none_is_left_out() -> None:
    """Gathered about one thing, though only the first of them goes on about the title's words."""
    sentences = ["Tandry calls kettles back.", "The kettle of Tandry leaks.", "Tandry pays."]
    first = document(*sentences, seed=6)
    told = ["They were glued.", "Handles came off.", "Two hands were burned.", "A firm paid."]
    for dialect, expected in ((None, {0}), ("s", {0, 1, 2, 3, 4, 5})):
        others = [
            document(sentence, seed=n, others=3, dialect=dialect)
            for n, sentence in enumerate([*told, "They sold it in March."], start=7)
        ]
        assert about("Tandry kettle", first, *others) == expected


def test_copies_with_another_last_line_are_alike() -> None:
    """What all documents have tells none of them from others."""
    body = document("They were glued.", "Handles came off.", "A firm paid.", seed=6)
    ends = [
        "Tandry calls its QuickBoil back.",
        "Tandry is silent about the QuickBoil.",
        "So it goes.",
    ]
    texts = [f"{body}\n{end} {n}" for n, end in enumerate([*ends, "Well.", "Yes.", "No.", "Oh."])]
    assert about("Tandry QuickBoil", *texts) == set(range(7))


def test_of_few_documents_none_is_left_out() -> None:
    texts = ["The order queue stalled. The order queue is back.", *NOISE[:4]]
    assert about("Order queue", *texts) == {0, 1, 2, 3, 4}
    assert about("Order queue", *texts, OWN) == {0}


def test_documents_count_by_how_much_they_speak_of_it() -> None:
    """Of two namesakes, the one whose every passage has the name counts most."""
    often = document(*["Nash scored again."] * 4, seed=6)
    twice = document("Nash was there.", "They met.", "They lost.", "So did Nash.", seed=7)
    of_often, of_twice, *of_others = weights("Ogden Nash", often, twice, *NOISE)
    assert of_often == 1
    assert 0 < of_twice < 0.5
    assert not any(of_others)


def test_words_that_only_look_like_function_words_count() -> None:
    """The stem of Lessing is less."""
    text = document("Lessing was born in Kamenz.", "Lessing wrote plays.", seed=6)
    assert about("Gotthold Ephraim Lessing", text, *NOISE) == {0}


def test_one_word_by_accident_does_not_drop_all_others() -> None:
    texts = [document("They asked for feedback.", seed=6, others=9), *NOISE]
    assert about("Project feedback", *texts) == set(range(len(texts)))


def test_empty_documents_are_not_counted() -> None:
    """Three of four speak of it."""
    texts = [f"The harbour bridge is closed.\n{text}" for text in NOISE[:3]]
    assert 3 in about("Harbour bridge", *texts, NOISE[3], "", "", "")


def test_a_headline_may_have_a_comma() -> None:
    headline = "Storm hits coast, thousands flee homes as rivers rise in the north"
    texts = [document(f"{headline}.", seed=6), *NOISE]
    assert about(headline, *texts) == set(range(len(texts)))


def test_a_name_of_function_words_tells_nothing() -> None:
    """By "novel" alone, the novel's own text would be left out."""
    texts = [document("It scared them.", seed=6), document("A novel is long.", seed=7), *NOISE]
    assert about("It (novel)", *texts) == set(range(len(texts)))


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
