"""Batch: the tensors that a network reads, and the legend of shape letters.

    B  clusters in the batch               D  model width
    P  paragraphs in a cluster             H  attention heads
    Q  paragraphs in the batch             K  width of one head
    T  tokens in a paragraph               F  feed-forward width
    M  source tokens of a cluster          V  vocabulary
    R  source tokens in the batch          N  live hypotheses (beams) of a cluster
    S  tokens of a summary so far          C  slots of compressed memory
    Y  target tokens in the batch          X  tokens stored per cluster during search
    L  global layers

R, Y and Q are flat: only real tokens and paragraphs, cluster after cluster (see `spans`). A
repeated letter is a pair over the same axis (`graph_PP`: from paragraph, to paragraph).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import torch
from torch import Tensor

from hiersum.errors import InputError
from hiersum.model.planner import Outline, Plan, PlannedRows, cut_stretches, plan_rows
from hiersum.model.spans import Spans


@dataclass(frozen=True)
class Batch:
    """Clusters as ids: ranked paragraphs, edges between them, and targets in training."""

    source_R: Tensor
    """Ids of all real source tokens."""
    paragraph_lengths: tuple[tuple[int, ...], ...]
    """Tokens of each paragraph, per cluster; none is empty."""
    ranks: tuple[tuple[int, ...], ...]
    """The rank of each paragraph, per cluster, best 0."""
    graphs: tuple[Tensor, ...] | None = None
    """Edge weights between a cluster's paragraphs, one graph_PP per cluster, not yet normalised."""
    input_Y: Tensor | None = None
    """Decoder input: all tokens but the last of each target."""
    label_Y: Tensor | None = None
    """Labels: all tokens but the first of each target."""
    target_lengths: tuple[int, ...] = ()
    """Input tokens of each target."""
    outlines: tuple[Outline, ...] | None = None
    """The source sentences of each cluster, for a planning network."""
    plans: tuple[tuple[Plan, ...], ...] | None = None
    """For each cluster the plan of each target sentence; None: attend to the whole source."""
    stretches: tuple[tuple[int, ...], ...] = ()
    """For each cluster the number of target tokens per sentence; only with plans."""

    @classmethod
    def from_ids(
        cls,
        sources: Sequence[Sequence[Sequence[int]]],
        targets: Sequence[Sequence[int]] | None = None,
        graphs: Sequence[Sequence[Sequence[float]] | Tensor] | None = None,
    ) -> Batch:
        """Make a batch of clusters of ranked paragraphs, best first; empty paragraphs are dropped.

        A graph has the edge weights between all given paragraphs of its cluster.
        """
        ranks = [[rank for rank, ids in enumerate(cluster) if len(ids)] for cluster in sources]
        for number, kept in enumerate(ranks):
            if not kept:
                raise InputError(f"cluster {number} of the batch has no source token to read")
        paragraphs = [[c[rank] for rank in kept] for c, kept in zip(sources, ranks, strict=True)]
        source_ids = [token for cluster in paragraphs for ids in cluster for token in ids]
        batch = cls(
            source_R=torch.tensor(source_ids),
            paragraph_lengths=tuple(tuple(map(len, cluster)) for cluster in paragraphs),
            ranks=tuple(map(tuple, ranks)),
            graphs=None if graphs is None else _kept_graphs(graphs, sources, ranks),
        )
        return batch if targets is None else batch.with_targets(targets)

    def with_targets(self, targets: Sequence[Sequence[int]]) -> Batch:
        """Return the batch with targets, each from begin piece to end piece."""
        if len(targets) != len(self):
            raise InputError(f"{len(targets)} targets for {len(self)} clusters")
        for number, ids in enumerate(targets):
            if len(ids) < 2:
                raise InputError(f"target {number} needs a begin and an end piece, got {list(ids)}")
        return replace(
            self,
            input_Y=torch.tensor(list(chain.from_iterable(ids[:-1] for ids in targets))),
            label_Y=torch.tensor(list(chain.from_iterable(ids[1:] for ids in targets))),
            target_lengths=tuple(len(ids) - 1 for ids in targets),
        )

    def with_plans(
        self, outlines: Sequence[Outline], plans: Sequence[Sequence[Plan]] | None, end_id: int
    ) -> Batch:
        """Return the batch with source sentences and, if it has targets, their plans."""
        if tuple(outline.lengths for outline in outlines) != self.paragraph_lengths:
            raise InputError("the outlines are of other paragraphs than the batch has")
        planned = replace(self, outlines=tuple(outlines))
        if plans is None or self.label_Y is None:
            return planned
        labels = [part.tolist() for part in self.targets.split(self.label_Y)]
        stretches = tuple(tuple(cut_stretches(ids, end_id)) for ids in labels)
        for number, (of_cluster, ids, cluster) in enumerate(zip(stretches, labels, plans)):
            if sum(of_cluster) != len(ids) or len(of_cluster) != len(cluster):
                raise InputError(
                    f"target {number} of the batch has {len(of_cluster)} whole sentences for "
                    f"{len(cluster)} plans"
                )
        return replace(planned, plans=tuple(map(tuple, plans)), stretches=stretches)

    @cached_property
    def planned_rows(self) -> PlannedRows | None:
        """The source rows of every stretch; None if all tokens attend to the whole source."""
        if self.outlines is None or self.plans is None:
            return None
        if not any(plan for cluster in self.plans for plan in cluster):
            return None
        return plan_rows(self.outlines, self.plans, self.stretches)

    @property
    def num_boundaries(self) -> int:
        """The planner's decisions: one before each target sentence, and one at the end."""
        return sum(len(plans) + 1 for plans in self.plans or ())

    def target_inputs(self) -> Tensor:
        """Return input_Y, or raise an error if the batch has no targets."""
        if self.input_Y is None:
            raise InputError("the batch has no targets to score; give it some with with_targets")
        return self.input_Y

    def __len__(self) -> int:
        return len(self.paragraph_lengths)

    @cached_property
    def paragraphs(self) -> Spans:
        """The source tokens as paragraphs."""
        return Spans(tuple(chain.from_iterable(self.paragraph_lengths)))

    @cached_property
    def sources(self) -> Spans:
        """The source tokens as clusters."""
        return Spans(tuple(sum(lengths) for lengths in self.paragraph_lengths))

    @cached_property
    def targets(self) -> Spans:
        """The target tokens as clusters."""
        return Spans(self.target_lengths)

    @cached_property
    def clusters(self) -> Spans:
        """The paragraphs as clusters."""
        return Spans(tuple(len(lengths) for lengths in self.paragraph_lengths))

    def to(self, device: torch.device | str) -> Batch:
        """Return the batch on a device."""
        return replace(
            self,
            source_R=self.source_R.to(device),
            graphs=None if self.graphs is None else tuple(g.to(device) for g in self.graphs),
            input_Y=None if self.input_Y is None else self.input_Y.to(device),
            label_Y=None if self.label_Y is None else self.label_Y.to(device),
        )


def _kept_graphs(
    graphs: Sequence[Sequence[Sequence[float]] | Tensor],
    sources: Sequence[Sequence[Sequence[int]]],
    ranks: Sequence[Sequence[int]],
) -> tuple[Tensor, ...]:
    """Return the graphs between the paragraphs that have tokens."""
    kept = []
    for number, (graph, cluster, rows) in enumerate(zip(graphs, sources, ranks, strict=True)):
        graph_PP = torch.as_tensor(graph, dtype=torch.float32)
        if graph_PP.shape != (len(cluster), len(cluster)):
            raise InputError(
                f"the graph of cluster {number} has the shape {tuple(graph_PP.shape)}; "
                f"it must have a row and a column for each of the {len(cluster)} paragraphs"
            )
        if not (graph_PP.isfinite() & (graph_PP >= 0)).all():
            raise InputError(
                f"the graph of cluster {number} has edges that are negative or not a number"
            )
        kept.append(graph_PP[rows][:, rows])
    return tuple(kept)
