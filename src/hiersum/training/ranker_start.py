"""Initial weights that let a ranker learn from a few hundred thousand paragraphs.

The paper's network can detect shared words only through tanh of a sum of a paragraph part and a
title part. With the usual small random weights, tanh is nearly linear: the title then shifts all
paragraphs of a cluster alike, and matching words get almost no gradient. So the network starts out
as a detector of shared rare words and of length:

    words    each piece activates two random units, the more strongly the rarer it is
    LSTMs    pass on the current piece; some units count tokens instead
    match    a unit fires if title and paragraph both activate it: neither is enough alone
    score    shared units and length raise the score, scaled to fit the labels

Learning adds the value of words, which words are related, and what makes a good paragraph.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hiersum.ranking.neural import Lstm, RankerNetwork

if TYPE_CHECKING:
    from hiersum.training.ranker_corpora import RankerExamples

Floats = NDArray[np.float64]

_UNITS_A_PIECE = 2
_BRIGHTNESS = 3.0
"""Activation by the rarest piece, before tanh."""
_GAIN = 8.0
_THRESHOLD = 1.3
"""Between what one side can contribute (at most 1; 1.25 in training) and what both do."""
_MAX_COUNTERS = 8
_SHORTEST_COUNT = 20
"""Time constant of the fastest counter, in tokens; each next one is sqrt(2) times slower."""
_MATCH_SCORE, _LENGTH_SCORE = 0.1, 0.3
_SAMPLE = 50_000  # paragraphs for counting pieces
_SCORED_SAMPLE, _SCORED_AT_ONCE = 4_000, 256  # padded, all at once would take a gigabyte
_MIN_SCALE, _MAX_SCALE = 0.05, 5.0


@torch.no_grad()
def start_weights(network: RankerNetwork, examples: RankerExamples) -> None:
    """Set the initial weights; units are drawn with torch's generator."""
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
    """Return how rare each piece is: 0 if in every paragraph, 1 if in none."""
    chosen = np.arange(0, len(examples), 1 + len(examples) // _SAMPLE)
    starts, ends = examples.paragraph_starts[chosen], examples.paragraph_starts[chosen + 1]
    texts = [examples.paragraph_ids[start:end] for start, end in zip(starts, ends)]
    pieces = np.concatenate([np.unique(text) for text in texts])
    num_holding = np.bincount(pieces, minlength=vocab_size)
    log_share = np.log((1 + num_holding) / (1 + len(texts)))
    return torch.from_numpy(log_share / -math.log(1 + len(texts))).float()


def _hand_on(lstm: Lstm) -> None:
    """Make each state its own token's: input and output gates open, nothing carried over."""
    width = len(lstm.recurrent)
    lstm.recurrent.zero_()
    lstm.input.weight.zero_()
    lstm.input.weight[3 * width :] = _BRIGHTNESS * torch.eye(width)
    for gate, bias in enumerate((4.0, -4.0, 4.0, 0.0)):  # input, forget, output, value
        lstm.input.bias[gate * width : (gate + 1) * width] = bias


def _count(lstm: Lstm, num_counters: int) -> None:
    """Make the first units count tokens: h = tanh(tokens / span)."""
    width = len(lstm.recurrent)
    for unit in range(num_counters):
        gates = [unit + gate * width for gate in range(4)]
        span = _SHORTEST_COUNT * math.sqrt(2) ** unit
        lstm.input.weight[gates] = 0
        lstm.input.bias[gates] = torch.tensor([-math.log(span), 8.0, 4.0, 3.0])


def _level(network: RankerNetwork, examples: RankerExamples) -> None:
    """Scale and shift the scores to fit the labels of a sample: logistic regression.

    Labels are small; from higher scores, the first steps would push all weights down together until
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
    """Return the scale (with a lower bound) and shift that bring logits closest to labels."""
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
