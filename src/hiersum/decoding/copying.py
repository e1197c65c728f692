"""A lean towards the sources: a summary goes on as a source does, unless the network is sure of more.

After any two tokens, those that follow these two in a source count `exp(weight)` times as probable, and
all are made to sum to 1 again. A small network mixes up who did what; one that follows its sources
for longer does so less often.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

Tokens = Sequence[int]


class FollowSources:
    """Makes tokens that go on as a source does more probable. Looks at hypotheses one by one."""

    def __init__(self, weight: float, sources: Iterable[Iterable[Tokens]]) -> None:
        """Take how much more, as a log-ratio, and the paragraphs of each cluster."""
        self.weight = weight
        self._followers = [_followers(paragraphs) for paragraphs in sources]

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        for rows_NV, cluster, hypotheses in zip(
            log_probs_BNV, clusters, tokens_BNS[:, :, -2:].tolist()
        ):
            for row_V, last_two in zip(rows_NV, hypotheses):
                followers = self._followers[cluster].get(tuple(last_two))
                if followers is not None:
                    self._lean(row_V, followers.to(row_V.device))

    def _lean(self, row_V: Tensor, followers: Tensor) -> None:
        share = row_V[followers].exp().sum()
        row_V[followers] += self.weight
        row_V -= torch.log1p(share * math.expm1(self.weight))


def _followers(paragraphs: Iterable[Tokens]) -> dict[tuple[int, ...], Tensor]:
    """Return which tokens follow each pair of tokens."""
    found: dict[tuple[int, ...], set[int]] = {}
    for tokens in paragraphs:
        for *pair, token in zip(tokens, tokens[1:], tokens[2:]):
            found.setdefault(tuple(pair), set()).add(token)
    return {pair: torch.tensor(sorted(tokens)) for pair, tokens in found.items()}
