"""Plans: each sentence of a summary attends only to the source sentences it is written from.

A summary with plans is written sentence by sentence, each ending with the end piece. The tokens
that predict sentence k, its stretch, attend only to the source rows of plan k. For attention to the
source, a stretch is a separate sequence, so no mask is needed.

The planner chooses the next plan at each sentence boundary, from the decoder's state at the end of
the last sentence and the encoder's states pooled by sentence and paragraph:

    score_kj = w . tanh(W_q h_k + W_s v_j + W_p p_j + W_r r_j + W_f f_kj)  plan k is about sentence j
    stop_k   = w . tanh(W_q h_k + z + W_g g_k)                             the summary ends before k
    join_kj  = u . tanh(U_q h_k + U_a v_a + U_b v_j + U_f d_aj)            j joins sentence a

h_0 is learned. v and p are mean states of a sentence and of its paragraph. r comes from attention
between all sentences: what matters shows beside what the others say. f, g and d are a few features:
what was used before, position, and distance to the main sentence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hiersum.config.model import PLANNER_HEADS
from hiersum.errors import InputError
from hiersum.model.spans import Spans

Plan = tuple[int, ...]
"""The source sentences of a summary sentence, main one first; empty: the whole source."""

NUM_FACTS = 9
NUM_STOP_FACTS = 2
NUM_JOIN_FACTS = 4
NUM_PLACE_FACTS = 4
NUM_RELATING_LAYERS = 2


@dataclass(frozen=True)
class Outline:
    """The source sentences of one cluster, numbered across its paragraphs."""

    lengths: tuple[int, ...]
    """Tokens of each paragraph."""
    boundaries: tuple[tuple[int, ...], ...]
    """For each paragraph the first token of each sentence, then the end of the last. Tokens before
    the first sentence are the title."""
    documents: tuple[int, ...]
    """The document of each paragraph."""
    places: tuple[int, ...]
    """The position of each paragraph within its document."""

    def __post_init__(self) -> None:
        parts = (self.boundaries, self.documents, self.places)
        if any(len(part) != len(self.lengths) for part in parts):
            raise InputError(
                "an outline needs boundaries, a document and a place for each paragraph"
            )
        for length, places in zip(self.lengths, self.boundaries):
            if not places or list(places) != sorted(set(places)) or not 0 <= places[-1] <= length:
                raise InputError(f"sentences at {list(places)} do not fit {length} tokens")

    def __len__(self) -> int:
        return len(self.paragraphs)

    @cached_property
    def paragraphs(self) -> tuple[int, ...]:
        """The paragraph of each sentence."""
        return tuple(n for n, places in enumerate(self.boundaries) for _ in places[1:])

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """The position of each sentence within its paragraph."""
        return tuple(n for places in self.boundaries for n in range(len(places) - 1))

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first row of each sentence in the cluster's source, and the row after its last."""
        return tuple(
            (start + first, start + after)
            for start, places in zip(self._starts, self.boundaries)
            for first, after in pairwise(places)
        )

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """The first row of each paragraph."""
        return tuple(accumulate(self.lengths, initial=0))

    def rows(self, plan: Plan) -> list[int]:
        """Return the source rows of a plan, in source order: its sentences, each paragraph's after
        its title."""
        if not plan:
            return list(range(sum(self.lengths)))
        if not all(0 <= number < len(self) for number in plan):
            raise InputError(f"plan {plan} names a sentence beyond the {len(self)} there are")
        rows: list[int] = []
        for number in sorted(set(plan)):
            paragraph = self.paragraphs[number]
            start = self._starts[paragraph]
            if not rows or rows[-1] < start:
                rows.extend(range(start, start + self.boundaries[paragraph][0]))
            rows.extend(range(*self.spans[number]))
        return rows


@dataclass(frozen=True)
class PlannedRows:
    """The source rows that the stretches of a batch's targets attend to."""

    stretches: Spans
    """Target tokens of each stretch, cluster after cluster."""
    sources: Spans
    """Source rows of each stretch."""
    row_R: Tensor
    """The rows, stretch after stretch, as indices into all source rows of the batch."""


