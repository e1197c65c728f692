"""Rankers without training: similarity to the title, reading order, and the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hiersum.text.overlap import ngram_overlap
from hiersum.text.tfidf import TfidfSpace, cosines
from hiersum.types import Paragraph


class SimilarityRanker:
    """Scores a paragraph by its tf-idf cosine with the title (the paper's baseline)."""

    fingerprint = None

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return the cosines, in [0, 1].

        If no word of the title occurs in the cluster, the cluster's centroid replaces the title.
        """
        space = TfidfSpace([paragraph.text for paragraph in paragraphs])
        query = space.vectors_of([title])
        if query.nnz == 0:
            centroid = space.vectors.sum(axis=0)
            query = sparse.csr_matrix(centroid / (np.linalg.norm(centroid) or 1))
        scores: list[float] = cosines(space.vectors, query)[:, 0].tolist()
        return scores


class ReadingOrder:
    """Keeps paragraphs in order (the paper's Flat Transformer without ranking)."""

    fingerprint = None

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return 1, 1/2, 1/3, ..."""
        return [1 / (1 + index) for index in range(len(paragraphs))]


@dataclass(frozen=True, slots=True)
class OracleRanker:
    """Scores a paragraph by its recall of the target's bigrams, the label of the trained ranker.

    For training data only: the network reads what its target was made from, so it does not learn to
    write what it cannot have read.
    """

    target: str
    fingerprint = "oracle"
    """Distinguishes its output from that of rankers that do not see the target."""

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return the ROUGE-2 recalls, in [0, 1]."""
        texts = [paragraph.text for paragraph in paragraphs]
        scores: list[float] = ngram_overlap(self.target, texts, 2).recall.tolist()
        return scores
