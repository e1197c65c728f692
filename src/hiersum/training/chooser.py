"""A chooser learned in one pass: ridge regression of how much of a target each sentence says.

A sentence is worth the share of its words that stand in the target, plus twice that of its pairs of
words. Precision, not recall: a summary has room for so many words, not for so many sentences. All
numbers are taken less their mean over the cluster: which of its sentences, not which cluster.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hiersum.choosing.chooser import Chooser, sentence_features
from hiersum.choosing.salience import Floats
from hiersum.choosing.sentences import ReadSentence
from hiersum.errors import DataError
from hiersum.text.overlap import ngram_overlap

_PAIR_WEIGHT = 2.0
_RIDGE = 0.05
"""Of the number of sentences; between 0.01 and 0.1 nothing changed (EXPERIMENTS.md)."""
_LEAST_DEVIATION = 1e-6


class ChooserFit:
    """Sums over sentences, from which the weights follow."""

    def __init__(self, width: int) -> None:
        """Begin for a network whose states have this many numbers."""
        self.num_clusters = self.num_sentences = 0
        self._squares = np.zeros((width + 1, width + 1))
        self._products = np.zeros(width + 1)

    def add(
        self,
        sentences: Sequence[ReadSentence],
        states: NDArray[np.float32],
        title: str,
        target: str,
    ) -> None:
        """Learn from a cluster; one of a single sentence teaches nothing."""
        if len(sentences) < 2:
            return
        features, _ = sentence_features(sentences, states, title)
        worth = sentence_worth([sentence.text for sentence in sentences], target)
        self._squares += features.T @ features
        self._products += features.T @ (worth - worth.mean())
        self.num_sentences += len(sentences)
        self.num_clusters += 1

    def chooser(self) -> Chooser:
        """Return the weights.

        Raises:
            DataError: there was nothing to learn from.
        """
        if not self.num_sentences:
            raise DataError("no cluster has two sentences that were read; give others")
        if not np.isfinite(self._squares).all():
            raise DataError("the network's states are no finite numbers; its weights are damaged")
        if not self._products.any():
            raise DataError(
                "no target tells sentences apart: words of a to z and digits are compared"
            )
        deviations = np.sqrt(np.diag(self._squares) / self.num_sentences)
        scales = 1 / np.maximum(deviations, _LEAST_DEVIATION)
        squares = self._squares * scales * scales[:, None]
        squares[np.diag_indices_from(squares)] += _RIDGE * self.num_sentences
        weights: Floats = np.linalg.solve(squares, self._products * scales) * scales
        return Chooser(weights[:-1], float(weights[-1]))


def sentence_worth(sentences: Sequence[str], target: str) -> Floats:
    """Return how much of each sentence stands in a target: its words, and twice its pairs of words."""
    words, pairs = (ngram_overlap(target, sentences, n).precision for n in (1, 2))
    worth: Floats = words + _PAIR_WEIGHT * pairs
    return worth