def plan_rows(
    outlines: Sequence[Outline], plans: Sequence[Sequence[Plan]], stretches: Sequence[Sequence[int]]
) -> PlannedRows:
    """Find the source rows of all stretches.

    For each cluster, there is a plan and a number of target tokens per stretch.
    """
    rows: list[int] = []
    num_rows: list[int] = []
    start = 0
    for outline, cluster in zip(outlines, plans, strict=True):
        for plan in cluster:
            of_plan = outline.rows(plan)
            rows.extend(start + row for row in of_plan)
            num_rows.append(len(of_plan))
        start += sum(outline.lengths)
    lengths = tuple(length for cluster in stretches for length in cluster)
    return PlannedRows(Spans(lengths), Spans(tuple(num_rows)), torch.tensor(rows))


def cut_stretches(labels: Sequence[int], end_id: int) -> list[int]:
    """Return the number of tokens of each target sentence, including its end piece."""
    ends = [place for place, token in enumerate(labels, start=1) if token == end_id]
    return [after - before for before, after in pairwise([0, *ends])]


@dataclass(frozen=True)
class SourceSentences:
    """The planner's view of one cluster's sentences."""

    outline: Outline
    ranks: tuple[int, ...]
    """The rank of each paragraph."""
    sentence_JD: Tensor
    """The mean state of each sentence."""
    paragraph_JD: Tensor
    """The mean state of each sentence's paragraph."""

    @cached_property
    def likeness(self) -> Tensor:
        """The cosine of each two sentences' states, less the mean of all."""
        unit_JD = F.normalize(self.sentence_JD - self.sentence_JD.mean(0), dim=1)
        return unit_JD @ unit_JD.T


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


class Relations(nn.Module):
    """Attention between the source sentences of a cluster."""

    def __init__(self, *, width: int, hidden_width: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(2 * width + NUM_PLACE_FACTS, hidden_width)
        layer = nn.TransformerEncoderLayer(
            hidden_width,
            PLANNER_HEADS,
            2 * hidden_width,
            dropout,
            norm_first=True,
            batch_first=True,
        )
        self.layers = nn.TransformerEncoder(layer, NUM_RELATING_LAYERS, enable_nested_tensor=False)
        self.outer = nn.Linear(hidden_width, hidden_width, bias=False)

    def forward(self, source: SourceSentences) -> Tensor:
        """Return W_r r_j of each sentence."""
        states_JD = source.sentence_JD
        facts_JF = place_facts(source.outline).to(states_JD.device, states_JD.dtype)
        inputs_JI = torch.cat([states_JD, source.paragraph_JD, facts_JF], dim=1)
        related_JW: Tensor = self.outer(self.layers(self.inner(inputs_JI)[None])[0])
        return related_JW


class Planner(nn.Module):
    """Scores source sentences for the next sentence of a summary."""

    def __init__(self, *, width: int, hidden_width: int, dropout: float) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.zeros(width))
        self.state = nn.Linear(width, hidden_width)
        self.sentence = nn.Linear(width, hidden_width, bias=False)
        self.paragraph = nn.Linear(width, hidden_width, bias=False)
        self.relations = Relations(width=width, hidden_width=hidden_width, dropout=dropout)
        self.facts = nn.Linear(NUM_FACTS, hidden_width, bias=False)
        self.stop = nn.Linear(NUM_STOP_FACTS, hidden_width)
        self.score = nn.Linear(hidden_width, 1)
        self.join_state = nn.Linear(width, hidden_width)
        self.join_main = nn.Linear(width, hidden_width, bias=False)
        self.join_other = nn.Linear(width, hidden_width, bias=False)
        self.join_facts = nn.Linear(NUM_JOIN_FACTS, hidden_width, bias=False)
        self.join_score = nn.Linear(hidden_width, 1)

    def expect_few_joins(self) -> None:
        """Start with low odds of joining: few sentences join."""
        nn.init.constant_(self.join_score.bias, -3.0)

    def boundaries(self, ended_KD: Tensor) -> Tensor:
        """Return the states at all boundaries: the learned first one, then `ended_KD`."""
        return torch.cat([self.start[None].to(ended_KD.dtype), ended_KD])

    def forward(
        self, boundary_KD: Tensor, source: SourceSentences, history: Sequence[Sequence[Plan]]
    ) -> Tensor:
        """Return score_KJ of each sentence at each boundary; the last column is the stop.

        `history` has for each boundary the plans before it.
        """
        device, dtype = boundary_KD.device, boundary_KD.dtype
        facts_KJF = torch.stack([sentence_facts(source, plans) for plans in history])
        state_KW = self.state(boundary_KD)
        of_source_JW = self.sentence(source.sentence_JD) + self.paragraph(source.paragraph_JD)
        of_source_JW = of_source_JW + self.relations(source)
        hidden_KJW = state_KW[:, None] + of_source_JW + self.facts(facts_KJF.to(device, dtype))
        stop_KF = torch.tensor([stop_facts(source, plans) for plans in history])
        hidden_K1W = (state_KW + self.stop(stop_KF.to(device, dtype)))[:, None]
        score_KJ: Tensor = self.score(torch.cat([hidden_KJW, hidden_K1W], 1).tanh()).squeeze(-1)
        return score_KJ

    def joining(self, boundary_KD: Tensor, source: SourceSentences, main: Sequence[int]) -> Tensor:
        """Return join_KJ: the log odds that a sentence joins each boundary's main sentence."""
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

        At each boundary: the cross entropy of the plan's sentences, equally weighted, or of the
        stop after the last; and the binary cross entropy of the joining sentences.
        """
        boundary_KD = self.boundaries(ended_KD)
        main = [plan[0] for plan in plans]
        join_KJ = self.joining(boundary_KD[:-1], source, main).float()
        joined_KJ = torch.zeros_like(join_KJ)
        is_other_KJ = torch.ones_like(join_KJ)
        for number, plan in enumerate(plans):
            joined_KJ[number, list(plan)] = 1
            is_other_KJ[number, plan[0]] = 0
        joins = F.binary_cross_entropy_with_logits(
            join_KJ, joined_KJ, weight=is_other_KJ, reduction="sum"
        )
        return joins + choice_loss(self.choices(ended_KD, source, plans), plans)

    def choices(self, ended_KD: Tensor, source: SourceSentences, plans: Sequence[Plan]) -> Tensor:
        """Return log_prob_KJ of each sentence and of the stop, given the plans before."""
        history = [plans[:number] for number in range(len(plans) + 1)]
        scores_KJ: Tensor = self(self.boundaries(ended_KD), source, history)
        return scores_KJ.float().log_softmax(-1)


def choice_loss(log_prob_KJ: Tensor, plans: Sequence[Plan]) -> Tensor:
    """Return the cross entropy of the plans' sentences and of the stop, summed over boundaries."""
    chosen = [log_prob_KJ[number, list(set(plan))].mean() for number, plan in enumerate(plans)]
    return -torch.stack([*chosen, log_prob_KJ[-1, -1]]).sum()


