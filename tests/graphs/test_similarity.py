"""The similarity graph of appendix A.1, held to cosines of its own formula and to its promises."""

from __future__ import annotations

import numpy as np

from hiersum.graphs.similarity import add_title, similarity_graph
from hiersum.text.tfidf import TfidfSpace, cosines

TEXTS = [
    "the bridge was closed for repairs of its cables",
    "repairs of the bridge and its cables were slow",
    "ferries carried the passengers for free",
    "the ferries stop and the passengers complain",
    "the",
]


def test_edges_are_cosines_and_small_ones_are_removed() -> None:
    vectors = TfidfSpace(TEXTS).vectors
    expected = cosines(vectors, vectors)
    np.fill_diagonal(expected, 1)
    np.testing.assert_allclose(similarity_graph(TEXTS), expected)
    expected[expected < 0.2] = 0
    np.testing.assert_allclose(similarity_graph(TEXTS, min_similarity=0.2), expected)
    assert (expected[:2, 2:] == 0).all()
    assert expected[0, 1] > 0.2


def test_the_graph_is_symmetric_with_ones_on_its_diagonal_and_within_bounds() -> None:
    graph = similarity_graph(TEXTS)
    np.testing.assert_array_equal(graph, graph.T)
    np.testing.assert_array_equal(np.diag(graph), np.ones(len(TEXTS)))
    assert ((graph >= 0) & (graph <= 1)).all()


def test_chosen_paragraphs_keep_the_weights_of_the_whole_cluster() -> None:
    """Choosing permutes and cuts the matrix; document frequencies stay those of all paragraphs."""
    chosen = [3, 0, 1]
    whole = similarity_graph(TEXTS)
    np.testing.assert_allclose(similarity_graph(TEXTS, chosen), whole[np.ix_(chosen, chosen)])


def test_the_title_is_linked_to_itself_alone() -> None:
    graph = np.array([[1.0, 0.4], [0.4, 1.0]])

    assert add_title(graph).tolist() == [[1, 0, 0], [0, 1, 0.4], [0, 0.4, 1]]
