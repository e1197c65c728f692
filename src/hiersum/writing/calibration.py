"""Evidence becomes a probability: how likely it is that a sentence comes from a paragraph.

A logistic model, fitted by `benchmarks/calibrate_attribution.py` on sentences of real articles whose
paragraph is known: with words dropped or replaced, among near copies, and with their paragraph taken
away. With attention it is fitted apart, on a network's own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hiersum.writing.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Calibration:
    """A weight for each part of the evidence."""

    bias: float
    words: float
    sentence: float
    order: float
    gap: float
    attention: float = 0.0

    def probability(self, evidence: Evidence) -> float:
        """Return how likely it is that the sentence comes from the paragraph."""
        logit = (
            self.bias
            + self.words * evidence.words
            + self.sentence * evidence.sentence
            + self.order * evidence.order
            + self.gap * evidence.gap
            + self.attention * evidence.attention
        )
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, logit))))


BY_WORDS = Calibration(bias=-5.43, words=4.13, sentence=1.88, order=0.33, gap=23.93)
WITH_ATTENTION = Calibration(
    bias=-5.46, words=4.36, sentence=1.95, order=0.0, gap=22.8, attention=0.88
)
