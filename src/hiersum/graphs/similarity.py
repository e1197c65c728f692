"""The similarity graph: edges are cosines of tf-idf vectors (appendix A.1)."""

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
