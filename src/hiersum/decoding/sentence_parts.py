"""The parts of a sentence, between commas, brackets and the like, in pieces of a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from hiersum.decoding.grounding import SPACE

Tokens = Sequence[int]
DROPPED = frozenset(f",;:–— {SPACE}")
"""What a part may end with and lose; quotes, brackets and signs of money belong to its words."""
_PARTING = frozenset(",;)]–—")
_OPENING = ("(", "[")
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
        asides: Set[str] = frozenset(),
        doubts: Set[str] = frozenset(),
        verbs: Set[str] = frozenset(),
        adverbs: Set[str] = frozenset(),
        leans: Callable[[Sequence[str]], bool] = lambda words: False,
    ) -> None:
        """Take what there is to write with.

        Args:
            pieces: the text of each piece.
            end_id: the one that ends a summary.
            encode: the pieces of a text.
            asides: words, in small letters, that begin a clause which a sentence can do without.
            doubts: words that such a clause must not have: without it the rest would be said too
                strongly.
            verbs: words with which a sentence goes on after such a clause.
            adverbs: words that a sentence can do without where a comma follows them.
            leans: does a sentence of these words, in small letters, lean on one before?
        """
        self.pieces = pieces
        self.end_id = end_id
        self.encode = encode
        self.asides = asides
        self.doubts = doubts
        self.verbs = verbs
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
        words = (_spoken(word) for word in text.lower().split(SPACE))
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
                if piece[1:2] in _OPENING or (
                    not _PARTING.isdisjoint(before) and not self._is_range(tokens, place)
                ):
                    starts.append(place)
            depth += sum((letter in "([") - (letter in ")]") for letter in piece)
            is_quoted ^= sum(letter in _QUOTES for letter in piece) % 2 == 1
        return [range(a, b) for a, b in zip(starts, [*starts[1:], len(tokens)])]

    def can_go(self, tokens: Tokens, parts: Sequence[range]) -> list[bool]:
        """Say which parts of a sentence it can do without: brackets, and clauses that tell more of
        what was said, at the end or where the sentence goes on with its verb."""
        words = [self.words(tokens[part.start : part.stop]) for part in parts]
        first = [self.pieces[tokens[part[0]]] for part in parts]
        last = [self.pieces[tokens[part[-1]]] for part in parts]
        can_go = [False] * len(parts)
        for n in range(1, len(parts)):
            is_last = n + 1 == len(parts)
            if first[n][1:2] in _OPENING:
                close = last[n].rstrip(".!?") or self.pieces[tokens[parts[n][-2]]]
                can_go[n] = (close if is_last else last[n])[-1:] in (")", "]")
            else:
                can_go[n] = (
                    last[n - 1].endswith(",")
                    and not self.asides.isdisjoint(words[n][:1])
                    and self.doubts.isdisjoint(words[n])
                    and (is_last or (last[n].endswith(",") and words[n + 1][0] in self.verbs))
                )
        return can_go

    def _is_range(self, tokens: Tokens, place: int) -> bool:
        """Does a piece follow a dash between two numbers?"""
        before = "".join(self.pieces[token] for token in tokens[max(0, place - 3) : place])
        number = before.rstrip("–—").rstrip(SPACE)
        is_after_dash = before[-1:] in ("–", "—")
        return is_after_dash and number[-1:].isdigit() and self.pieces[tokens[place]][1:2].isdigit()


def _spoken(word: str) -> str:
    """Return a word without marks: "it's" is "it", but "isn't" is no "is"."""
    word = word.replace("’", "'")
    if not word.endswith("n't"):
        word = word.lstrip("'").partition("'")[0]
    return "".join(filter(str.isalnum, word))
