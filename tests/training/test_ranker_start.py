"""A ranker starts as a judge of shared rare words and of length, before it has learned anything."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from hiersum.ranking.neural import RankerNetwork, RankerShape, pack
from hiersum.training.ranker_corpora import RankerExamples
from hiersum.training.ranker_start import rarity, start_weights

COMMON = 3


def made_up_examples(labels: float = 0.03) -> RankerExamples:
    """Paragraphs of random pieces from 10 to 199, each with piece 3 and thirty others."""
    generator = np.random.default_rng(0)
    paragraphs = [[COMMON, *generator.integers(10, 200, 30)] for _ in range(80)]
    return RankerExamples(
        np.concatenate(paragraphs).astype(np.int32),
        np.arange(0, 31 * 81, 31),
        np.array([20, 21, 30, 31], dtype=np.int32),
        np.array([0, 2, 4]),
        np.repeat([0, 1], 40),
        np.full(80, labels, dtype=np.float32),
    )


def started(**examples: float) -> RankerNetwork:
    torch.manual_seed(0)
    network = RankerNetwork(RankerShape(vocab_size=200, width=64))
    start_weights(network, made_up_examples(**examples))
    return network.eval()


def score(network: RankerNetwork, title: list[int], *paragraphs: list[int]) -> list[float]:
    with torch.no_grad():
        title_of = torch.zeros(len(paragraphs), dtype=torch.long)
        scores: list[float] = network(pack([title]), pack(list(paragraphs)), title_of).tolist()
    return scores


@pytest.mark.parametrize("label", [0.0, 0.03, 0.9])
def test_scores_begin_at_the_mean_of_the_labels(label: float) -> None:
    network, examples = started(labels=label), made_up_examples()
    batch = examples.batch(np.arange(len(examples)))
    with torch.no_grad():
        scores = network(batch.titles, batch.paragraphs, batch.title_of).sigmoid()
    assert float(scores.mean()) == pytest.approx(label, abs=1e-3)


def test_a_paragraph_with_the_titles_word_is_better_than_one_with_another() -> None:
    network = started()
    gains = []
    for title in range(10, 60):
        without, having = score(network, [title], [title + 100, title + 60], [title, title + 60])
        gains.append(having - without)
    assert sum(gain > 0 for gain in gains) > 45


def test_rare_words_count_for_more_than_common_ones() -> None:
    """The common one is in every paragraph, so that it lights up nothing."""
    rare = rarity(made_up_examples(), 200)
    assert float(rare[COMMON]) == pytest.approx(0, abs=1e-6)
    assert float(rare[0]) == pytest.approx(1)  # in no paragraph
    torch.testing.assert_close(started().embedding.weight.detach().amax(1), rare)
    without, common, having = score(started(), [COMMON, 20], [40, 41], [COMMON, 41], [20, 41])
    assert having - without > 10 * abs(common - without)


def test_the_longer_of_two_paragraphs_of_the_same_words_is_better() -> None:
    scores = score(started(), [20], *([40, 41] * times for times in (2, 5, 15, 40, 100)))
    assert scores == sorted(set(scores))


def test_every_weight_can_learn() -> None:
    """Nothing is so saturated, or so symmetrical, that no gradient reaches it."""
    network, examples = started().train(), made_up_examples()
    batch = examples.batch(np.arange(len(examples)))
    logits = network(batch.titles, batch.paragraphs, batch.title_of)
    torch.nn.functional.binary_cross_entropy_with_logits(logits, batch.labels).backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None
        if name != "score.bias":  # which is where it should be
            assert float(parameter.grad.abs().max()) > 1e-9, name
