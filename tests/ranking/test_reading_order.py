"""Without ranking, the first paragraphs are read."""

from __future__ import annotations

from hiersum.ranking.ranker import best_first
from hiersum.ranking.reading_order import ReadingOrder
from hiersum.types import Paragraph


def test_paragraphs_stay_in_their_order() -> None:
    paragraphs = [Paragraph(f"text {index}", 0, index) for index in range(5)]
    assert best_first(ReadingOrder().scores("text 3", paragraphs)) == [0, 1, 2, 3, 4]
