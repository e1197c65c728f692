"""The planner: at each sentence boundary of a summary, which source sentences come next?

It sees the decoder's state where the last sentence ended (what was said) and the encoder's states,
pooled by sentence and paragraph (what is there):

    score_kj = w . tanh(W_q h_k + W_s v_j + W_p p_j + W_f f_kj)      plan k is about sentence j
    stop_k   = w . tanh(W_q h_k + z + W_g g_k)                       the summary ends before k
    join_kj  = u . tanh(U_q h_k + U_a v_a + U_b v_j + U_f d_aj)      sentence j joins the main one, a

h_0 is learned. v and p are mean states of a sentence and of its paragraph; f, g and d are a few
facts: what was used before, where a sentence stands, how near it is to the main one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hiersum.model.plans import Outline, Plan

NUM_FACTS = 8
NUM_STOP_FACTS = 2
NUM_JOIN_FACTS = 4


@dataclass(frozen=True)
class SourceSentences:
    """What the planner knows of one cluster's sentences."""

    outline: Outline
    ranks: tuple[int, ...]
    """The rank of each paragraph."""
    sentence_JD: Tensor
    """The mean state of each sentence."""
    paragraph_JD: Tensor
    """The mean state of each sentence's paragraph."""


def pool_sentences(states_MD: Tensor, outline: Outline, ranks: Sequence[int]) -> SourceSentences:
    """Pool the encoder states of one cluster by sentence and by paragraph."""
    paragraph_PD = torch.stack([part.mean(0) for part in states_MD.split(list(outline.lengths))])
    sentences = [states_MD[first:after].mean(0) for first, after in outline.spans]
    return SourceSentences(
        outline,
        tuple(ranks),
        torch.stack(sentences) if sentences else states_MD[:0],
        paragraph_PD[list(outline.paragraphs)],
    )


