"""A rule against saying the same again: no run of words stands twice in a summary.

Words are compared, not pieces: capitals and punctuation make no difference, and a long name may be
repeated however many pieces it has. `constraints.NoRepeatedNgrams` is the same for pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

import torch
from torch import Tensor

from hiersum.decoding.grounding import SPACE


class NoRepeatedWords:
    """No run of `n` words stands twice in a hypothesis. Looks at hypotheses one by one.

    A word that would repeat a run is barred where it begins, so that it does not break off halfway.
    """

    def __init__(
        self,
        n: int,
        pieces: Sequence[str],
        split_words: Callable[[str], Sequence[str]],
        small_words: Set[str] = frozenset(),
    ) -> None:
        """Take what is a run.

        Args:
            n: its words.
            pieces: the text of each piece of the vocabulary.
            split_words: the words of a text, those that are alike alike.
            small_words: words that stay free although a barred word begins with them.
        """
        self.n = n
        self._pieces = pieces
        self._split_words = split_words
        self._small_words = small_words
        self._beginning: dict[str, list[int]] = {}
        for index, piece in enumerate(pieces):
            words = split_words(piece.replace(SPACE, " "))
            if len(words) == 1:
                self._beginning.setdefault(words[0], []).append(index)

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        for rows_NV, hypotheses in zip(log_probs_BNV, tokens_BNS[:, :, 1:].tolist()):
            for row_V, token_ids in zip(rows_NV, hypotheses):
                text = "".join(self._pieces[index] for index in token_ids)
                if barred := self._barred(text.replace(SPACE, " ")):
                    row_V[torch.tensor(barred, device=row_V.device)] = -torch.inf

    def _barred(self, text: str) -> list[int]:
        words = self._split_words(text)
        before = self.n - 1
        recent = words[len(words) - before :]
        repeated = {
            words[place + before]
            for place in range(len(words) - before)
            if words[place : place + before] == recent
        }
        return [index for word in repeated for index in self._beginnings(word)]

    def _beginnings(self, word: str) -> list[int]:
        """Return the pieces that a word may begin with."""
        beginnings = {word[:length] for length in range(1, len(word))} - self._small_words
        return [index for text in (*beginnings, word) for index in self._beginning.get(text, ())]
