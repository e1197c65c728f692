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
        self._ids: dict[str, int] = {}
        words = [self._words(text) for text in texts]
        for word in chain.from_iterable(words):
            self._ids.setdefault(word, len(self._ids))
        counts = self._counts(words)
        document_frequency = counts.getnnz(axis=0)
        self._weights = np.log(max(len(texts), 1) / np.maximum(document_frequency, 1))
        self.vectors = self._weigh(counts)
        """The vectors of the texts the space was made from, one row each."""

    def vectors_of(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """Return vectors of other texts; words unknown to the space are left out."""
        return self._weigh(self._counts([self._words(text) for text in texts]))

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    def weights_of(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """Return the weight of each word of each text, counted once, not brought to length one."""
        counts = self._counts([self._words(text) for text in texts])
        return (counts > 0).multiply(self._weights).tocsr()

    def _words(self, text: str) -> list[str]:
        return split_stems(text) if self._stem else split_words(text)

    def _counts(self, texts: Sequence[Sequence[str]]) -> sparse.csr_matrix:
        ids = [[self._ids[word] for word in words if word in self._ids] for words in texts]
        rows = np.repeat(np.arange(len(ids)), [len(row) for row in ids])
        columns = np.fromiter(chain.from_iterable(ids), np.int64)
        shape = (len(ids), len(self._ids))
        # Entries that stand twice are added up: that is the count.
        return sparse.coo_matrix((np.ones(len(columns)), (rows, columns)), shape).tocsr()

    def _weigh(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        vectors = counts.multiply(self._weights).tocsr()
        norms = np.sqrt(vectors.multiply(vectors).sum(axis=1)).A1
        return (sparse.diags(1 / np.where(norms > 0, norms, 1)) @ vectors).tocsr()


def cosines(left: sparse.csr_matrix, right: sparse.csr_matrix) -> NDArray[np.float64]:
    """Return the cosine of every row of one matrix with every row of the other."""
    result: NDArray[np.float64] = (left @ right.T).toarray()
    return np.clip(result, 0, 1)  # rounding may go a hair above 1
