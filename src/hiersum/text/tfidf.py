"""Sparse tf-idf vectors of unit length, so that a dot product is a cosine."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hiersum.text.words import split_stems, split_words


class TfidfSpace:
    """A vocabulary with idf weights.

    A word's weight in a text is its count times log(N / df), where N is the number of texts the
    space was made from and df the number of those with the word (the paper's appendix A.1). Words
    in every text have weight 0; words in none are unknown.
    """

    def __init__(self, texts: Sequence[str], *, stem: bool = False) -> None:
        self._split = split_stems if stem else split_words
        self._ids: defaultdict[str, int] = defaultdict()
        self._ids.default_factory = self._ids.__len__
        number = self._ids.__getitem__
        counts = self._count(map(number, self._split(text)) for text in texts)
        self._weights = np.log(max(len(texts), 1) / np.maximum(counts.getnnz(axis=0), 1))
        self.vectors = self._weigh(counts)
        """The vectors of the texts the space was made from, one row each."""

    def vectors_of(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """Return vectors of other texts, ignoring words unknown to the space."""
        known = self._ids
        return self._weigh(
            self._count([known[w] for w in self._split(text) if w in known] for text in texts)
        )

    @property
    def centroid(self) -> sparse.csr_matrix:
        """The mean direction of the texts the space was made from."""
        total = self.vectors.sum(axis=0)
        return sparse.csr_matrix(total / (np.linalg.norm(total) or 1))

    def _count(self, rows: Iterable[Iterable[int]]) -> sparse.csr_matrix:
        # Thousands of documents have millions of words, so no list holds them and numbers are small.
        ids, starts = array("i"), array("i", [0])
        for row in rows:
            ids.extend(row)
            starts.append(len(ids))
        indices, ends = np.array(ids, np.int32), np.array(starts, np.int32)
        del ids, starts
        ones = np.ones(len(indices), np.float32)
        counts = sparse.csr_matrix((ones, indices, ends), (len(ends) - 1, len(self._ids)))
        counts.sum_duplicates()
        return counts

    def _weigh(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        # On the values alone: sparse matrix products would dominate the cost.
        values = self._weights[counts.indices]
        values *= counts.data
        squares = sparse.csr_matrix((values**2, counts.indices, counts.indptr), counts.shape)
        norms = np.sqrt(squares.sum(axis=1)).A1
        values *= np.repeat(1 / np.where(norms > 0, norms, 1), np.diff(counts.indptr))
        vectors = sparse.csr_matrix((values, counts.indices, counts.indptr), counts.shape)
        vectors.eliminate_zeros()
        return vectors


def cosines(left: sparse.csr_matrix, right: sparse.csr_matrix) -> NDArray[np.float64]:
    """Return the cosine of every row of one matrix with every row of the other."""
    result: NDArray[np.float64] = (left @ right.T).toarray()
    return np.clip(result, 0, 1)  # rounding may exceed 1
