"""What a network looked at is counted for the sentence that it wrote meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from hiersum.text.words import count_letters
from hiersum.writing.attention_trail import Trail

SENTENCES = ["The bridge opened.", "Ferries stop."]
TOKENS = ["The", " bridge", " opened", ".", " Fer", "ries", " stop", "."]


def trail(mass: list[list[float]], tokens: list[str] = TOKENS) -> Trail:
    letters = [count_letters("".join(tokens[: n + 1])) for n in range(len(tokens))]
    return Trail(letters, np.array(mass))


def test_a_sentence_is_told_by_what_it_looked_at_more_than_usual() -> None:
    """The first paragraph always has most, and still the second sentence is the second's."""
    times = trail([[0.9, 0.1]] * 4 + [[0.7, 0.3]] * 4).by_sentence(SENTENCES)
    np.testing.assert_allclose(times, [[0.9 / 0.8, 0.1 / 0.2], [0.7 / 0.8, 0.3 / 0.2]])
    assert times.argmax(axis=1).tolist() == [0, 1]


def test_spaces_quotes_and_brackets_may_be_written_otherwise() -> None:
    """A tokenizer may spell Penn style what the text has in prose; letters stay."""
    spelt = ["the", " bridge", " opened", " .", " `` fer", "ries", " '' stop", " ."]
    mass = [[1.0, 0.0]] * 4 + [[0.0, 1.0]] * 4
    times = trail(mass, spelt).by_sentence(["The bridge opened.", '"Ferries" stop.'])
    np.testing.assert_allclose(times, [[2, 0], [0, 2]])


def test_a_text_of_one_sentence_says_nothing() -> None:
    np.testing.assert_allclose(trail([[0.9, 0.1]] * 8).by_sentence([" ".join(SENTENCES)]), 1)


@pytest.mark.filterwarnings("error")
def test_paragraphs_without_attention_and_sentences_without_tokens_are_neutral() -> None:
    times = trail([[1.0, 0.0]] * 8).by_sentence([*SENTENCES, "Never written."])
    assert times[:, 1].tolist() == [1, 1, 1]
    assert times[2].tolist() == [1, 1]
    assert Trail([], np.zeros((0, 3))).by_sentence(["x"]).tolist() == [[1, 1, 1]]
