"""A ranker starts as a judge of shared rare words and of length, before it has learned anything."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from hiersum.ranking.neural import RankerNetwork, RankerShape, pack
from hiersum.training.ranker_examples import RankerExamples
from hiersum.training.ranker_start import rarity, reduced, start_weights

COMMON = 3


def made_up_examples(labels: float = 0.03) -> RankerExamples:
    """Paragraphs of random pieces from 10 to 199, each with piece 3 and thirty others."""
    generator = np.random.default_rng(0)
    paragraphs = [[COMMON, *generator.integers(10, 200, 30)] for _ in range(80)]
    return RankerExamples(
        np.concatenate(paragraphs).astype(np.int32),
        np.arange(0, 31 * 81, 31),
        np.array([20, 30], dtype=np.int32),
        np.array([0, 1, 2]),
        np.repeat([0, 1], 40),
        np.full(80, labels, dtype=np.float32),
    )


def started(words_VD: torch.Tensor | None = None, **examples: float) -> RankerNetwork:
    torch.manual_seed(0)
    network = RankerNetwork(RankerShape(vocab_size=200, width=64))
    start_weights(network, made_up_examples(**examples), words_VD)
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
    assert float(scores.mean()) == pytest.approx(label, abs=1e-4)


def test_a_paragraph_with_the_titles_word_is_better_than_one_with_another() -> None:
    network = started()
    gains = []
    for title in range(10, 60):
        without, having = score(network, [title], [title + 100, title + 60], [title, title + 60])
        gains.append(having - without)
    assert sum(gain > 0 for gain in gains) > 45


def test_rare_words_count_for_more_than_common_ones() -> None:
    """The common one is in every paragraph, so that its embedding has next to no length."""
    rare = rarity(made_up_examples(), 200)
    assert float(rare[COMMON]) == pytest.approx(0, abs=1e-6)
    assert float(rare[0]) == pytest.approx(1)  # in no paragraph
    lengths = started().embedding.weight.detach().norm(dim=1)
    torch.testing.assert_close(lengths, 2 * 8 * rare)


def test_the_longer_of_two_paragraphs_of_the_same_words_is_better() -> None:
    scores = score(started(), [20], *([40, 41] * times for times in (2, 5, 15, 40, 100)))
    assert scores == sorted(scores)
    assert scores[-1] > scores[0] + 0.5


def test_words_start_from_the_principal_components_of_another_networks() -> None:
    """Distances survive as far as so few dimensions can hold them; here all of them can."""
    torch.manual_seed(1)
    words_VD = torch.randn(200, 8) @ torch.randn(8, 32)  # eight dimensions in thirty-two
    found_VK = reduced(words_VD, 8)
    before, after = (torch.pdist(vectors) for vectors in (words_VD, found_VK))
    ratio = after / before
    assert float(ratio.std() / ratio.mean()) < 1e-3
    assert abs(float(found_VK.std()) - 1) < 1e-3


def test_words_of_another_network_keep_their_directions() -> None:
    torch.manual_seed(1)
    words_VD = torch.randn(200, 64)
    found = torch.nn.functional.normalize(started(words_VD).embedding.weight.detach(), dim=1)
    expected = torch.nn.functional.normalize(reduced(words_VD, 64), dim=1)
    is_rare = torch.arange(200) != COMMON  # what has no length has no direction
    torch.testing.assert_close(found[is_rare], expected[is_rare])


def test_a_narrow_vocabulary_is_filled_up() -> None:
    torch.manual_seed(1)
    filled_VK = reduced(torch.randn(200, 16), 64)
    assert filled_VK.shape == (200, 64)
    assert float(filled_VK[:, 16:].std()) > 0.9
