"""Ranking is by score, and ties keep reading order."""

from __future__ import annotations

from collections.abc import Sequence

from hiersum.ranking.ranker import rank_paragraphs
from hiersum.types import Paragraph


class LengthRanker:
    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        return [float(len(paragraph.text)) for paragraph in paragraphs]


def test_best_first_and_ties_in_reading_order() -> None:
    paragraphs = [Paragraph(text, 0, n) for n, text in enumerate(["aa", "b", "cc", "dddd", "e"])]
    assert rank_paragraphs(LengthRanker(), "t", paragraphs) == [3, 0, 2, 1, 4]
