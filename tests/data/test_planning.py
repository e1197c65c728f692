"""Plans for training: found where a person would find them, and nothing unsafe is learned."""

from __future__ import annotations

import pytest

from hiersum.data.planning import find_plan, is_safe, plan_summary
from hiersum.text.words import content_stems
from hiersum.types import CitedSentence, Cluster, Document

SENTENCES = [
    "The bridge was closed in March 2021 after cracks were found in two cables.",
    "It carries 14,000 vehicles a day.",
    "A ferry replaces it until the repair ends.",
    "The council paid 3 million crowns for the ferry.",
]


def candidates(sentences: list[str]) -> dict[int, frozenset[str]]:
    return {n: frozenset(content_stems(text)) for n, text in enumerate(sentences)}


def cluster(*cited: CitedSentence, summary: str | None = None) -> Cluster:
    documents = (
        Document.from_paragraphs([" ".join(SENTENCES[:2])]),
        Document.from_paragraphs([" ".join(SENTENCES[2:])]),
    )
    text = summary or " ".join(sentence.text for sentence in cited)
    return Cluster("Harbour bridge", documents, text, cited=cited)


PLACES = [[0], [0], [1], [1]]


def test_plan_is_the_sentence_that_holds_the_words() -> None:
    assert find_plan("Vehicles: 14,000 a day use it.", candidates(SENTENCES)) == (1,)


def test_plan_joins_what_the_main_sentence_lacks() -> None:
    text = "The ferry, for which the council paid 3 million crowns, runs until the repair ends."
    assert find_plan(text, candidates(SENTENCES)) == (3, 2)


def test_plan_has_at_most_three_sentences() -> None:
    text = "Cables, vehicles, the repair and the council's crowns matter in March 2021 and 14,000 ways."
    assert len(find_plan(text, candidates(SENTENCES))) <= 3


def test_plan_of_words_that_stand_nowhere_is_empty() -> None:
    assert find_plan("Penguins breed on remote islands.", candidates(SENTENCES)) == ()


def test_cited_sentence_is_planned_only_from_what_it_cites() -> None:
    """The words stand in sentence 3, but paragraph 0 is cited: there is no plan there."""
    planned = plan_summary(
        cluster(CitedSentence("The council paid 3 million crowns for the ferry.", (0,))),
        SENTENCES,
        PLACES,
        "Harbour bridge",
    )
    assert planned == []


def test_sentence_that_leans_on_one_left_out_is_left_out() -> None:
    cited = (
        CitedSentence("Penguins breed on remote islands.", (0,)),
        CitedSentence("They carry 14,000 vehicles a day.", (0,)),
        CitedSentence("A ferry replaces the bridge until the repair ends.", (1,)),
    )
    planned = plan_summary(cluster(*cited), SENTENCES, PLACES, "Harbour bridge")
    assert [(sentence.text, sentence.plan) for sentence in planned] == [(cited[2].text, (2,))]


@pytest.mark.parametrize(
    ("summary", "kept"),
    [
        ("The bridge was closed in March 2021.", True),
        ("The bridge was closed in March 2022.", False),  # another number
        ("The bridge was closed by Mayor Holm in March 2021.", False),  # a name from nowhere
        ("The bridge was closed and demolished by angry farmers in March 2021.", False),
    ],
)
def test_uncited_sentence_is_learned_only_if_its_plan_holds_it(summary: str, kept: bool) -> None:
    planned = plan_summary(cluster(summary=summary), SENTENCES, PLACES, "Harbour bridge")
    assert [sentence.plan for sentence in planned] == ([(0,)] if kept else [])


def test_safe_means_seven_words_in_ten() -> None:
    """Held to a count by hand: four and three of five content words."""
    assert is_safe("Cracks, cables, ferry, council, penguins.", SENTENCES)
    assert not is_safe("Cracks, cables, ferry, penguins, islands.", SENTENCES)
