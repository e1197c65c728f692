"""The similarity graph (appendix A.1), and PageRank: which nodes of a graph are central."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hiersum.text.tfidf import TfidfSpace, cosines

MIN_SIMILARITY = 0.2
"""A network's graph has no edges below this weight (appendix A.1)."""


def similarity_graph(
    texts: Sequence[str], chosen: Sequence[int] | None = None, *, min_similarity: float = 0.0
) -> NDArray[np.float64]:
    """Return edge weights between paragraphs, in [0, 1], symmetric, 1 on the diagonal.

    Args:
        texts: all paragraphs of a cluster, from which words get their idf.
        chosen: indices of the paragraphs to relate, in the order of the rows; all if None.
        min_similarity: edges below this weight are removed.
    """
    vectors = TfidfSpace(texts).vectors
    if chosen is not None:
        vectors = vectors[list(chosen)]
    graph = cosines(vectors, vectors)
    graph[graph < min_similarity] = 0
    np.fill_diagonal(graph, 1)  # also if all words of a paragraph are in every paragraph
    return graph


def add_title(graph: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the graph with the title as node 0, linked to itself alone."""
    with_title = np.pad(graph, ((1, 0), (1, 0)))
    with_title[0, 0] = 1
    return with_title


_TOLERANCE = 1e-9
_MAX_ROUNDS = 1_000


def pagerank(
    graph: NDArray[np.float64],
    *,
    damping: float,
    prior: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the share of time that a walk spends at each node; shares sum to 1.

    With probability `damping` the walk follows an edge, chosen by weight. Otherwise, and at a node
    without edges, it jumps to a node drawn from `prior` (uniform if None or all zero).
    """
    num_nodes = len(graph)
    if num_nodes == 0:
        return np.zeros(0)
    if prior is None or prior.sum() <= 0:
        prior = np.ones(num_nodes)
    jump = prior / prior.sum()
    totals = graph.sum(axis=1, keepdims=True)
    steps = np.divide(graph, totals, out=np.tile(jump, (num_nodes, 1)), where=totals > 0)
    ranks: NDArray[np.float64] = jump
    for _ in range(_MAX_ROUNDS):
        previous, ranks = ranks, damping * (ranks @ steps) + (1 - damping) * jump
        if np.abs(ranks - previous).sum() < _TOLERANCE:
            break
    return ranks
