"""Beam search: from encoder output to token ids, for every network.

All hypotheses of all clusters advance together. A cluster's hypotheses share its encoder output (the
network's state sees to that); finished clusters leave the batch. Scores are log-probabilities divided
by the length penalty of Wu et al. (2016). Two rules say when a cluster is done:

`exact`: a hypothesis that ends leaves the beam. The cluster is done when no live hypothesis can still
beat the finished ones, since its log-probability only falls and the penalty is known.

`released`: as the authors' code. A hypothesis that ends below the top of the beam is filed and stays
live, so that it may run on past its end; when the top one ends, all live ones are filed and the best
filed score wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
    """What a network remembers of hypotheses half written."""

    attention: list[Tensor]

    def select(self, parents_BN: Tensor) -> None:
        """Let each hypothesis continue what was its parent."""

    def keep(self, clusters: Sequence[int]) -> None:
        """Go on with these clusters only."""


class Network(Protocol):
    """The part of a network that search uses."""

    @property
    def device(self) -> torch.device:
        """Where its weights are, and what it is given must be."""

    def start(self, encoded: Any, num_beams: int, with_attention: bool = False) -> State:
        """Begin `num_beams` summaries of each cluster of the encoded batch."""

    def step(self, token_ids_BN: Tensor, state: Any) -> Tensor:
        """Append a token to each hypothesis; return log_probs_BNV of the next one."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A finished summary."""

    token_ids: tuple[int, ...]
    """From the first token on; the end token is the last, unless the length ran out before it or
    the rules allowed no further token."""
    score: float
    """Log-probability divided by the length penalty."""
    log_prob: float
    attention: Tensor | None = field(default=None, compare=False, repr=False)
    """If asked for: mass_SP, how much each token looked at each paragraph; rows sum to 1."""


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
    paragraph_lengths: Sequence[Sequence[int]] | None = None,
    rerank: Callable[[int, Hypothesis], float] | None = None,
) -> list[list[Hypothesis]]:
    """Write summaries of all clusters of an encoded batch.

    Args:
        network: gives log-probabilities of next tokens.
        encoded: what the network's encoder made of a batch.
        config: beam size, lengths, penalty, stopping rule.
        num_clusters: clusters in the encoded batch.
        begin_id: the token every summary starts from, or one for each cluster.
        end_id: the token that ends one.
        num_best: how many hypotheses to return per cluster.
        forbidden: tokens that may not be written.
        constraints: further rules.
        paragraph_lengths: source tokens of each paragraph of each cluster; if given, hypotheses carry
            their attention over paragraphs.
        rerank: a new score for hypothesis h of cluster c, by which all finished ones are ordered.

    Returns:
        For each cluster its best hypotheses, best first: `num_best` of them, or as many as there
        are, which is at least one.
    """
    search = _Search(
        config,
        num_clusters=num_clusters,
        begin_id=begin_id,
        end_id=end_id,
        device=network.device,
        num_best=config.beam_size if rerank is not None else num_best,
        constraints=[
            MinimumLength(config.min_length, end_id),
            *([NoRepeatedNgrams(config.no_repeat_ngram)] if config.no_repeat_ngram else []),
            *([ForbiddenTokens(forbidden, network.device)] if forbidden else []),
            *constraints,
        ],
    )
    trail = None if paragraph_lengths is None else AttentionTrail(paragraph_lengths)
    state = network.start(encoded, config.beam_size, with_attention=trail is not None)
    while search.clusters:
        log_probs_BNV = network.step(search.tokens_BNS[:, :, -1], state)
        if trail is not None:
            trail.look(search.clusters, state.attention)
        parents_BN = search.advance(log_probs_BNV, trail)
        state.select(parents_BN)
        if kept := search.drop_finished_clusters():
            state.keep(kept)
    return search.results(num_best, rerank)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Extensions of a cluster's hypotheses by one token, most probable first."""

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
    """The live hypotheses of all unfinished clusters, and the finished ones of all clusters."""

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
        """The clusters that rows of the tensors belong to."""
        beams = (num_clusters, config.beam_size)
        begin_B = torch.tensor(begin_id, device=device).expand(num_clusters)
        self.tokens_BNS = begin_B[:, None, None].repeat(1, config.beam_size, 1)
        self.log_prob_BN = torch.full(beams, -torch.inf, device=device)
        self.log_prob_BN[:, 0] = 0  # all hypotheses are the same at first: only one may branch
        self.done = [False] * num_clusters

    def advance(self, log_probs_BNV: Tensor, trail: AttentionTrail | None) -> Tensor:
        """Extend every hypothesis by its best tokens, file what is finished; return the parents."""
        for constraint in self.constraints:
            constraint(self.tokens_BNS, log_probs_BNV, self.clusters)
        extend = self._extend_exactly if self.config.stopping == "exact" else self._extend_released
        live = extend(log_probs_BNV, trail)
        self._end_dead_ends(live.log_prob_BW[:, 0].tolist(), trail)
        parents_BNS = live.parents_BW[:, :, None].expand_as(self.tokens_BNS)
        self.tokens_BNS = torch.cat(
            [self.tokens_BNS.gather(1, parents_BNS), live.token_BW[:, :, None]], dim=2
        )
        self.log_prob_BN = live.log_prob_BW
        if trail is not None:
            trail.follow(self.clusters, live.parents_BW)
        return live.parents_BW

    def drop_finished_clusters(self) -> list[int] | None:
        """Leave out clusters that are done; return the rows that stay, None if nothing changed."""
        if not any(self.done):
            return None
        kept = [row for row, done in enumerate(self.done) if not done]
        self.clusters = [self.clusters[row] for row in kept]
        self.tokens_BNS = self.tokens_BNS[kept]
        self.log_prob_BN = self.log_prob_BN[kept]
        self.done = [False] * len(kept)
        return kept

    def results(
        self, num_best: int, rerank: Callable[[int, Hypothesis], float] | None
    ) -> list[list[Hypothesis]]:
        """Return the best finished hypotheses of each cluster; the first filed wins a tie."""
        ordered = []
        for cluster, hypotheses in enumerate(self.finished):
            scores = [h.score if rerank is None else rerank(cluster, h) for h in hypotheses]
            order = sorted(range(len(scores)), key=lambda index: -scores[index])
            ordered.append([hypotheses[index] for index in order[:num_best]])
        return ordered

    def _candidates(self, log_probs_BNV: Tensor, width: int) -> _Candidates:
        vocab_size = log_probs_BNV.size(2)
        total_BNV = log_probs_BNV.add_(self.log_prob_BN[:, :, None])
        width = min(width, self.config.beam_size * vocab_size)
        log_prob_BW, flat_BW = chunked_topk(total_BNV.flatten(1), width)
        return _Candidates(log_prob_BW, flat_BW // vocab_size, flat_BW % vocab_size)

    def _extend_released(self, log_probs_BNV: Tensor, trail: AttentionTrail | None) -> _Candidates:
        candidates = self._candidates(log_probs_BNV, self.config.beam_size)
        ended_BN = candidates.token_BW == self.end_id
        is_last = self.tokens_BNS.size(2) == self.config.max_length
        is_done_B1 = ended_BN[:, :1] | is_last
        self.done = is_done_B1[:, 0].tolist()
        self._file(candidates, ended_BN | is_done_B1, trail)
        return candidates

    def _extend_exactly(self, log_probs_BNV: Tensor, trail: AttentionTrail | None) -> _Candidates:
        beam_size = self.config.beam_size
        # Each hypothesis can end only once, so twice the beam holds enough that go on.
        candidates = self._candidates(log_probs_BNV, 2 * beam_size)
        ended_BW = candidates.token_BW == self.end_id
        # One that ends must be among the best `beam_size`, as it must to go on.
        is_among_best_BW = torch.ones_like(ended_BW)
        is_among_best_BW[:, beam_size:] = False
        self._file(candidates, ended_BW & is_among_best_BW, trail)
        # A stable sort puts those that go on first, still in order of probability.
        places_BN = ended_BW.long().sort(dim=1, stable=True).indices[:, :beam_size]
        live = candidates.take(places_BN)
        live.log_prob_BW.masked_fill_(live.token_BW == self.end_id, -torch.inf)
        if self.tokens_BNS.size(2) == self.config.max_length:
            self._file(live, torch.ones_like(places_BN, dtype=torch.bool), trail)
            self.done = [True] * len(self.clusters)
        else:
            self.done = self._is_decided(live.log_prob_BW[:, 0].tolist())
        return live

    def _is_decided(self, best_live: Sequence[float]) -> list[bool]:
        """Is each cluster's best live hypothesis beaten, whatever it may still become?"""
        alpha, length = self.config.length_penalty, self.tokens_BNS.size(2)
        # Log-probabilities are negative, so the largest penalty ahead gives the best score ahead.
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

    def _file(
        self, candidates: _Candidates, which_BW: Tensor, trail: AttentionTrail | None
    ) -> None:
        """Keep the marked candidates as finished hypotheses of their clusters."""
        which_BW = which_BW & (candidates.log_prob_BW > -torch.inf)
        for row, place in which_BW.nonzero().tolist():
            parent = int(candidates.parents_BW[row, place])
            token_ids = (*self._written(row, parent), int(candidates.token_BW[row, place]))
            attention = None if trail is None else trail.back_from(self.clusters[row], parent)
            self._finish(row, token_ids, float(candidates.log_prob_BW[row, place]), attention)

    def _end_dead_ends(self, best_live: Sequence[float], trail: AttentionTrail | None) -> None:
        """Where nothing may follow and nothing is finished, what was written so far is the result."""
        for row, best_log_prob in enumerate(best_live):
            if best_log_prob > -torch.inf:
                continue
            self.done[row] = True
            cluster = self.clusters[row]
            if self.finished[cluster]:
                continue
            for hypothesis, log_prob in enumerate(self.log_prob_BN[row].tolist()):
                if log_prob > -torch.inf:
                    # The last look was for a token that may not be.
                    attention = None if trail is None else trail.back_from(cluster, hypothesis)[:-1]
                    self._finish(row, self._written(row, hypothesis), log_prob, attention)

    def _written(self, row: int, hypothesis: int) -> tuple[int, ...]:
        return tuple(self.tokens_BNS[row, hypothesis, 1:].tolist())

    def _finish(
        self, row: int, token_ids: tuple[int, ...], log_prob: float, attention: Tensor | None
    ) -> None:
        score = log_prob / length_penalty(len(token_ids), self.config.length_penalty)
        self.finished[self.clusters[row]].append(Hypothesis(token_ids, score, log_prob, attention))


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


def chunked_topk(scores_BX: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Return the `width` largest scores of each row, largest first, and their places.

    The largest scores lie in the chunks with the largest maxima, so that only these are sorted, and
    the rest that fills no chunk. Finding a maximum is several times faster than torch's `topk`.
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
