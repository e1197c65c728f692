"""Word pieces equal those of the original tokenizer."""

from __future__ import annotations

import pytest

from hiersum.checking.wordpiece import WordPiece
from hiersum.errors import CheckpointError

VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] the a un ##aff ##able ##s crash ##ed hurt istanbul cafe . , ! ? ' - $ ^ "
    "« 中 国 1 ##9 ##7 ##1 20 don t x ß i ##̇ stanbul ##stanbul e ##c 日 本 ा न म ##स ##त ##े"
).split()
TEXTS = [
    "The unaffable crashed.",
    "Café CAFÉ cafe\u0301",
    "1971, 20% hurt!",
    "don't",
    "«x»—x-x",
    "中国 x中x 日本語",
    "İstanbul ß",
    "$x^x",
    "a\u200bb a\u00adb a\x00b a\x85b a\x1cb\ufffd",
    "a\u00a0b a\u2003b a\u3000b a\u2028b\ta\nb\r",
    "नमस्ते",
    "😀 x",
    "x" * 101,
    "x" * 100,
    "",
    " \n ",
]


@pytest.mark.parametrize("text", TEXTS)
def test_wordpiece_equals_the_original(text: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    original = tokenizers.BertWordPieceTokenizer(
        {piece: number for number, piece in enumerate(VOCABULARY)}, lowercase=True
    )
    wanted = original.encode(text, add_special_tokens=False).ids
    words = WordPiece(VOCABULARY)
    assert words.encode(text) == wanted
    assert words.encode(text) == wanted, "a cached word gives the same pieces"


def test_wordpiece_cuts_longest_pieces_first() -> None:
    words = WordPiece(VOCABULARY)
    ids = words.encode("Unaffable")
    assert [VOCABULARY[i] for i in ids] == ["un", "##aff", "##able"]


def test_wordpiece_gives_unknown_for_a_word_it_cannot_cut() -> None:
    words = WordPiece(VOCABULARY)
    assert words.encode("unzzz") == [words.unknown]


def test_wordpiece_refuses_a_vocabulary_without_special_pieces() -> None:
    with pytest.raises(CheckpointError, match=r"\[CLS\]"):
        WordPiece(["[PAD]", "[UNK]", "[SEP]"])


def test_wordpiece_refuses_padding_at_another_place() -> None:
    with pytest.raises(CheckpointError, match=r"\[PAD\]"):
        WordPiece(["[UNK]", "[PAD]", "[CLS]", "[SEP]"])
