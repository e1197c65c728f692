"""BERT's uncased tokenizer: lowercase, strip accents, cut into known pieces.

Gives the same ids as the original tokenizer. Caches words, since they repeat.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from hiersum.errors import CheckpointError

_MAX_WORD = 100  # letters; longer words are unknown
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_MAX_CACHED = 200_000
# Python splits at some of these; the original drops them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class WordPiece:
    """Turns text into ids of a vocabulary."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {piece: number for number, piece in enumerate(vocabulary)}
        missing = [piece for piece in _SPECIAL if piece not in self._ids]
        if missing or self._ids["[PAD]"] != 0:
            raise CheckpointError(f"the checker's vocabulary lacks {', '.join(missing) or '[PAD]'}")
        self.unknown, self.start, self.end = (self._ids[piece] for piece in _SPECIAL[1:])
        self._cache: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without [CLS] and [SEP]."""
        ids: list[int] = []
        for chunk in _CONTROL.sub("", text).split():
            known = self._cache.get(chunk)
            if known is None:
                known = [i for word in _words(chunk) for i in self._pieces(word)]
                if len(self._cache) < _MAX_CACHED and len(chunk) <= _MAX_WORD:
                    self._cache[chunk] = known
            ids += known
        return ids

    def _pieces(self, word: str) -> list[int]:
        """Cut a word greedily, longest known piece first."""
        if len(word) > _MAX_WORD:
            return [self.unknown]
        ids: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._ids.get(prefix + word[start:end])
                if number is not None:
                    ids.append(number)
                    start = end
                    break
            else:
                return [self.unknown]
        return ids


def _words(chunk: str) -> list[str]:
    """Split a chunk without spaces into words, punctuation marks and Chinese characters."""
    if chunk.isascii() and chunk.isalnum():
        return [chunk.lower()]
    words: list[str] = []
    current = ""
    for letter in _plain(chunk):
        if letter.isspace():
            words, current = _add(words, current), ""
        elif _is_mark(letter) or _is_chinese(letter):
            words, current = _add(words, current), ""
            words.append(letter)
        else:
            current += letter
    return _add(words, current)


def _add(words: list[str], word: str) -> list[str]:
    return [*words, word] if word else words


def _plain(text: str) -> str:
    """Drop control characters and accents, and lowercase the rest."""
    kept = "".join(
        letter
        for letter in text
        if letter != "\ufffd" and (letter in "\t\n\r" or unicodedata.category(letter)[0] != "C")
    )
    parts = unicodedata.normalize("NFD", kept)
    return "".join(letter for letter in parts if unicodedata.category(letter) != "Mn").lower()


def _is_mark(letter: str) -> bool:
    """Whether it is punctuation, including ASCII symbols such as $ and ^."""
    return (letter.isascii() and not letter.isalnum()) or unicodedata.category(letter)[0] == "P"


def _is_chinese(letter: str) -> bool:
    code = ord(letter)
    return (
        0x4E00 <= code <= 0x9FFF
        or 0x3400 <= code <= 0x4DBF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x2A6DF
        or 0x2A700 <= code <= 0x2CEAF
        or 0x2F800 <= code <= 0x2FA1F
    )