def sentence_facts(source: SourceSentences, plans: Sequence[Plan]) -> Tensor:
    """Return facts_JF: earlier use and position of each sentence, and its likeness to what was used."""
    outline = source.outline
    used = {number for plan in plans for number in plan}
    paragraphs = {outline.paragraphs[number] for number in used}
    documents = {outline.documents[paragraph] for paragraph in paragraphs}
    likeness_J = torch.zeros(len(outline))
    if used:
        likeness_J = source.likeness[:, sorted(used)].max(1).values
    rows = []
    for number, paragraph in enumerate(outline.paragraphs):
        first, after = outline.spans[number]
        position = outline.positions[number]
        facts = (
            number in used,
            paragraph in paragraphs,
            outline.documents[paragraph] in documents,
            position == 0,
            math.log1p(position),
            math.log1p(source.ranks[paragraph]),
            math.log1p(after - first) / 3,
            number - 1 in used,
        )
        rows.append(tuple(map(float, facts)))
    return torch.cat([torch.tensor(rows), likeness_J.float().cpu()[:, None]], dim=1)


def place_facts(outline: Outline) -> Tensor:
    """Return facts_JF: where in the cluster each sentence stands."""
    num_documents = len(set(outline.documents))
    rows = [
        (outline.documents[paragraph], outline.places[paragraph], num_documents, len(outline))
        for paragraph in outline.paragraphs
    ]
    return torch.tensor(rows, dtype=torch.float).reshape(-1, NUM_PLACE_FACTS).clamp(min=0).log1p()


def stop_facts(source: SourceSentences, plans: Sequence[Plan]) -> tuple[float, float]:
    """Return how much is written, and how much of the source is used."""
    used = {number for plan in plans for number in plan}
    return math.log1p(len(plans)), len(used) / len(source.outline)


def join_facts(outline: Outline, main: int) -> Tensor:
    """Return facts_JF: the distance of each sentence to the main one."""
    main_paragraph = outline.paragraphs[main]
    rows = [
        (
            paragraph == main_paragraph,
            number == main + 1,
            number == main - 1,
            outline.documents[paragraph] == outline.documents[main_paragraph],
        )
        for number, paragraph in enumerate(outline.paragraphs)
    ]
    return torch.tensor(rows, dtype=torch.float)
