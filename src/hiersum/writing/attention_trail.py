"""What each hypothesis looked at while it was written, added up by paragraph."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


class AttentionTrail:
    """Which paragraphs each hypothesis looked at, followed back from its last token when it ends."""

    def __init__(self, paragraph_lengths: Sequence[Sequence[int]]) -> None:
        self.paragraph_lengths = paragraph_lengths
        self.mass: list[list[Tensor]] = [[] for _ in paragraph_lengths]
        """Per cluster and step, mass_NP of the hypotheses as they were then."""
        self.parents: list[list[list[int]]] = [[] for _ in paragraph_lengths]
        """Per cluster and step, which hypothesis each one continued."""

    def look(self, clusters: Sequence[int], attention: Sequence[Tensor]) -> None:
        """Add up a step's weights_NM by paragraph."""
        for cluster, weights_NM in zip(clusters, attention, strict=True):
            parts = weights_NM.split(list(self.paragraph_lengths[cluster]), dim=1)
            self.mass[cluster].append(torch.stack([part.sum(1) for part in parts], dim=1))

    def follow(self, clusters: Sequence[int], parents_BN: Tensor) -> None:
        """Remember who continued whom."""
        for cluster, parents in zip(clusters, parents_BN.tolist(), strict=True):
            self.parents[cluster].append(parents)

    def back_from(self, cluster: int, hypothesis: int) -> Tensor:
        """Return mass_SP of a hypothesis that is live at the last step."""
        rows = []
        for step in reversed(range(len(self.mass[cluster]))):
            rows.append(self.mass[cluster][step][hypothesis])
            hypothesis = self.parents[cluster][step - 1][hypothesis] if step else hypothesis
        return torch.stack(rows[::-1])
