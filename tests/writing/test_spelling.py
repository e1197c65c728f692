"""Names and numbers come from the sources, whatever the network would rather write."""

from __future__ import annotations

import random
import re

import pytest
import torch
from networks import RandomNetwork

from hiersum.config import SearchConfig
from hiersum.writing.beam import beam_search
from hiersum.writing.spelling import GroundedWords, Spelling, guarded_words, is_guarded

END = 1
PIECES = [
    *("<pad>", "</s>", "▁the", "▁in", "▁B", "er", "lin", "▁Berlin", "▁Paris", "▁19", "84", "99"),
    *("▁1984", "1984", "▁(", ")", ".", ",", "200", "▁1", "▁The", "▁He", "▁U", "S", "s", "▁was"),
    *("▁7", "▁$", "5", "Paris", "▁mid", "-", "▁A"),
]
IDS = {piece: index for index, piece in enumerate(PIECES)}
SOURCE = "Berlin (1984) had 1,200 people in the U.S. The rest cost $5."


def allowed(written: str, source: str = SOURCE) -> set[str]:
    """Return the pieces that may follow some pieces, which are parted by spaces."""
    rule = GroundedWords(Spelling(PIECES, END), [guarded_words([source])])
    tokens_BNS = torch.tensor([[[0, *(IDS[piece] for piece in written.split())]]])
    log_probs_BNV = torch.zeros(1, 1, len(PIECES))
    rule(tokens_BNS, log_probs_BNV, [0])
    return {piece for piece, value in zip(PIECES, log_probs_BNV[0, 0]) if value == 0}


def test_words_that_must_be_copied_have_a_digit_or_a_capital() -> None:
    assert guarded_words([SOURCE, "a 3.5-litre iPhone"]) == {
        *("Berlin", "1984", "1,200", "U.S", "The", "5", "3.5", "iPhone")
    }


def test_a_name_is_spelled_as_in_the_sources_by_any_pieces() -> None:
    assert {"▁Berlin", "▁B"} <= allowed("▁in")
    assert allowed("▁in ▁B") == {"er"}
    assert allowed("▁in ▁B er") == {"lin"}
    assert {"▁was", ".", ",", "▁The", "▁Berlin"} <= allowed("▁in ▁B er lin")
    assert not {"s", "84", "er"} & allowed("▁in ▁Berlin")


def test_no_other_name_or_number_may_begin() -> None:
    assert not {"▁Paris", "▁7", "▁He", "▁A", "Paris"} & allowed("▁in")
    assert {"▁the", "▁was", "▁The", "▁(", "</s>"} <= allowed("▁in")


def test_a_number_may_not_stop_half_way() -> None:
    assert allowed("▁in ▁19") == {"84"}
    assert "▁was" in allowed("▁in ▁19 84")
    assert "84" not in allowed("▁in ▁1984")
    assert allowed("▁in ▁1") == {","}
    assert allowed("▁in ▁1 ,") == {"200"}
    assert "▁was" in allowed("▁in ▁1 , 200")


def test_a_number_may_stand_in_other_company() -> None:
    assert {"1984", "5"} <= allowed("▁in ▁(")
    assert "Paris" not in allowed("▁in ▁(")
    assert {")", "."} <= allowed("▁in ▁( 1984")
    assert "5" in allowed("▁in ▁$")


def test_an_abbreviation_keeps_its_points() -> None:
    assert allowed("▁in ▁U") == {"."}
    assert allowed("▁in ▁U .") == {"S"}


@pytest.mark.parametrize("before", ["", "▁in ▁Berlin .", "▁was ."])
def test_the_capital_that_begins_a_sentence_is_free(before: str) -> None:
    found = allowed(before)
    assert {"▁He", "▁Paris", "▁A"} <= found
    assert "▁7" not in found
    assert {"s", "▁was"} <= allowed(f"{before} ▁He")


def test_every_guarded_word_of_every_hypothesis_stands_in_its_own_clusters_source() -> None:
    """Twenty clusters that end at different steps, each with words of its own."""
    random.seed(0)
    words = ["Berlin", "1984", "1,200", "5", "Paris", "1999", "Bers", "U.S", "7"]
    sources = [" ".join(random.sample(words, 3)) for _ in range(20)]
    rule = GroundedWords(Spelling(PIECES, END), [guarded_words([s]) for s in sources])
    found = beam_search(
        RandomNetwork(len(PIECES)), None, SearchConfig(beam_size=3, max_length=30), num_clusters=20,
        begin_id=0, end_id=END, num_best=3, forbidden=[0], constraints=[rule],
    )  # fmt: skip
    num_guarded = 0
    for source, hypotheses in zip(sources, found):
        for hypothesis in hypotheses:
            pieces = [PIECES[index] for index in hypothesis.token_ids if index != END]
            text = "".join(pieces).replace("▁", " ")
            if hypothesis.token_ids[-1] != END:  # cut in the middle of a word
                text = text.rpartition(" ")[0]
            inner = re.sub(r"(^|[.] ) ?[A-Z]", r"\1a", text)  # capitals of sentences
            for word in guarded_words([inner]):
                assert word in source.split(), (text, source)
                num_guarded += 1
    assert num_guarded > 20
    assert is_guarded("K2")
    assert not is_guarded("the")


def test_percentage_keeps_its_sign() -> None:
    """Whether the vocabulary has "20%" in one piece or in two: a bare 20 would be another number."""
    assert guarded_words(["It took 20% of 35 votes."]) == {"It", "20%", "35"}
    pieces = ["<pad>", "</s>", "\u2581took", "\u258120", "\u258120%", "%", "\u258135", "\u2581of"]
    rule = GroundedWords(Spelling(pieces, 1), [guarded_words(["it took 20% of 35 votes"])])

    def allowed(token_ids: list[int]) -> set[int]:
        log_probs = torch.zeros(1, 1, len(pieces))
        rule(torch.tensor([[[0, *token_ids]]]), log_probs, [0])
        return {n for n, value in enumerate(log_probs[0, 0].tolist()) if value == 0}

    assert {3, 4, 6} <= allowed([2])
    assert allowed([2, 3]) == {5}
    assert {1, 2, 7} <= allowed([2, 4])
