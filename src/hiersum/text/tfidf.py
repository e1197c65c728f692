"""Texts as sparse tf-idf vectors of length one, so that a dot product is a cosine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hiersum.text.words import split_stems, split_words


class TfidfSpace:
    """The words of some texts and their weights.

    A word's weight in a text is its count there times log(N / df), where N is the number of texts the
    space was made from and df the number of them that have the word (the paper's appendix A.1). A word
    of every text weighs nothing, and a word of no text is unknown.
    """

    def __init__(self, texts: Sequence[str], *, stem: bool = False) -> None:
        self._stem = stem
        words = [self._words(text) for text in texts]
        self._ids = _WordIds()
        ids = np.fromiter(map(self._ids.__getitem__, chain.from_iterable(words)), np.int64)
        counts = self._counts(ids, [len(row) for row in words])
        document_frequency = counts.getnnz(axis=0)
        self._weights = np.log(max(len(texts), 1) / np.maximum(document_frequency, 1))
        self.vectors = self._weigh(counts)
        """The vectors of the texts the space was made from, one row each."""

    def vectors_of(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """Return vectors of other texts; words unknown to the space are left out."""
        return self._weigh(self._known_counts(texts))

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    def _words(self, text: str) -> list[str]:
        return split_stems(text) if self._stem else split_words(text)

    def _known_counts(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """Count the words of texts that the space knows."""
        known = [[self._ids[w] for w in self._words(text) if w in self._ids] for text in texts]
        ids = np.fromiter(chain.from_iterable(known), np.int64)
        return self._counts(ids, [len(row) for row in known])

    def _counts(self, ids: NDArray[np.int64], lengths: Sequence[int]) -> sparse.csr_matrix:
        shape = (len(lengths), len(self._ids))
        starts = np.cumsum([0, *lengths])
        counts = sparse.csr_matrix((np.ones(len(ids)), ids, starts), shape)
        counts.sum_duplicates()  # a word that stands twice in a row becomes its count
        return counts

    def _weigh(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        # On the values alone: the products of sparse matrices cost more than all the rest.
        values = counts.data * self._weights[counts.indices]
        squares = sparse.csr_matrix((values**2, counts.indices, counts.indptr), counts.shape)
        norms = np.sqrt(squares.sum(axis=1)).A1
        values *= np.repeat(1 / np.where(norms > 0, norms, 1), np.diff(counts.indptr))
        vectors = sparse.csr_matrix((values, counts.indices, counts.indptr), counts.shape)
        vectors.eliminate_zeros()
        return vectors


class _WordIds(dict[str, int]):
    """Number words in the order in which they are first asked for."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


def cosines(left: sparse.csr_matrix, right: sparse.csr_matrix) -> NDArray[np.float64]:
    """Return the cosine of every row of one matrix with every row of the other."""
    result: NDArray[np.float64] = (left @ right.T).toarray()
    return np.clip(result, 0, 1)  # rounding may go a hair above 1
