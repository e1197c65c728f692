"""Beam search: from encoder output to token ids, for every network.

All hypotheses of all clusters advance together. A cluster's hypotheses share its encoder output
(through the network's state); finished clusters leave the batch. Scores are log-probabilities
divided by the length penalty of Wu et al. (2016). There are two stopping rules:

`exact`: a hypothesis that ends leaves the beam. A cluster is done when no live hypothesis can still
beat the finished ones: log-probabilities only fall, and the penalty is known.

`released`: as in the authors' code. A hypothesis that ends below the top of the beam is filed but
stays live, so it may run on past its end; when the top one ends, all live ones are filed and the
best filed score wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from hiersum.config import SearchConfig
from hiersum.writing.constraints import (
    Constraint,
    ForbiddenTokens,
    MinimumLength,
    NoRepeatedNgrams,
)

CHUNK = 128


class State(Protocol):
    """A network's state for unfinished hypotheses."""

    def keep(self, clusters: Sequence[int]) -> None:
        """Keep only these clusters."""


class Network(Protocol):
    """The part of a network that the search uses."""

    @property
    def device(self) -> torch.device:
        """The device of its weights and inputs."""

    def start(self, encoded: Any, num_beams: int) -> State:
        """Start `num_beams` summaries of each cluster in the encoded batch."""

    def step(self, token_ids_BN: Tensor, state: Any, parents_BN: Tensor | None) -> Tensor:
        """Append a token to each hypothesis' parent; return log_probs_BNV of the next."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A finished summary."""

    token_ids: tuple[int, ...]
    """All tokens; the last is the end token, unless the length ran out or the constraints allowed
    no further token."""
    score: float
    """Log-probability divided by the length penalty."""
    log_prob: float


def length_penalty(length: int, alpha: float) -> float:
    """Return ((5 + length) / 6)^alpha (Wu et al., 2016); the end token counts."""
    return float(((5 + length) / 6) ** alpha)


@torch.no_grad()
def beam_search(
    network: Network,
    encoded: Any,
    config: SearchConfig,
    *,
    num_clusters: int,
    begin_id: int | Sequence[int],
    end_id: int,
    num_best: int = 1,
    forbidden: Sequence[int] = (),
    constraints: Sequence[Constraint] = (),
) -> list[list[Hypothesis]]:
    """Write summaries of all clusters in a batch, as `network.encode` returned it.

    `begin_id` starts every summary, or there is one per cluster; `forbidden` tokens are never written.
    Returns each cluster's best hypotheses, best first: at least one, at most `num_best`.
    """
    search = _Search(
        config,
        num_clusters=num_clusters,
        begin_id=begin_id,
        end_id=end_id,
        device=network.device,
        num_best=num_best,
        constraints=[
            MinimumLength(config.min_length, end_id),
            *([NoRepeatedNgrams(config.no_repeat_ngram)] if config.no_repeat_ngram else []),
            *([ForbiddenTokens(forbidden, network.device)] if forbidden else []),
            *constraints,
        ],
    )
    state = network.start(encoded, config.beam_size)
    parents_BN = None
    while search.clusters:
        log_probs_BNV = network.step(search.tokens_BNS[:, :, -1], state, parents_BN)
        parents_BN = search.advance(log_probs_BNV)
        if kept := search.drop_finished_clusters():
            state.keep(kept)
            parents_BN = parents_BN[kept]
    return search.results()


@dataclass(frozen=True, slots=True)
class _Candidates:
    """One-token extensions of a cluster's hypotheses, most probable first."""

    log_prob_BW: Tensor
    parents_BW: Tensor
    token_BW: Tensor

    def take(self, places_BN: Tensor) -> _Candidates:
        return _Candidates(
            self.log_prob_BW.gather(1, places_BN),
            self.parents_BW.gather(1, places_BN),
            self.token_BW.gather(1, places_BN),
        )


