"""Pairs as the network reads them."""

from __future__ import annotations

from hiersum.checking.pairs import (
    END,
    MAX_HYPOTHESIS,
    MAX_PREMISE,
    collate,
    encode_pair,
)


def test_encode_pair_marks_both_texts() -> None:
    pair = encode_pair([5, 6, 7], [6, 7])
    assert pair.ids == [5, 6, 7, END, 6, 7, END]
    assert pair.segments == [0, 0, 0, 0, 1, 1, 1]
    assert encode_pair([5], [6], is_question=True).segments == [0, 0, 2, 2]


def test_encode_pair_tells_what_the_other_text_has() -> None:
    """1: absent, 2: present, 3: with its left neighbor, 4: with its right one, 5: with both."""
    pair = encode_pair([5, 6, 7, 8], [9, 5, 6, 7, 8, 5])
    assert pair.matches[5:-1] == [1, 4, 5, 5, 3, 2]
    assert pair.matches[:4] == [4, 5, 5, 3]
    assert pair.matches[4] == pair.matches[-1] == 0


def test_encode_pair_cuts_long_texts() -> None:
    pair = encode_pair([5] * 1_000, [6] * 1_000)
    assert pair.ids.count(5) == MAX_PREMISE
    assert pair.ids.count(6) == MAX_HYPOTHESIS


def test_collate_lays_pairs_end_to_end() -> None:
    pairs = [encode_pair([5], [6]), encode_pair([5, 7], [6])]
    batch = collate(pairs)
    assert batch.ids_R.tolist() == [5, END, 6, END, 5, 7, END, 6, END]
    assert batch.tokens.lengths == (4, 5)
    assert len(batch.ids_R) == len(batch.segments_R) == len(batch.matches_R)
