"""PageRank, held to the eigenvector that it approaches."""

from __future__ import annotations

import numpy as np
import pytest

from hiersum.graphs.similarity import pagerank


@pytest.mark.parametrize("seed", range(3))
def test_ranks_are_the_stationary_distribution(seed: int) -> None:
    generator = np.random.default_rng(seed)
    graph = generator.random((12, 12)) * (generator.random((12, 12)) > 0.6)
    graph[3] = 0  # a node without edges
    prior = generator.random(12)
    jump = prior / prior.sum()
    totals = graph.sum(axis=1, keepdims=True)
    steps = np.where(totals > 0, graph / np.where(totals > 0, totals, 1), jump)
    matrix = 0.85 * steps + 0.15 * jump
    values, vectors = np.linalg.eig(matrix.T)
    stationary = np.real(vectors[:, np.argmax(np.real(values))])
    ranks = pagerank(graph, damping=0.85, prior=prior)
    np.testing.assert_allclose(ranks, stationary / stationary.sum(), atol=1e-8)
    assert ranks.sum() == pytest.approx(1)


def test_without_edges_the_prior_remains() -> None:
    np.testing.assert_allclose(
        pagerank(np.zeros((3, 3)), damping=0.85, prior=np.array([1.0, 1, 2])), [0.25, 0.25, 0.5]
    )


def test_a_prior_of_zeros_is_uniform_and_an_empty_graph_empty() -> None:
    np.testing.assert_allclose(pagerank(np.eye(2), damping=0.85, prior=np.zeros(2)), [0.5, 0.5])
    assert pagerank(np.zeros((0, 0)), damping=0.85).shape == (0,)
