"""Which paragraphs a network looked at while it wrote each sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Trail:
    """What a network looked at, token by token."""

    letters: Sequence[int]
    """Letters and digits that the text had with each token."""
    mass: NDArray[np.float64]
    """Tokens x paragraphs: how much each token looked at each paragraph."""

    def by_sentence(self, sentences: Sequence[str]) -> NDArray[np.float64]:
        """Return, for each sentence, the share of attention that each paragraph had.

        A sentence's tokens are found by its letters: spaces, quotes and brackets may be written
        otherwise in the text than the tokenizer spells them, but letters and digits stay.
        """
        num_paragraphs = self.mass.shape[1]
        shares = np.full((len(sentences), num_paragraphs), 1 / max(num_paragraphs, 1))
        start = 0
        for number, sentence in enumerate(sentences):
            end = start + count_letters(sentence)
            of_sentence = [t for t, letters in enumerate(self.letters) if start < letters <= end]
            total = self.mass[of_sentence].sum(axis=0)
            if total.sum() > 0:
                shares[number] = total / total.sum()
            start = end
        return shares


def count_letters(text: str) -> int:
    """Count letters and digits."""
    return sum(map(str.isalnum, text))
