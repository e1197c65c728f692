"""What a ranker is, and how the best paragraphs are chosen by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hiersum.types import Paragraph

RANKER_FILES = ("ranker.json", "ranker.safetensors")
"""A trained ranker in a model folder."""


class Ranker(Protocol):
    """Scores paragraphs by how much a summary under a title would need them."""

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return one score per paragraph, at least 0; higher is more worth reading.

        They are multiplied by how much a document is about the title (`data.on_topic_only`).
        """

    @property
    def fingerprint(self) -> str | None:
        """A checksum of what it has learned; None if it has learned nothing."""


def best_first(scores: Sequence[float]) -> list[int]:
    """Return the indices of scores, highest first; ties keep reading order."""
    return sorted(range(len(scores)), key=lambda index: -scores[index])
