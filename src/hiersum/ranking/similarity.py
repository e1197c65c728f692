"""Ranking by similarity: the tf-idf cosine of a paragraph and the title (the paper's baseline)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from hiersum.text.tfidf import TfidfSpace, cosines
from hiersum.types import Paragraph


class SimilarityRanker:
    """Scores a paragraph by its cosine with the title, or with the cluster's centroid without one."""

    fingerprint = None

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return the cosines, in [0, 1].

        A title without any word of the cluster says nothing, so it counts as none.
        """
        space = TfidfSpace([paragraph.text for paragraph in paragraphs])
        query = space.vectors_of([title])
        if query.nnz == 0:
            centroid = space.vectors.sum(axis=0)
            query = sparse.csr_matrix(centroid / (np.linalg.norm(centroid) or 1))
        scores: list[float] = cosines(space.vectors, query)[:, 0].tolist()
        return scores
