"""Which paragraphs a network looked at while it wrote: step by step, then sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hiersum.text.words import count_letters


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


@dataclass(frozen=True, slots=True)
class Trail:
    """What a network looked at, token by token."""

    letters: Sequence[int]
    """Letters and digits that the text had with each token."""
    mass: NDArray[np.float64]
    """Tokens x paragraphs: how much each token looked at each paragraph."""

    def by_sentence(self, sentences: Sequence[str]) -> NDArray[np.float64]:
        """Return, for each sentence and paragraph, how many times its usual attention it had.

        Usual is what the paragraph had over the whole text: long ones and first ones always have more,
        and only what a sentence adds to that tells where it comes from. A text of one sentence says
        nothing; all are 1 then.

        A sentence's tokens are found by its letters: spaces, quotes and brackets may be written
        otherwise in the text than the tokenizer spells them, but letters and digits stay.
        """
        usual = _shares(self.mass)
        times = np.ones((len(sentences), self.mass.shape[1]))
        start = 0
        for number, sentence in enumerate(sentences):
            end = start + count_letters(sentence)
            of_sentence = [t for t, letters in enumerate(self.letters) if start < letters <= end]
            shares = _shares(self.mass[of_sentence])
            np.divide(shares, usual, out=times[number], where=(usual > 0) & (shares.sum() > 0))
            start = end
        return times


def _shares(mass: NDArray[np.float64]) -> NDArray[np.float64]:
    total = mass.sum(axis=0)
    shares: NDArray[np.float64] = total / max(float(total.sum()), 1e-12)
    return shares