class Planner(nn.Module):
    """Scores of source sentences for the next sentence of a summary."""

    def __init__(self, *, width: int, hidden_width: int) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.zeros(width))
        self.state = nn.Linear(width, hidden_width)
        self.sentence = nn.Linear(width, hidden_width, bias=False)
        self.paragraph = nn.Linear(width, hidden_width, bias=False)
        self.facts = nn.Linear(NUM_FACTS, hidden_width, bias=False)
        self.stop = nn.Linear(NUM_STOP_FACTS, hidden_width)
        self.score = nn.Linear(hidden_width, 1)
        self.join_state = nn.Linear(width, hidden_width)
        self.join_main = nn.Linear(width, hidden_width, bias=False)
        self.join_other = nn.Linear(width, hidden_width, bias=False)
        self.join_facts = nn.Linear(NUM_JOIN_FACTS, hidden_width, bias=False)
        self.join_score = nn.Linear(hidden_width, 1)

    def expect_few_joins(self) -> None:
        """Begin with long odds against joining: most sentences of a source do not."""
        nn.init.constant_(self.join_score.bias, -3.0)

    def boundaries(self, ended_KD: Tensor) -> Tensor:
        """Return the states at all boundaries: the learned first one, then where sentences ended."""
        return torch.cat([self.start[None].to(ended_KD.dtype), ended_KD])

    def forward(
        self, boundary_KD: Tensor, source: SourceSentences, history: Sequence[Sequence[Plan]]
    ) -> Tensor:
        """Return score_KJ of each sentence at each boundary; the last column is the stop.

        Args:
            boundary_KD: the decoder's states.
            source: the sentences.
            history: for each boundary the plans before it.
        """
        device, dtype = boundary_KD.device, boundary_KD.dtype
        facts_KJF = torch.stack([sentence_facts(source, plans) for plans in history])
        state_KW = self.state(boundary_KD)
        of_source_JW = self.sentence(source.sentence_JD) + self.paragraph(source.paragraph_JD)
        hidden_KJW = state_KW[:, None] + of_source_JW + self.facts(facts_KJF.to(device, dtype))
        stop_KF = torch.tensor([stop_facts(source, plans) for plans in history])
        hidden_K1W = (state_KW + self.stop(stop_KF.to(device, dtype)))[:, None]
        score_KJ: Tensor = self.score(torch.cat([hidden_KJW, hidden_K1W], 1).tanh()).squeeze(-1)
        return score_KJ

    def joining(self, boundary_KD: Tensor, source: SourceSentences, main: Sequence[int]) -> Tensor:
        """Return join_KJ: the log odds that a sentence joins the main one of each boundary."""
        facts_KJF = torch.stack([join_facts(source.outline, number) for number in main])
        hidden_KJW = (
            self.join_state(boundary_KD)[:, None]
            + self.join_main(source.sentence_JD[list(main)])[:, None]
            + self.join_other(source.sentence_JD)
            + self.join_facts(facts_KJF.to(boundary_KD.device, boundary_KD.dtype))
        )
        join_KJ: Tensor = self.join_score(hidden_KJW.tanh()).squeeze(-1)
        return join_KJ

    def loss(self, ended_KD: Tensor, source: SourceSentences, plans: Sequence[Plan]) -> Tensor:
        """Return the loss of a cluster's plans, summed over its boundaries.

        At each boundary: the cross entropy of the plan's sentences, each with an equal share, or of
        the stop after the last; and the binary cross entropy of what joins the main sentence.
        """
        boundary_KD = self.boundaries(ended_KD)
        history = [plans[:number] for number in range(len(plans) + 1)]
        log_prob_KJ = self(boundary_KD, source, history).float().log_softmax(-1)
        wanted_KJ = torch.zeros_like(log_prob_KJ)
        joined_KJ = torch.zeros_like(log_prob_KJ[:-1, :-1])
        for number, plan in enumerate(plans):
            wanted_KJ[number, list(plan)] = 1 / len(set(plan))
            joined_KJ[number, list(plan)] = 1
        wanted_KJ[-1, -1] = 1
        main = [plan[0] for plan in plans]
        join_KJ = self.joining(boundary_KD[:-1], source, main).float()
        is_other_KJ = torch.ones_like(join_KJ)
        is_other_KJ[range(len(main)), main] = 0
        joins = F.binary_cross_entropy_with_logits(
            join_KJ, joined_KJ, weight=is_other_KJ, reduction="sum"
        )
        total: Tensor = joins - (wanted_KJ * log_prob_KJ).sum()
        return total


def sentence_facts(source: SourceSentences, plans: Sequence[Plan]) -> Tensor:
    """Return facts_JF: what was used before, and where each sentence stands."""
    outline = source.outline
    used = {number for plan in plans for number in plan}
    paragraphs = {outline.paragraphs[number] for number in used}
    documents = {outline.documents[paragraph] for paragraph in paragraphs}
    rows = []
    for number, paragraph in enumerate(outline.paragraphs):
        first, after = outline.spans[number]
        position = outline.positions[number]
        rows.append(
            (
                float(number in used),
                float(paragraph in paragraphs),
                float(outline.documents[paragraph] in documents),
                float(position == 0),
                math.log1p(position),
                math.log1p(source.ranks[paragraph]),
                math.log1p(after - first) / 3,
                float(number - 1 in used),
            )
        )
    return torch.tensor(rows)


def stop_facts(source: SourceSentences, plans: Sequence[Plan]) -> tuple[float, float]:
    """Return how much was written, and how much of the source is used."""
    used = {number for plan in plans for number in plan}
    return math.log1p(len(plans)), len(used) / len(source.outline)


def join_facts(outline: Outline, main: int) -> Tensor:
    """Return facts_JF: how near each sentence is to the main one."""
    paragraph = outline.paragraphs[main]
    document = outline.documents[paragraph]
    return torch.tensor(
        [
            (
                float(outline.paragraphs[number] == paragraph),
                float(number == main + 1),
                float(number == main - 1),
                float(outline.documents[outline.paragraphs[number]] == document),
            )
            for number in range(len(outline))
        ]
    )
