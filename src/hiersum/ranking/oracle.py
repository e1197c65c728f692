"""Ranking with the target in hand: what the trained ranker learns to foretell.

Only training data can be ranked so. A network then reads what its target was made of, and is not
taught to write what it could not have read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hiersum.text.overlap import ngram_overlap
from hiersum.types import Paragraph


@dataclass(frozen=True, slots=True)
class OracleRanker:
    """Scores a paragraph by the share of the target's bigrams that stand in it."""

    target: str

    @property
    def fingerprint(self) -> str:
        """A name in place of a checksum, which tells it from rankers that do not see the target."""
        return "oracle"

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return the ROUGE-2 recalls, in [0, 1]."""
        texts = [paragraph.text for paragraph in paragraphs]
        scores: list[float] = ngram_overlap(self.target, texts, 2).recall.tolist()
        return scores
