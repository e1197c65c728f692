"""No run of words stands twice, whatever pieces, capitals and marks it is written with."""

from __future__ import annotations

import pytest
import torch
from networks import RandomNetwork

from hiersum.config import SearchConfig
from hiersum.decoding.beam import beam_search
from hiersum.decoding.repetition import NoRepeatedWords
from hiersum.text.words import FUNCTION_WORDS, split_words

END = 1
PIECES = [
    *(
        "<pad>",
        "</s>",
        "▁the",
        "▁The",
        "▁old",
        "▁bridge",
        "▁Bridge",
        "▁br",
        "idge",
        "▁(",
        ")",
        "the",
    ),
    *(",", "▁a", "▁alder", "s", "▁19", "31", "▁is", "▁open", "bridge"),
]
IDS = {piece: index for index, piece in enumerate(PIECES)}


def barred(written: str, n: int = 3) -> set[str]:
    """Return the pieces that may not follow some pieces, which are parted by spaces."""
    tokens_BNS = torch.tensor([[[0, *(IDS[piece] for piece in written.split())]]])
    log_probs_BNV = torch.zeros(1, 1, len(PIECES))
    NoRepeatedWords(n, PIECES, split_words, FUNCTION_WORDS)(tokens_BNS, log_probs_BNV, [0])
    return {piece for piece, value in zip(PIECES, log_probs_BNV[0, 0]) if value != 0}


def test_the_word_that_would_repeat_a_run_may_not_begin() -> None:
    every_beginning = {"▁bridge", "▁Bridge", "▁br", "bridge"}
    assert barred("▁the ▁old ▁bridge ▁is ▁the ▁old") == every_beginning
    assert barred("▁the ▁old ▁br idge ▁is ▁the ▁old") == every_beginning
    assert not barred("▁the ▁old ▁bridge ▁is ▁the")


def test_capitals_and_marks_make_no_difference() -> None:
    assert "▁bridge" in barred("▁The ▁old ▁Bridge ▁is ▁( the , ▁old")


def test_small_words_stay_free_where_a_longer_one_is_barred() -> None:
    assert barred("▁the ▁old ▁alder ▁is ▁the ▁old") == {"▁alder"}


def test_a_name_of_many_pieces_may_come_again() -> None:
    """Which a rule over pieces forbids."""
    assert not barred("▁19 31 ▁is ▁open ▁the ▁19")


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_no_run_stands_twice_in_what_a_search_writes(n: int, seed: int) -> None:
    """Pieces are whole words here, so that no repetition can hide."""
    config = SearchConfig(beam_size=3, max_length=30, min_length=29)
    pieces = ["", "", *(f"▁{word}" for word in "one Two three FOUR five six".split()), ","]

    def runs(constraints: list[NoRepeatedWords]) -> list[tuple[str, ...]]:
        """Return those of the best hypothesis."""
        ((best,),) = beam_search(
            RandomNetwork(len(pieces), seed), None, config,
            num_clusters=1, begin_id=0, end_id=END, constraints=constraints,
        )  # fmt: skip
        words = split_words("".join(pieces[t] for t in best.token_ids).replace("▁", " "))
        return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]

    bound, free = runs([NoRepeatedWords(n, pieces, split_words)]), runs([])
    assert len(set(bound)) == len(bound) > 0
    if n < 3:
        assert len(set(free)) < len(free)
