"""A ranker starts where it can learn: the same word on both sides counts, and words have meaning."""

from __future__ import annotations

import torch

from hiersum.ranking.neural import RankerNetwork, RankerShape, pack
from hiersum.training.ranker_start import reduced, start_weights


def started(words_VD: torch.Tensor | None = None) -> RankerNetwork:
    torch.manual_seed(0)
    network = RankerNetwork(RankerShape(vocab_size=200, width=64))
    start_weights(network, 0.03, words_VD)
    return network.eval()


def test_scores_begin_at_the_mean_of_the_labels() -> None:
    network = started()
    with torch.no_grad():
        network.score.weight.zero_()
        logits = network(pack([[3, 4]]), pack([[5], [6, 7]]), torch.tensor([0, 0]))
    torch.testing.assert_close(logits.sigmoid(), torch.tensor([0.03, 0.03]))


def test_more_units_fire_for_a_paragraph_with_the_titles_words_than_for_others() -> None:
    """Before anything is learned, so that the last layer has something to find."""
    network = started()
    with torch.no_grad():
        network.score.weight.fill_(1 / 64)
        firing = []
        for title in range(10, 60):
            others = [[title + 100, title + 60], [title, title + 60]]
            logits = network(pack([[title]]), pack(others), torch.tensor([0, 0]))
            firing.append(float(logits[1] - logits[0]))
    assert sum(more > 0 for more in firing) > 45


def test_words_start_from_the_principal_components_of_another_networks() -> None:
    """Distances survive as far as so few dimensions can hold them; here all of them can."""
    torch.manual_seed(1)
    words_VD = torch.randn(200, 8) @ torch.randn(8, 32)  # eight dimensions in thirty-two
    found_VK = reduced(words_VD, 8)
    before, after = (torch.pdist(vectors) for vectors in (words_VD, found_VK))
    ratio = after / before
    assert float(ratio.std() / ratio.mean()) < 1e-3
    assert abs(float(found_VK.std()) - 1) < 1e-3


def test_a_narrow_vocabulary_is_filled_up() -> None:
    torch.manual_seed(1)
    words_VD = torch.randn(200, 16)
    network = started(words_VD)
    torch.testing.assert_close(network.embedding.weight[:, :16], reduced(words_VD, 16))
    assert float(network.embedding.weight[:, 16:].detach().std()) > 0.9
