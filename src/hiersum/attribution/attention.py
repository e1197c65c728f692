"""Which paragraphs a network looked at while it wrote each sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiersum.text.words import count_letters


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
