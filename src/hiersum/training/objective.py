"""What a network is trained to make small: the cross entropy of targets, and the planner's loss."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from hiersum.errors import TrainingError
from hiersum.model.batch import Batch
from hiersum.model.network import EncoderDecoder, Network


class Losses(NamedTuple):
    """Sums over the tokens and boundaries of a batch."""

    total: Tensor
    """What to learn from."""
    plain: Tensor
    """Cross entropy of the targets without smoothing, to report."""
    plan: Tensor
    """The planner's loss; 0 for a network without one."""


class Objective(nn.Module):
    """A network together with its loss, so that several processes can share both."""

    def __init__(self, network: Network, *, smoothing: float, plan_weight: float) -> None:
        super().__init__()
        self.network = network
        self.smoothing = smoothing
        self.plan_weight = plan_weight

    def forward(self, batch: Batch) -> Losses:
        """Return the losses of a batch.

        Raises:
            TrainingError: the batch has no targets, or no plans for a network that plans.
        """
        if batch.label_Y is None:
            raise TrainingError(
                "an example has no target to learn from; prepare clusters with summaries"
            )
        network = self.network
        if not isinstance(network, EncoderDecoder) or network.planner is None:
            total, plain = smoothed_cross_entropy(network(batch), batch.label_Y, self.smoothing)
            return Losses(total, plain, plain.new_zeros(()))
        if batch.plans is None:
            raise TrainingError(
                "the network plans, but an example has no plans; prepare the set for this network"
            )
        logits_YV, plan = network.forward_with_plans(batch)
        total, plain = smoothed_cross_entropy(logits_YV, batch.label_Y, self.smoothing)
        return Losses(total + self.plan_weight * plan, plain, plan.detach())


def smoothed_cross_entropy(
    logits_YV: Tensor, label_Y: Tensor, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Return two sums over tokens: the smoothed loss to learn from, and the plain one to report.

    A share `smoothing` of each label is spread evenly over all pieces, as in `F.cross_entropy`.
    """
    log_probs_YV = logits_YV.float().log_softmax(-1)
    plain = -log_probs_YV.gather(-1, label_Y[:, None]).sum()
    if smoothing == 0:
        return plain, plain.detach()
    even = -log_probs_YV.mean(-1).sum()
    return (1 - smoothing) * plain + smoothing * even, plain.detach()
