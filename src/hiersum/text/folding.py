"""Letters that a vocabulary does not have are read without their marks, and written with them again.

T5 knows é and ü but not í, ñ or ø: "Martínez" would be read as "Mart?nez", and could not be written at
all. Every letter becomes one letter, so that places in a text stay what they were.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Set

# What decomposes into nothing simpler by Unicode's tables.
_ALIKE = dict(zip("øØđĐłŁıħĦŧŦðÐ−×‐‑`", "oOdDlLihHtTdD-x--'"))
_WORD = re.compile(r"[^\W\d_]+")


class Folding:
    """Letters for one vocabulary."""

    def __init__(self, known: Set[str]) -> None:
        """Take the letters that the vocabulary has."""
        self._table = _Table(known)

    def fold(self, text: str) -> str:
        """Return a text with letters of the vocabulary where there are some that look alike."""
        return text if text.isascii() and "`" not in text else text.translate(self._table)

    def unfold(self, text: str, sources: Iterable[str]) -> str:
        """Return a text with its words as the sources write them.

        A word that some source has without marks stays as it is.
        """
        sources = list(sources)
        if all(source.isascii() for source in sources):
            return text
        counts = Counter(word for source in sources for word in _WORD.findall(source))
        spellings: dict[str, str] = {}
        for word, _ in counts.most_common():
            folded = self.fold(word)
            if folded != word and folded not in counts:
                spellings.setdefault(folded, word)
        return _WORD.sub(lambda match: spellings.get(match[0], match[0]), text)


class _Table(dict[int, str]):
    """What each letter becomes; worked out when it is first met."""

    def __init__(self, known: Set[str]) -> None:
        super().__init__()
        self._known = known

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = folded = self._fold(letter)
        return folded

    def _fold(self, letter: str) -> str:
        # A vocabulary's own normaliser knows compatible forms.
        if self._known >= set(unicodedata.normalize("NFKC", letter)):
            return letter
        base = _ALIKE.get(letter) or unicodedata.normalize("NFKD", letter)[0]
        return base if base in self._known else letter
