"""No ranking: paragraphs as they stand (the paper's Flat Transformer without ranking)."""

from __future__ import annotations

from collections.abc import Sequence

from hiersum.types import Paragraph


class ReadingOrder:
    """Scores a paragraph by how early it stands."""

    fingerprint = None

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return 1, 1/2, 1/3, ..."""
        return [1 / (1 + index) for index in range(len(paragraphs))]
