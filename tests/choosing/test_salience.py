"""Salience rises with what a cluster is about, what it keeps speaking of, and what is asked."""

from __future__ import annotations

import math

import numpy as np
import pytest
from networkx import DiGraph
from networkx import pagerank as pagerank_of_networkx

from hiersum.choosing.salience import (
    measure_agreement,
    measure_answers,
    measure_salience,
    weigh_words,
)
from hiersum.text.tfidf import TfidfSpace, cosines

SENTENCES = [
    "The harbour bridge reopened on Monday after eleven months of repair.",
    "The repair of the harbour bridge cost 48 million crowns.",
    "Cracks in two cables of the bridge were found by inspectors.",
    "Gulls nest on roofs near fish markets.",
    "The ferry that replaced the bridge stops in June.",
]
PARAGRAPHS = [0, 1, 1, 2, 3]


def salience(title: str = "", sentences: list[str] = SENTENCES) -> np.ndarray:
    return measure_salience(sentences, PARAGRAPHS[: len(sentences)], title)[0]


def test_it_is_what_it_says_it_is() -> None:
    """Held to networkx's PageRank and to shares counted by hand."""
    sentences = ["Old mills grind corn.", "Old mills stand still.", "Corn is an old grain."]
    values, similarities = measure_salience(sentences, [0, 0, 1], "corn")
    space = TfidfSpace(sentences, stem=True)
    title = cosines(space.vectors, space.vectors_of(["corn"]))[:, 0]
    graph = DiGraph()
    graph.add_weighted_edges_from(
        (i, j, similarities[i, j]) for i in range(3) for j in range(3) if similarities[i, j]
    )
    prior = {index: float(value) for index, value in enumerate(title)}
    ranks = pagerank_of_networkx(graph, alpha=0.85, personalization=prior, tol=1e-10, max_iter=500)
    # old 1, mill 1/2, grind 1/2, corn 1; old 1, mill 1/2, stand 1/2; corn 1, old 1, grain 1/2
    shares = [3 / 4, None, 2.5 / 3]
    for index in (0, 2):
        expected = math.log(3 * ranks[index] + 1e-3) + math.log(shares[index] + 1e-2)
        assert values[index] == pytest.approx(expected + 0.5 * (index == 2), abs=1e-4)


def test_what_stands_alone_is_least_salient() -> None:
    assert salience("Harbour bridge").argmin() == 3
    assert salience().argmin() == 3, "also if there is no title"


def test_the_title_steers() -> None:
    assert salience("Harbour bridge").argmax() in (0, 1)
    assert salience("Cracks in the cables").argmax() == 2


def test_documents_agree_on_words_that_others_have_too() -> None:
    """Counted by hand: old is in both other documents, corn in one of them, the rest in none."""
    sentences = ["Old corn grows.", "The mill is old.", "Corn is an old grain.", "Mill."]
    np.testing.assert_allclose(
        measure_agreement(sentences, [0, 1, 2, 1]), [0.5, 0.5, 0.5, 0.0], atol=1e-9
    )
    assert measure_agreement(["Old corn.", "Old mill."], [0, 0]).tolist() == [0, 0]


def test_words_are_worth_the_log_of_the_documents_that_have_them() -> None:
    sentences = ["Old corn grows.", "The mill is old.", "Corn is an old grain.", "Mill."]
    weights = weigh_words(sentences, [0, 1, 2, 1])
    assert weights.shape == (4, 5), "old, corn, grow, mill, grain"
    np.testing.assert_allclose(
        weights.sum(axis=1), [math.log(3) + math.log(2), math.log(3), math.log(3) + math.log(2), 0]
    )


def test_what_has_the_words_of_a_question_answers_it() -> None:
    assert measure_answers(SENTENCES, "When does the ferry stop?").argmax() == 4
    assert measure_answers(SENTENCES, "gulls").argmax() == 3


@pytest.mark.parametrize("focus", ["", "volcanoes", "What about volcanoes?"])
def test_a_question_of_other_words_changes_nothing(focus: str) -> None:
    sentences = [*SENTENCES, "What about it, said the mayor."]
    np.testing.assert_array_equal(measure_answers(sentences, focus), np.zeros(6))


def test_words_that_only_ask_are_no_answer() -> None:
    sentences = [*SENTENCES, "What did the mayor say?", "Who was it?"]
    assert measure_answers(sentences, "What did it cost?").argmax() == 1
    assert measure_answers(sentences, "who?").argmax() == 6, "unless there are no others"


def test_saying_what_something_is_counts() -> None:
    plain = ["The bridge carries a road over water.", "The town keeps the bridge."]
    defining = ["The bridge is a road over water.", "The town keeps the bridge."]
    gain = salience("", defining) - salience("", plain)
    assert gain[0] > 0.3 > abs(gain[1])


@pytest.mark.parametrize(
    "sentences", [["One."], ["Same words.", "Same words."], ["的 是", "了 在"]]
)
def test_odd_clusters_have_finite_salience(sentences: list[str]) -> None:
    assert np.isfinite(salience("的 title", sentences)).all()
    assert np.isfinite(measure_answers(sentences, "的")).all()
