"""What a ranker is, and how the best paragraphs are chosen by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hiersum.types import Paragraph


class Ranker(Protocol):
    """Scores paragraphs by how much a summary under a title would need them."""

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return one score per paragraph; higher is more worth reading."""


def rank_paragraphs(ranker: Ranker, title: str, paragraphs: Sequence[Paragraph]) -> list[int]:
    """Return the indices of all paragraphs, best first; ties keep reading order."""
    scores = ranker.scores(title, paragraphs)
    return sorted(range(len(paragraphs)), key=lambda index: -scores[index])
