"""A cluster's topic is found in its documents, and documents about a title are told from the rest."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import WORDS
from support import EXAMPLES

from hiersum.config import DataConfig
from hiersum.ranking.topic import find_topic, weigh_documents
from hiersum.text.documents import read_documents
from hiersum.text.paragraphs import read_paragraphs
from hiersum.types import Document

BODIES = [
    "The harbour bridge is closed. Cracks were found in the harbour bridge on Monday.",
    "Ferries carry everyone while the harbour bridge is closed. Ferries are full on Monday.",
    "Nobody paid for the Harbour Bridge yet. On Monday nobody wanted to.",
]


def test_topic_is_the_words_that_occur_together_in_most_documents() -> None:
    assert find_topic(BODIES) == "harbour bridge"
    named = [body.replace("harbour bridge", "Harbour Bridge") for body in BODIES]
    assert find_topic(named) == "Harbour Bridge"


def test_topic_has_no_days_months_numbers_or_function_words() -> None:
    assert find_topic(["On Monday 12 March it may be. On Monday 12 March it was a tram."]) == "tram"


def test_topic_is_a_heading_with_these_words() -> None:
    headings = ["What a morning", "Harbour bridge closed after cracks", "Who pays"]
    documents = [f"{heading}\n\n{body}" for heading, body in zip(headings, BODIES)]
    assert find_topic(documents) == headings[1]


@pytest.mark.parametrize(
    "first", ["The harbour bridge is closed.", "Harbour bridge " * 10, "Summary", ""]
)
def test_topic_is_no_sentence_paragraph_or_single_word(first: str) -> None:
    assert find_topic([f"{first}\n\n{BODIES[0]}", *BODIES[1:]]).lower() == "harbour bridge"


@pytest.mark.parametrize("documents", [[], [""], ["...", "12 12"], ["of the and", ""]])
def test_topic_of_documents_without_words_is_empty(documents: list[str]) -> None:
    assert find_topic(documents) == ""


@given(st.lists(st.text(max_size=200), max_size=4))
def test_topic_is_a_part_of_the_documents(documents: list[str]) -> None:
    topic = find_topic(documents)
    words = {word for text in documents for word in text.replace("-", " ").split()}
    assert all(any(part in word for word in words) for part in topic.replace("-", " ").split())


def test_topic_of_the_example_folders() -> None:
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
    return weigh_documents(title, read_paragraphs(documents), len(documents))


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
def test_weights_drop_what_a_search_brings_along(title: str) -> None:
    assert about(title, OWN, *NOISE) == {0}
    assert about(title, *NOISE, OWN) == {len(NOISE)}


def test_weights_prefer_the_whole_title_to_its_words() -> None:
    names = [
        document("The red lion is an inn.", seed=6),
        document("A fox and a lion sleep.", seed=7),
    ]
    assert about("Red Lion", *names, *NOISE) == {0}


def test_weights_keep_all_where_most_mention_the_title() -> None:
    """Documents that a person gathered: two of them have no word of the title."""
    texts = [
        document("The harbour bridge fell.", "The bridge was old.", seed=n, others=3)
        for n in range(6, 11)
    ]
    assert about("Harbour bridge", texts[0], *NOISE[1:], OWN) == {0}
    assert about("Harbour bridge", *texts[:4], NOISE[4], OWN) == {0, 1, 2, 3, 4, 5}


def test_weights_keep_all_where_documents_are_alike() -> None:
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


def test_weights_keep_copies_with_another_last_line() -> None:
    """What all documents have tells none of them from others."""
    body = document("They were glued.", "Handles came off.", "A firm paid.", seed=6)
    ends = [
        "Tandry calls its QuickBoil back.",
        "Tandry is silent about the QuickBoil.",
        "So it goes.",
    ]
    texts = [f"{body}\n{end} {n}" for n, end in enumerate([*ends, "Well.", "Yes.", "No.", "Oh."])]
    assert about("Tandry QuickBoil", *texts) == set(range(7))


def test_weights_keep_all_of_few_documents() -> None:
    texts = ["The order queue stalled. The order queue is back.", *NOISE[:4]]
    assert about("Order queue", *texts) == {0, 1, 2, 3, 4}
    assert about("Order queue", *texts, OWN) == {0}


def test_weights_grow_with_mentions_of_the_title() -> None:
    """Of two namesakes, the one whose every passage has the name counts most."""
    often = document(*["Nash scored again."] * 4, seed=6)
    twice = document("Nash was there.", "They met.", "They lost.", "So did Nash.", seed=7)
    of_often, of_twice, *of_others = weights("Ogden Nash", often, twice, *NOISE)
    assert of_often == 1
    assert 0 < of_twice < 0.5
    assert not any(of_others)


def test_weights_count_words_that_only_look_like_function_words() -> None:
    """The stem of Lessing is less."""
    text = document("Lessing was born in Kamenz.", "Lessing wrote plays.", seed=6)
    assert about("Gotthold Ephraim Lessing", text, *NOISE) == {0}


def test_weights_ignore_one_accidental_word() -> None:
    texts = [document("They asked for feedback.", seed=6, others=9), *NOISE]
    assert about("Project feedback", *texts) == set(range(len(texts)))


def test_weights_ignore_empty_documents() -> None:
    """Three of four speak of it."""
    texts = [f"The harbour bridge is closed.\n{text}" for text in NOISE[:3]]
    assert 3 in about("Harbour bridge", *texts, NOISE[3], "", "", "")


def test_weights_of_a_headline_with_a_comma_keep_all() -> None:
    headline = "Storm hits coast, thousands flee homes as rivers rise in the north"
    texts = [document(f"{headline}.", seed=6), *NOISE]
    assert about(headline, *texts) == set(range(len(texts)))


def test_weights_of_a_name_of_function_words_keep_all() -> None:
    """By "novel" alone, the novel's own text would be left out."""
    texts = [document("It scared them.", seed=6), document("A novel is long.", seed=7), *NOISE]
    assert about("It (novel)", *texts) == set(range(len(texts)))


@pytest.mark.parametrize("title", ["", "?", "Quantum chromodynamics"])
def test_weights_keep_all_where_none_mentions_the_title(title: str) -> None:
    assert about(title, *NOISE, OWN) == {0, 1, 2, 3, 4, 5}


def test_weights_of_a_headline_keep_all() -> None:
    """It stands as a whole only where it was taken from."""
    headline = "Harbour bridge in Port Ellery reopens, eleven months late"
    texts = [
        f"{headline}. It was time, the mayor says.",
        "The harbour bridge is open again in Port Ellery.",
        "Port Ellery: months of work on the bridge are over.",
        *NOISE[:3],
    ]
    assert about(headline, *texts) == {0, 1, 2, 3, 4, 5}


def test_weights_of_no_documents_and_empty_ones() -> None:
    assert about("Harbour bridge") == set()
    assert about("Harbour bridge", "", "") == {0, 1}
