"""Rules that a search must keep: each bars tokens by writing -inf over their log-probabilities.

A rule is called once per step for all hypotheses; those here loop over none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import torch
from torch import Tensor


class Constraint(Protocol):
    """Bars next tokens of hypotheses, in place."""

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        """Write -inf where a hypothesis may not go on.

        Args:
            tokens_BNS: what each hypothesis has so far, from the begin token on.
            log_probs_BNV: log-probabilities of the next token.
            clusters: which clusters these are, since finished ones have left.
        """


class MinimumLength:
    """No end before this many tokens were written."""

    def __init__(self, min_length: int, end_id: int) -> None:
        self.min_length = min_length
        self.end_id = end_id

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        if tokens_BNS.size(2) - 1 < self.min_length:  # the begin token is not written
            log_probs_BNV[:, :, self.end_id] = -torch.inf


class Counted:
    """A rule that bars nothing: it tells how many tokens are written."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self.tell = tell

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        self.tell(tokens_BNS.size(2) - 1)


class ForbiddenTokens:
    """Tokens that may never be written."""

    def __init__(self, token_ids: Iterable[int], device: torch.device | None = None) -> None:
        self.token_ids = torch.tensor(sorted(set(token_ids)), dtype=torch.long, device=device)

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        log_probs_BNV.index_fill_(2, self.token_ids, -torch.inf)


class NoRepeatedNgrams:
    """No n-gram stands twice in a hypothesis."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        written_BNS = tokens_BNS[:, :, 1:]
        if written_BNS.size(2) < self.n:
            return
        # (B, N, S) -> (B, N, S - n + 1, n): every n-gram so far
        grams = written_BNS.unfold(2, self.n, 1)
        recent = written_BNS[:, :, None, written_BNS.size(2) - self.n + 1 :]
        would_repeat = (grams[..., :-1] == recent).all(-1)
        cluster, hypothesis, place = would_repeat.nonzero(as_tuple=True)
        log_probs_BNV[cluster, hypothesis, grams[cluster, hypothesis, place, -1]] = -torch.inf
