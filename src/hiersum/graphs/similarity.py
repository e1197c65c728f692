"""The similarity graph: paragraphs are linked by the cosine of their tf-idf vectors (appendix A.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hiersum.text.tfidf import TfidfSpace, cosines


def similarity_graph(
    texts: Sequence[str], chosen: Sequence[int] | None = None, *, min_similarity: float = 0.0
) -> NDArray[np.float64]:
    """Return edge weights between paragraphs, in [0, 1], symmetric, 1 on the diagonal.

    Args:
        texts: all paragraphs of a cluster; words are weighed by how many of them have the word.
        chosen: the paragraphs to relate, as indices, in the order the matrix shall have; all if None.
        min_similarity: edges below this weight are removed.
    """
    vectors = TfidfSpace(texts).vectors
    if chosen is not None:
        vectors = vectors[list(chosen)]
    graph = cosines(vectors, vectors)
    graph[graph < min_similarity] = 0
    np.fill_diagonal(graph, 1)  # also of a paragraph that has only words of every paragraph
    return graph
