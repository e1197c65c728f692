"""What a chooser learns is what ridge regression would find, and it finds what matters."""

from __future__ import annotations

import numpy as np
import pytest

from hiersum.choosing.chooser import sentence_features
from hiersum.choosing.sentences import ReadSentence
from hiersum.errors import DataError
from hiersum.training.chooser import ChooserFit, sentence_worth

WIDTH = 5
WORDS = "mill river corn bread winter valley stone wheel flour town market road".split()


def make_cluster(rng: np.random.Generator) -> tuple[list[ReadSentence], np.ndarray, str]:
    """Sentences of random words whose first state says how many of them stand in the target."""
    target = " ".join(rng.permutation(WORDS)[:6])
    sentences, states = [], []
    for number in range(6):
        words = rng.permutation(WORDS)[:4]
        text = f"The {' '.join(words)}."
        sentences.append(
            ReadSentence(text, (0, 0), number, range(number, number + 1), 5, leans=False)
        )
        share = np.mean([word in target for word in words])
        states.append([share, *rng.normal(size=WIDTH - 1)])
    return sentences, np.array(states, dtype=np.float32), target


def test_worth_is_precision_of_words_and_twice_that_of_pairs() -> None:
    worth = sentence_worth(["the mill grinds corn", "a river"], "The mill grinds.")
    np.testing.assert_allclose(worth, [3 / 4 + 2 * 2 / 3, 0])


def test_the_weights_are_those_of_ridge_regression() -> None:
    """Held to the same regression over all rows at once, by least squares with added rows."""
    rng = np.random.default_rng(0)
    clusters = [make_cluster(rng) for _ in range(30)]
    fit = ChooserFit(WIDTH)
    rows, worths = [], []
    for sentences, states, target in clusters:
        fit.add(sentences, states, "Mill", target)
        features, _ = sentence_features(sentences, states, "Mill")
        worth = sentence_worth([sentence.text for sentence in sentences], target)
        rows.append(features)
        worths.append(worth - worth.mean())
    all_rows, all_worths = np.concatenate(rows), np.concatenate(worths)
    scales = np.sqrt((all_rows**2).mean(axis=0))
    penalty = np.sqrt(0.05 * len(all_rows)) * np.eye(WIDTH + 1)
    padded = np.concatenate([all_rows / scales, penalty])
    expected, *_ = np.linalg.lstsq(padded, np.append(all_worths, np.zeros(WIDTH + 1)))
    chooser = fit.chooser()
    np.testing.assert_allclose([*chooser.states, chooser.salience], expected / scales, atol=1e-9)
    assert (fit.num_clusters, fit.num_sentences) == (30, 180)


def test_it_learns_which_number_of_a_state_tells() -> None:
    rng = np.random.default_rng(1)
    fit = ChooserFit(WIDTH)
    for _ in range(200):
        sentences, states, target = make_cluster(rng)
        fit.add(sentences, states, "Mill", target)
    weights = np.abs(fit.chooser().states)
    assert weights[0] > 20 * weights[1:].max()


def test_a_number_that_never_changes_weighs_nothing() -> None:
    sentences, states, target = make_cluster(np.random.default_rng(2))
    states[:, 3] = 1.0
    fit = ChooserFit(WIDTH)
    fit.add(sentences, states, "Mill", target)
    assert fit.chooser().states[3] == 0


def test_states_that_are_no_numbers_are_refused() -> None:
    sentences, states, target = make_cluster(np.random.default_rng(3))
    states[2, 1] = np.nan
    fit = ChooserFit(WIDTH)
    fit.add(sentences, states, "Mill", target)
    with pytest.raises(DataError, match="states are no finite numbers"):
        fit.chooser()


def test_targets_in_other_letters_are_refused() -> None:
    """Overlap is counted as ROUGE does, in words of a to z."""
    sentences, states, _ = make_cluster(np.random.default_rng(3))
    fit = ChooserFit(WIDTH)
    fit.add(sentences, states, "Mill", "这座桥关闭了。")
    with pytest.raises(DataError, match="no target tells sentences apart"):
        fit.chooser()


def test_nothing_to_learn_from_is_said() -> None:
    fit = ChooserFit(WIDTH)
    sentences, states, target = make_cluster(np.random.default_rng(3))
    fit.add(sentences[:1], states, "Mill", target)
    with pytest.raises(DataError, match="no cluster has two sentences that were read"):
        fit.chooser()
