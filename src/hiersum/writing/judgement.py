"""How likely a written sentence is true: what the checker says, combined with how sure the writer was.

    support = 1 / (1 + exp(-(bias + w_c logit(checker's support) + w_l mean log-probability of a piece)))

An unsure writer is wrong more often, and its text alone does not show that it was unsure. The
weights were fitted to sentences of this writer that readers labelled
(`recipes/readers/fit_judgement.py`), so that the result is the share of such sentences that are not
false.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Weights(NamedTuple):
    """The weights of the two inputs, and a bias."""

    bias: float
    checker: float
    """Of the log odds of the checker's support."""
    confidence: float
    """Of the mean log-probability of a piece, as the writer gave it."""


FITTED = Weights(bias=1.29, checker=0.58, confidence=3.47)


def judge(support: float, mean_log_prob: float, weights: Weights = FITTED) -> float:
    """Return the probability that a sentence is true to its sources.

    `support` is the checker's, 0 to 1; `mean_log_prob` includes the end piece.
    """
    bounded = min(max(support, 1e-4), 1 - 1e-4)
    odds = weights.checker * math.log(bounded / (1 - bounded))
    total = weights.bias + odds + weights.confidence * mean_log_prob
    return 1 / (1 + math.exp(-total))
