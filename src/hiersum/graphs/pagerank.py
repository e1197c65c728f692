"""PageRank: how often a random walk with restarts visits each node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
