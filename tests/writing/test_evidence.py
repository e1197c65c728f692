"""Evidence: shares stay shares, rare words weigh more, and the best paragraph leads the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiersum.writing.evidence import Paragraphs

TEXTS = [
    "The bridge was built in 1931. The mayor opened it with a speech.",
    "The ferry was built in 1950. The captain opened a bottle.",
    "The bridge is old.",
]


def test_a_paragraph_that_has_the_sentence_has_all_of_it() -> None:
    evidence = Paragraphs(TEXTS).evidence("The bridge was built in 1931.", 10)
    assert evidence[0][:3] == (1, 1, 1)
    assert evidence[0].gap > 0 > evidence[1].gap


def test_rare_words_weigh_more_than_common_ones() -> None:
    known = Paragraphs(TEXTS)
    evidence = known.evidence("The speech.", 10)
    assert evidence[0].words == 1
    assert evidence[1].words < 0.5, "it has only the word that all have"


def test_words_of_several_sentences_count_for_the_paragraph_but_not_for_one_sentence() -> None:
    evidence = Paragraphs(TEXTS).evidence("bridge speech mayor 1931", 10)[0]
    assert evidence.words == 1
    assert evidence.sentence < 1


def test_order_tells_two_paragraphs_of_the_same_words_apart() -> None:
    known = Paragraphs(["dog bites man", "man bites dog"])
    evidence = known.evidence("Dog bites man.", 10)
    assert evidence[0].words == evidence[1].words == 1
    assert evidence[0].order == 1 > evidence[1].order


def test_only_the_likeliest_are_looked_at() -> None:
    texts = [f"Sentence {n} tells of bridges." for n in range(50)]
    assert set(Paragraphs(texts).evidence("Sentence 7 tells.", 5)) >= {7}
    assert len(Paragraphs(texts).evidence("Sentence 7 tells.", 5)) == 5


def test_attention_is_on_a_scale_of_its_own_and_bounded() -> None:
    known = Paragraphs(TEXTS)
    found = known.evidence("The bridge.", 10, np.array([1.0, 2.0, 0.0]))
    assert found[0].attention == 0
    assert found[1].attention == pytest.approx(np.log(2))
    assert -5 < found[2].attention < 0


@given(st.lists(st.text(max_size=60), min_size=1, max_size=5), st.text(max_size=60))
def test_shares_are_shares_whatever_the_text(texts: list[str], sentence: str) -> None:
    for evidence in Paragraphs(texts).evidence(sentence, 10).values():
        assert all(0 <= part <= 1 + 1e-9 for part in evidence[:3])
        assert -1 - 1e-9 <= evidence.gap <= 1 + 1e-9
