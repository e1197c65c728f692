"""What a network is trained to make small: the cross entropy of targets, with smoothed labels."""

from __future__ import annotations

from torch import Tensor


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
