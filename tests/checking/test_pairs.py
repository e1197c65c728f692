"""Pairs as the network reads them."""

from __future__ import annotations

from hiersum.checking.pairs import MAX_HYPOTHESIS, MAX_PREMISE, collate, encode_pair


def test_encode_pair_marks_both_texts() -> None:
    pair = encode_pair([5, 6, 7], [6, 7], start=2, end=3)
    assert pair.ids == [2, 5, 6, 7, 3, 6, 7, 3]
    assert pair.segments == [0, 0, 0, 0, 0, 1, 1, 1]


def test_encode_pair_tells_what_the_other_text_has() -> None:
    """1: absent, 2: present, 3: with its left neighbor, 4: with its right one, 5: with both."""
    pair = encode_pair([5, 6, 7, 8], [9, 5, 6, 7, 8, 5], start=2, end=3)
    assert pair.matches[6:-1] == [1, 4, 5, 5, 3, 2]
    assert pair.matches[1:5] == [4, 5, 5, 3]
    assert pair.matches[0] == pair.matches[5] == pair.matches[-1] == 0


def test_encode_pair_cuts_long_texts() -> None:
    pair = encode_pair([5] * 1_000, [6] * 1_000, start=2, end=3)
    assert pair.ids.count(5) == MAX_PREMISE
    assert pair.ids.count(6) == MAX_HYPOTHESIS


def test_collate_pads_with_zeros() -> None:
    pairs = [encode_pair([5], [6], 2, 3), encode_pair([5, 7], [6], 2, 3)]
    ids, segments, matches = collate(pairs)
    assert ids.tolist() == [[2, 5, 3, 6, 3, 0], [2, 5, 7, 3, 6, 3]]
    assert ids.shape == segments.shape == matches.shape
