"""The parts of a sentence, between commas, brackets and the like, in pieces of a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from hiersum.decoding.grounding import SPACE

Tokens = Sequence[int]
DROPPED = frozenset(f",;:–— {SPACE}")
"""What a part may end with and lose; quotes, brackets and signs of money belong to its words."""
_MIN_PART = 5
"""Words of a part; what has fewer belongs to the one before: a date, a member of a list."""
_PARTING = frozenset(",;)]–—")
_QUOTES = frozenset('"“”')
_CLOSING = "\"”'’)]"


class Vocabulary:
    """What the pieces of a tokenizer are; built once for it."""

    def __init__(
        self,
        pieces: Sequence[str],
        end_id: int,
        encode: Callable[[str], Tokens],
        *,
        binding: Set[str] = frozenset(),
        conditions: Set[str] = frozenset(),
        verbs: Set[str] = frozenset(),
        openers: Set[str] = frozenset(),
        linking: Set[str] = frozenset(),
        adverbs: Set[str] = frozenset(),
        leans: Callable[[Sequence[str]], bool] = lambda words: False,
    ) -> None:
        """Take what there is to write with.

        Args:
            pieces: the text of each piece.
            end_id: the one that ends a summary.
            encode: the pieces of a text.
            binding: words, in small letters, whose part must not be left out, nor those beside it, if
                it begins with them.
            conditions: the same of words wherever they stand in a part.
            verbs: words whose part must not be left out if it begins with them.
            openers: words that begin a sentence which says nothing without its second part.
            linking: words that follow a comma whatever was left out before it.
            adverbs: words that a sentence can do without where a comma follows them.
            leans: does a sentence of these words, in small letters, lean on one before?
        """
        self.pieces = pieces
        self.end_id = end_id
        self.encode = encode
        self.binding = binding
        self.conditions = conditions
        self.verbs = verbs
        self.openers = openers
        self.linking = linking
        self.adverbs = adverbs
        self.leans = leans
        self.stop_id = next((n for n, piece in enumerate(pieces) if piece == "."), None)
        self.begins_word = [piece.startswith(SPACE) for piece in pieces]
        self.is_mark = [piece != SPACE and not any(map(str.isalnum, piece)) for piece in pieces]
        self.ends_sentence = [piece.rstrip(_CLOSING)[-1:] in (".", "!", "?") for piece in pieces]
        """Some pieces have a full stop behind a word or a number."""

    def words(self, tokens: Tokens) -> list[str]:
        """Return words in small letters, without marks."""
        text = "".join(self.pieces[token] for token in tokens)
        words = ("".join(filter(str.isalnum, word)) for word in text.lower().split(SPACE))
        return [word for word in words if word]

    def ends_in_mark(self, token: int) -> bool:
        """Does a piece end in a comma or the like, which a full stop cannot follow?"""
        return self.pieces[token][-1:] in DROPPED

    def is_adverb(self, part: Tokens) -> bool:
        """Is a part a single word that its sentence can do without?"""
        words = self.words(part)
        return len(words) == 1 and words[0] in self.adverbs

    def parts(self, tokens: Tokens) -> list[range]:
        """Return where the parts of a sentence lie; each ends with the marks after it.

        What stands in quotes or brackets is not parted.
        """
        starts, depth, is_quoted = [0], 0, False
        for place, token in enumerate(tokens):
            piece = self.pieces[token]
            if place and piece.startswith(SPACE) and not is_quoted and depth == 0:
                before = self.pieces[tokens[place - 1]]
                if piece[1:2] in ("(", "[") or (
                    not _PARTING.isdisjoint(before) and not self._is_range(tokens, place)
                ):
                    starts.append(place)
            depth += sum((letter in "([") - (letter in ")]") for letter in piece)
            is_quoted ^= sum(letter in _QUOTES for letter in piece) % 2 == 1
        ends = [*starts[1:], len(tokens)]
        after_adverb = ends[0] if self.is_adverb(tokens[: ends[0]]) else 0
        kept = [
            start
            for start, end in zip(starts, ends)
            if start in (0, after_adverb) or len(self.words(tokens[start:end])) >= _MIN_PART
        ]
        return [range(a, b) for a, b in zip(kept, [*kept[1:], len(tokens)])]

    def _is_range(self, tokens: Tokens, place: int) -> bool:
        """Does a piece follow a dash between two numbers?"""
        before = "".join(self.pieces[token] for token in tokens[max(0, place - 3) : place])
        number = before.rstrip("–—").rstrip(SPACE)
        is_after_dash = before[-1:] in ("–", "—")
        return is_after_dash and number[-1:].isdigit() and self.pieces[tokens[place]][1:2].isdigit()