class _Search:
    """The live hypotheses of unfinished clusters, and the finished ones of all clusters."""

    def __init__(
        self,
        config: SearchConfig,
        *,
        num_clusters: int,
        begin_id: int | Sequence[int],
        end_id: int,
        device: torch.device,
        num_best: int,
        constraints: Sequence[Constraint],
    ) -> None:
        self.config = config
        self.end_id = end_id
        self.num_best = num_best
        self.constraints = constraints
        self.finished: list[list[Hypothesis]] = [[] for _ in range(num_clusters)]
        self.clusters = list(range(num_clusters))
        """The cluster of each tensor row."""
        beams = (num_clusters, config.beam_size)
        begin_B = torch.tensor(begin_id, device=device).expand(num_clusters)
        self.tokens_BNS = begin_B[:, None, None].repeat(1, config.beam_size, 1)
        self.log_prob_BN = torch.full(beams, -torch.inf, device=device)
        self.log_prob_BN[:, 0] = 0  # all hypotheses start equal: let one branch
        self.done = [False] * num_clusters

    def advance(self, log_probs_BNV: Tensor) -> Tensor:
        """Extend every hypothesis by its best tokens and file finished ones; return the parents."""
        for constraint in self.constraints:
            constraint(self.tokens_BNS, log_probs_BNV, self.clusters)
        extend = self._extend_exactly if self.config.stopping == "exact" else self._extend_released
        live = extend(log_probs_BNV)
        self._end_dead_ends(live.log_prob_BW[:, 0].tolist())
        parents_BNS = live.parents_BW[:, :, None].expand_as(self.tokens_BNS)
        self.tokens_BNS = torch.cat(
            [self.tokens_BNS.gather(1, parents_BNS), live.token_BW[:, :, None]], dim=2
        )
        self.log_prob_BN = live.log_prob_BW
        return live.parents_BW

    def drop_finished_clusters(self) -> list[int] | None:
        """Drop finished clusters; return the remaining rows, None if nothing changed."""
        if not any(self.done):
            return None
        kept = [row for row, done in enumerate(self.done) if not done]
        self.clusters = [self.clusters[row] for row in kept]
        self.tokens_BNS = self.tokens_BNS[kept]
        self.log_prob_BN = self.log_prob_BN[kept]
        self.done = [False] * len(kept)
        return kept

    def results(self) -> list[list[Hypothesis]]:
        """Return each cluster's best finished hypotheses; the first filed wins ties."""
        ordered = [sorted(found, key=lambda h: -h.score) for found in self.finished]
        return [found[: self.num_best] for found in ordered]

    def _candidates(self, log_probs_BNV: Tensor, width: int) -> _Candidates:
        vocab_size = log_probs_BNV.size(2)
        total_BNV = log_probs_BNV.add_(self.log_prob_BN[:, :, None])
        width = min(width, self.config.beam_size * vocab_size)
        log_prob_BW, flat_BW = chunked_topk(total_BNV.flatten(1), width)
        return _Candidates(log_prob_BW, flat_BW // vocab_size, flat_BW % vocab_size)

    def _extend_released(self, log_probs_BNV: Tensor) -> _Candidates:
        candidates = self._candidates(log_probs_BNV, self.config.beam_size)
        ended_BN = candidates.token_BW == self.end_id
        is_last = self.tokens_BNS.size(2) == self.config.max_length
        is_done_B1 = ended_BN[:, :1] | is_last
        self.done = is_done_B1[:, 0].tolist()
        self._file(candidates, ended_BN | is_done_B1)
        return candidates

    def _extend_exactly(self, log_probs_BNV: Tensor) -> _Candidates:
        beam_size = self.config.beam_size
        # Each hypothesis can end only once, so twice the beam holds enough live ones.
        candidates = self._candidates(log_probs_BNV, 2 * beam_size)
        ended_BW = candidates.token_BW == self.end_id
        # To count, an ending must rank among the best `beam_size`, like any continuation.
        is_among_best_BW = torch.ones_like(ended_BW)
        is_among_best_BW[:, beam_size:] = False
        self._file(candidates, ended_BW & is_among_best_BW)
        # A stable sort moves live ones to the front, still in order of probability.
        places_BN = ended_BW.long().sort(dim=1, stable=True).indices[:, :beam_size]
        live = candidates.take(places_BN)
        live.log_prob_BW.masked_fill_(live.token_BW == self.end_id, -torch.inf)
        if self.tokens_BNS.size(2) == self.config.max_length:
            self._file(live, torch.ones_like(places_BN, dtype=torch.bool))
            self.done = [True] * len(self.clusters)
        else:
            self.done = self._is_decided(live.log_prob_BW[:, 0].tolist())
        return live

    def _is_decided(self, best_live: Sequence[float]) -> list[bool]:
        """Whether no live hypothesis of a cluster can still win."""
        alpha, length = self.config.length_penalty, self.tokens_BNS.size(2)
        # Log-probabilities are negative, so the largest remaining penalty gives the best score.
        penalty = max(
            length_penalty(length + 1, alpha), length_penalty(self.config.max_length, alpha)
        )
        done = []
        for cluster, log_prob in zip(self.clusters, best_live):
            scores = sorted((h.score for h in self.finished[cluster]), reverse=True)
            done.append(
                len(scores) >= self.num_best and scores[self.num_best - 1] >= log_prob / penalty
            )
        return done

    def _file(self, candidates: _Candidates, which_BW: Tensor) -> None:
        """File the marked candidates as finished hypotheses."""
        which_BW = which_BW & (candidates.log_prob_BW > -torch.inf)
        for row, place in which_BW.nonzero().tolist():
            parent = int(candidates.parents_BW[row, place])
            token_ids = (*self._written(row, parent), int(candidates.token_BW[row, place]))
            self._finish(row, token_ids, float(candidates.log_prob_BW[row, place]))

    def _end_dead_ends(self, best_live: Sequence[float]) -> None:
        """Where no token is allowed and nothing is finished, return what was written so far."""
        for row, best_log_prob in enumerate(best_live):
            if best_log_prob > -torch.inf:
                continue
            self.done[row] = True
            if self.finished[self.clusters[row]]:
                continue
            for hypothesis, log_prob in enumerate(self.log_prob_BN[row].tolist()):
                if log_prob > -torch.inf:
                    self._finish(row, self._written(row, hypothesis), log_prob)

    def _written(self, row: int, hypothesis: int) -> tuple[int, ...]:
        return tuple(self.tokens_BNS[row, hypothesis, 1:].tolist())

    def _finish(self, row: int, token_ids: tuple[int, ...], log_prob: float) -> None:
        score = log_prob / length_penalty(len(token_ids), self.config.length_penalty)
        self.finished[self.clusters[row]].append(Hypothesis(token_ids, score, log_prob))


def chunked_topk(scores_BX: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Return the `width` largest scores of each row, largest first, and their indices.

    The largest scores lie in the chunks with the largest maxima, so only these are sorted, plus the
    incomplete last chunk. Finding a maximum is several times faster than torch's `topk`.
    """
    num_chunks = scores_BX.size(1) // CHUNK
    if num_chunks <= width:
        largest_BW, places_BW = scores_BX.topk(width)
        return largest_BW, places_BW
    num_covered = num_chunks * CHUNK
    maxima_BC = scores_BX[:, :num_covered].unflatten(1, (num_chunks, CHUNK)).amax(2)
    chunk_BW = maxima_BC.topk(width).indices
    rest = torch.arange(num_covered, scores_BX.size(1), device=scores_BX.device)
    chunk = torch.arange(CHUNK, device=scores_BX.device)
    inside_BX = (CHUNK * chunk_BW[:, :, None] + chunk).flatten(1)
    places_BX = torch.cat([inside_BX, rest.expand(len(scores_BX), -1)], dim=1)
    largest_BW, index_BW = scores_BX.gather(1, places_BX).topk(width)
    return largest_BW, places_BX.gather(1, index_BW)
