"""Sentences are parted at commas, brackets and dashes, and nowhere else."""

from __future__ import annotations

from hiersum.decoding.sentence_parts import Vocabulary

SPACE, END = "▁", "</s>"


def test_what_stands_in_quotes_or_brackets_stays_whole() -> None:
    long = "".join(f"{SPACE}{letter}" for letter in "abcde")
    pieces = [END, ".", ",", '"', f"{SPACE}(", ")", long]
    vocabulary = Vocabulary(pieces, 0, lambda text: [])
    quoted, bracketed = ['"', long, ",", long, '"'], [f"{SPACE}(", long, ",", long, ")"]
    sentence = [pieces.index(piece) for piece in (long, ",", long, *quoted, *bracketed)]
    found = [[pieces[sentence[n]] for n in part] for part in vocabulary.parts(sentence)]
    assert found == [[long, ","], [long, *quoted], bracketed]


def test_a_dash_between_numbers_parts_nothing() -> None:
    long = "".join(f"{SPACE}{letter}" for letter in "abcde")
    pieces = [END, ".", f"{SPACE}–", f"{SPACE}1990", f"{SPACE}1995", long]
    vocabulary = Vocabulary(pieces, 0, lambda text: [])

    def parts(*texts: str) -> int:
        return len(vocabulary.parts([pieces.index(text) for text in texts]))

    dash, first, last = pieces[2:5]
    assert parts(long, first, dash, last, long) == 1
    assert parts(long, dash, long) == 2
    assert parts(long, dash, last, long) == 2


def test_pieces_that_end_a_sentence() -> None:
    pieces = [".", "11.", '."', ".)", "?", "!”", f"{SPACE}one", ",", f"{SPACE}4.5", ")"]
    vocabulary = Vocabulary(pieces, 0, lambda text: [])
    assert vocabulary.ends_sentence == [True] * 6 + [False] * 4
