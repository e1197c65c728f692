"""What a ranker's weights start from, so that it can learn from a few hundred thousand paragraphs.

The paper's network tells a title's words from others only by what tanh makes of a sum: a part for the
paragraph and a part for the title. From the usual small random weights the sum stays where tanh is a
line, on which the title's part moves all paragraphs of a cluster alike, and what is to be learned, that
both parts speak of the same word, has next to no gradient. So it starts as what it would have to become
first, a judge of shared rare words and of length:

    words    longer the rarer they are, so that what is common does not win the maximum over a text;
             their directions are those of the network in the same folder, if there is one
    match    both LSTMs and both parts of the sum alike, large enough to leave the line, below a threshold
             that one part alone does not reach
    length   some units count tokens: longer paragraphs hold more of any target
    score    all of these count in favour; the mean score is the mean label
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from hiersum.ranking.lstm import Lstm
from hiersum.ranking.neural import RankerNetwork

if TYPE_CHECKING:  # it reads corpora, which this need not import
    from hiersum.training.ranker_examples import RankerExamples

_WORD_LENGTH = 2.0
"""Length of the rarest word's embedding, in units of sqrt(width)."""
_GAIN = 4.0
_THRESHOLD = 2.0
_SHORTEST_COUNT = 20
"""Tokens over which the quickest counter rises; each next one takes sqrt(2) times as many."""
_MAX_COUNTERS = 8
_MATCH_SCORE, _LENGTH_SCORE = 0.03, 0.15
_SAMPLE = 50_000  # paragraphs in which words are counted
_SCORED_SAMPLE = 1_000


@torch.no_grad()
def start_weights(
    network: RankerNetwork, examples: RankerExamples, words_VD: Tensor | None = None
) -> None:
    """Set the weights that learning begins with; what is random is drawn from torch's generator.

    Args:
        network: the ranker.
        examples: what it will learn from.
        words_VD: embeddings of the same pieces by another network, if there is one.
    """
    width = network.shape.width
    words_VK = network.embedding.weight if words_VD is None else reduced(words_VD, width)
    directions_VK = nn.functional.normalize(words_VK, dim=1)
    lengths_V = _WORD_LENGTH * math.sqrt(width) * rarity(examples, network.shape.vocab_size)
    network.embedding.weight.copy_(directions_VK * lengths_V[:, None])
    network.title_lstm.load_state_dict(network.paragraph_lstm.state_dict())
    part = _GAIN * nn.init.orthogonal_(torch.empty(width, width))
    network.match.weight.copy_(torch.cat([part, part], dim=1))
    network.match.bias.fill_(-_THRESHOLD)
    network.score.weight.fill_(_MATCH_SCORE)
    num_counters = min(_MAX_COUNTERS, width // 4)
    _count(network.paragraph_lstm, num_counters)
    for unit in range(num_counters):  # tanh(2 h - 1), h the counter's state
        network.match.weight[unit] = 0
        network.match.weight[unit, unit] = 2
        network.match.bias[unit] = -1
        network.score.weight[0, unit] = _LENGTH_SCORE
    _level(network, examples)


def reduced(words_VD: Tensor, width: int) -> Tensor:
    """Return embeddings of another width with unit spread: their principal components, or as many as
    there are and noise beside them."""
    centred_VD = (words_VD - words_VD.mean(0)).float()
    axes_DD = torch.linalg.eigh(centred_VD.T @ centred_VD).eigenvectors.flip(1)
    kept_VK = centred_VD @ axes_DD[:, :width]
    kept_VK = kept_VK / kept_VK.std()
    missing = width - kept_VK.size(1)
    return torch.cat([kept_VK, torch.randn(len(kept_VK), missing)], 1) if missing > 0 else kept_VK


def rarity(examples: RankerExamples, vocab_size: int) -> Tensor:
    """Return how rare each piece is: 0 if it stands in every paragraph, 1 if in none."""
    chosen = np.arange(0, len(examples), 1 + len(examples) // _SAMPLE)
    starts, ends = examples.paragraph_starts[chosen], examples.paragraph_starts[chosen + 1]
    texts = [examples.paragraph_ids[start:end] for start, end in zip(starts, ends)]
    pieces = np.concatenate([np.unique(text) for text in texts])
    num_holding = np.bincount(pieces, minlength=vocab_size)
    log_share = np.log((1 + num_holding) / (1 + len(texts)))
    return torch.from_numpy(log_share / -math.log(1 + len(texts))).float()


def _count(lstm: Lstm, num_counters: int) -> None:
    """Make the first units add the same at every token, whatever it is: h = tanh(tokens / span)."""
    width = len(lstm.recurrent)
    for unit in range(num_counters):
        gates = [unit + gate * width for gate in range(4)]  # input, forget, output, value
        span = _SHORTEST_COUNT * math.sqrt(2) ** unit
        lstm.input.weight[gates] = 0
        lstm.recurrent[:, gates] = 0
        lstm.input.bias[gates] = torch.tensor([-math.log(span), 8.0, 4.0, 3.0])


def _level(network: RankerNetwork, examples: RankerExamples) -> None:
    """Choose the last bias so that the mean score of some paragraphs is the mean label.

    Labels are small, and from higher scores the first steps would push all weights down together until
    every unit is saturated.
    """
    step = 1 + len(examples) // _SCORED_SAMPLE
    batch = examples.batch(np.arange(0, len(examples), step))
    was_training = network.training
    logits = network.eval()(batch.titles, batch.paragraphs, batch.title_of)
    network.train(was_training)
    wanted = torch.tensor(float(examples.labels.mean())).clamp(1e-6, 1 - 1e-6).logit()
    for _ in range(50):
        change = wanted - logits.sigmoid().mean().logit()
        logits += change
        network.score.bias.add_(change)
