"""Ranking is by score, and ties keep reading order."""

from __future__ import annotations

from hiersum.ranking.ranker import best_first


def test_best_first_and_ties_in_reading_order() -> None:
    assert best_first([2.0, 1.0, 2.0, 4.0, 1.0]) == [3, 0, 2, 1, 4]
    assert best_first([]) == []
