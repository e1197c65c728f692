"""The initial weights of a ranker, so that it can learn from a few hundred thousand paragraphs.

The paper's network tells a title's words from others only by what tanh makes of a sum: a part for the
paragraph and a part for the title. From the usual small random weights the sum stays where tanh is a
line, on which the title's part moves all paragraphs of a cluster alike, and what is to be learned, that
both parts speak of the same word, has next to no gradient. So it starts as what it would have to become
first: a judge of shared rare words and of length:

    words    each piece lights up two of the units, drawn at random, the brighter the rarer it is
    LSTMs    hand on the piece that they read; some units count tokens instead
    match    a unit fires if title and paragraph both light it up: neither passes the threshold alone
    score    shared units and length count in favour, as much as suits the labels

What words are worth, which of them belong together and what makes a good paragraph is left to learn.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hiersum.ranking.lstm import Lstm
from hiersum.ranking.neural import RankerNetwork

if TYPE_CHECKING:  # it reads corpora, which this need not import
    from hiersum.training.ranker_examples import RankerExamples

Floats = NDArray[np.float64]

_UNITS_A_PIECE = 2
_BRIGHTNESS = 3.0
"""What the rarest piece gives a unit, before tanh."""
_GAIN = 8.0
_THRESHOLD = 1.3
"""Between what one side can give a unit (at most 1, in training 1.25) and what two do."""
_MAX_COUNTERS = 8
_SHORTEST_COUNT = 20
"""Tokens over which the quickest counter rises; each next one takes sqrt(2) times as many."""
_MATCH_SCORE, _LENGTH_SCORE = 0.1, 0.3
_SAMPLE = 50_000  # paragraphs in which pieces are counted
_SCORED_SAMPLE, _SCORED_AT_ONCE = 4_000, 256  # padded to the longest, all would take a gigabyte
_MIN_SCALE, _MAX_SCALE = 0.05, 5.0


@torch.no_grad()
def start_weights(network: RankerNetwork, examples: RankerExamples) -> None:
    """Set the weights that learning begins with; units are drawn from torch's generator.

    Args:
        network: the ranker.
        examples: what it will learn from.
    """
    width, vocab_size = network.shape.width, network.shape.vocab_size
    num_counters = min(_MAX_COUNTERS, width // 4)
    units_VU = torch.randint(num_counters, width, (vocab_size, _UNITS_A_PIECE))
    network.embedding.weight.zero_()
    network.embedding.weight.scatter_(
        1, units_VU, rarity(examples, vocab_size)[:, None].expand_as(units_VU)
    )
    for lstm in (network.title_lstm, network.paragraph_lstm):
        _hand_on(lstm)
    _count(network.paragraph_lstm, num_counters)
    # tanh(gain (h_paragraph + h_title - threshold)); for a counter tanh(2 h - 1)
    weight, bias = network.match.weight, network.match.bias
    weight.copy_(_GAIN * torch.eye(width).repeat(1, 2))
    bias.fill_(-_GAIN * _THRESHOLD)
    weight[:num_counters] = 2 * torch.eye(2 * width)[:num_counters]
    bias[:num_counters] = -1
    network.score.weight.fill_(_MATCH_SCORE)
    network.score.weight[:, :num_counters] = _LENGTH_SCORE
    _level(network, examples)


def rarity(examples: RankerExamples, vocab_size: int) -> Tensor:
    """Return how rare each piece is: 0 if it stands in every paragraph, 1 if in none."""
    chosen = np.arange(0, len(examples), 1 + len(examples) // _SAMPLE)
    starts, ends = examples.paragraph_starts[chosen], examples.paragraph_starts[chosen + 1]
    texts = [examples.paragraph_ids[start:end] for start, end in zip(starts, ends)]
    pieces = np.concatenate([np.unique(text) for text in texts])
    num_holding = np.bincount(pieces, minlength=vocab_size)
    log_share = np.log((1 + num_holding) / (1 + len(texts)))
    return torch.from_numpy(log_share / -math.log(1 + len(texts))).float()


def _hand_on(lstm: Lstm) -> None:
    """Make a state what its token brings: input and output open, nothing of the tokens before."""
    width = len(lstm.recurrent)
    lstm.recurrent.zero_()
    lstm.input.weight.zero_()
    lstm.input.weight[3 * width :] = _BRIGHTNESS * torch.eye(width)
    for gate, bias in enumerate((4.0, -4.0, 4.0, 0.0)):  # input, forget, output, value
        lstm.input.bias[gate * width : (gate + 1) * width] = bias


def _count(lstm: Lstm, num_counters: int) -> None:
    """Make the first units add the same at every token, whatever it is: h = tanh(tokens / span)."""
    width = len(lstm.recurrent)
    for unit in range(num_counters):
        gates = [unit + gate * width for gate in range(4)]
        span = _SHORTEST_COUNT * math.sqrt(2) ** unit
        lstm.input.weight[gates] = 0
        lstm.input.bias[gates] = torch.tensor([-math.log(span), 8.0, 4.0, 3.0])


def _level(network: RankerNetwork, examples: RankerExamples) -> None:
    """Scale and shift the scores to fit the labels of some paragraphs: logistic regression.

    Labels are small, and from higher scores the first steps would push all weights down together until
    every unit is saturated.
    """
    chosen = np.arange(0, len(examples), 1 + len(examples) // _SCORED_SAMPLE)
    parts = np.array_split(chosen, 1 + len(chosen) // _SCORED_AT_ONCE)
    was_training = network.training
    network.eval()
    batches = [examples.batch(part) for part in parts]
    logits = torch.cat([network(b.titles, b.paragraphs, b.title_of) for b in batches])
    network.train(was_training)
    scale, shift = _best_line(logits.double().numpy(), examples.labels[chosen].astype(np.float64))
    network.score.weight.mul_(scale)
    network.score.bias.mul_(scale).add_(shift)


def _best_line(logits: Floats, labels: Floats) -> tuple[float, float]:
    """Return the scale, never below a small one, and the shift that bring logits nearest to labels."""
    from scipy.optimize import minimize
    from scipy.special import expit, logit

    mean = float(np.clip(labels.mean(), 1e-6, 1 - 1e-6))
    centred = logits - logits.mean()

    def cross_entropy(line: Floats) -> tuple[float, Floats]:
        fitted = line[0] * centred + line[1]
        error = (expit(fitted) - labels) / len(labels)
        loss = np.mean(np.logaddexp(0, fitted) - labels * fitted)
        return float(loss), np.array([error @ centred, error.sum()])

    start, bounds = (_MIN_SCALE, logit(mean)), ((_MIN_SCALE, _MAX_SCALE), (None, None))
    scale, shift = minimize(cross_entropy, start, jac=True, bounds=bounds).x
    return float(scale), float(shift - scale * logits.mean())
