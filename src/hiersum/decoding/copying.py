"""A lean towards the sources: a sentence goes on as a source does, unless the network is sure of more.

Of all places in the sources that a hypothesis has just been following, those count where it has done so
for longest; the tokens that come next there are made `exp(weight)` times as probable, and all are made
to sum to 1 again. A small network mixes up who did what; one that stays within a passage does so less
often. After the end of a sentence any place is as good as any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

import torch
from torch import Tensor

Tokens = Sequence[int]
_SHORTEST, _LONGEST = 2, 12
"""Tokens in a row that make a place be followed, and beyond which longer is not better."""
_GAP = -1


class FollowSources:
    """Makes tokens that go on as a source does more probable. Looks at hypotheses one by one."""

    def __init__(
        self,
        weight: float,
        sources: Iterable[Iterable[Tokens]],
        sentence_ends: AbstractSet[int] = frozenset(),
    ) -> None:
        """Take what to follow.

        Args:
            weight: how much more probable, as a log-ratio.
            sources: the paragraphs of each cluster.
            sentence_ends: tokens after which nothing is followed.
        """
        self.weight = weight
        self._passages = [Passages(paragraphs) for paragraphs in sources]
        self._sentence_ends = sentence_ends

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        recent = tokens_BNS[:, :, -_LONGEST:].tolist()
        for rows_NV, cluster, hypotheses in zip(log_probs_BNV, clusters, recent):
            for row_V, tokens in zip(rows_NV, hypotheses):
                if tokens[-1] not in self._sentence_ends:
                    self._lean(row_V, self._passages[cluster].next_tokens(tokens))

    def _lean(self, row_V: Tensor, next_tokens: AbstractSet[int]) -> None:
        if not next_tokens:
            return
        chosen = torch.tensor(sorted(next_tokens), device=row_V.device)
        share = row_V[chosen].exp().sum()
        row_V[chosen] += self.weight
        row_V -= torch.log1p(share * math.expm1(self.weight))


class Passages:
    """The paragraphs of a cluster in one row, and where each pair of tokens stands."""

    def __init__(self, paragraphs: Iterable[Tokens]) -> None:
        self._row = [token for tokens in paragraphs for token in (*tokens, _GAP)]
        self._ends: dict[tuple[int, ...], list[int]] = {}
        """Where the last token of each pair stands."""
        for place in range(1, len(self._row)):
            pair = tuple(self._row[place - 1 : place + 1])
            if _GAP not in pair:
                self._ends.setdefault(pair, []).append(place)

    def next_tokens(self, tokens: Tokens) -> set[int]:
        """Return what follows the longest end of some tokens that stands here, wherever it does."""
        longest, found = 0, set[int]()
        for place in self._ends.get(tuple(tokens[-_SHORTEST:]), ()):
            length = self._shared(tokens, place)
            if length > longest:
                longest, found = length, set()
            if length == longest:
                found.add(self._row[place + 1])
        return found - {_GAP}

    def _shared(self, tokens: Tokens, place: int) -> int:
        """Return how many of the last tokens stand before and at a place."""
        length = _SHORTEST
        while (
            length < len(tokens)
            and length <= place
            and self._row[place - length] == tokens[-1 - length]
        ):
            length += 1
        return length
