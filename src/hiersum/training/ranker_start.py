"""What a ranker's weights start from, so that it can learn from a few hundred thousand paragraphs.

The paper's network tells a title's words from others only by what tanh makes of a sum: a part for the
paragraph and a part for the title. From the usual small random weights the sum stays where tanh is a
line, on which the title's part moves all paragraphs of a cluster alike, and what is to be learned, that
both parts speak of the same word, has next to no gradient. So both LSTMs and both parts of the sum start
with the same weights, large enough to leave the line, below a threshold that one part alone does not
reach. Where a network stands in the same folder, the words start from its embeddings.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from hiersum.ranking.neural import RankerNetwork

_GAIN = 4.0
_THRESHOLD = 2.0


@torch.no_grad()
def start_weights(
    network: RankerNetwork, mean_label: float, words_VD: Tensor | None = None
) -> None:
    """Set the weights that learning begins with; what is random is drawn from torch's generator.

    Args:
        network: the ranker.
        mean_label: of what it will learn from. Labels are small, and from a score of one half the
            first steps would push all weights down together until every unit is saturated.
        words_VD: embeddings of the same pieces by another network, if there is one.
    """
    width = network.shape.width
    if words_VD is not None:
        network.embedding.weight.copy_(reduced(words_VD, width))
    network.title_lstm.load_state_dict(network.paragraph_lstm.state_dict())
    part = _GAIN * nn.init.orthogonal_(torch.empty(width, width))
    network.match.weight.copy_(torch.cat([part, part], dim=1))
    network.match.bias.fill_(-_THRESHOLD)
    share = min(max(mean_label, 1e-6), 1 - 1e-6)
    network.score.bias.fill_(math.log(share / (1 - share)))


def reduced(words_VD: Tensor, width: int) -> Tensor:
    """Return embeddings of another width with unit spread: their principal components, or as many as
    there are and noise beside them."""
    centred_VD = (words_VD - words_VD.mean(0)).float()
    axes_DD = torch.linalg.eigh(centred_VD.T @ centred_VD).eigenvectors.flip(1)
    kept_VK = centred_VD @ axes_DD[:, :width]
    kept_VK = kept_VK / kept_VK.std()
    missing = width - kept_VK.size(1)
    return torch.cat([kept_VK, torch.randn(len(kept_VK), missing)], 1) if missing > 0 else kept_VK
