"""Constraints on the search: each bars tokens by setting their log-probabilities to -inf.

A constraint is called once per step for all hypotheses. `GroundedWords` prevents invented names and
numbers: a word with a capital or a digit must be spelled, piece by piece, like a word of its
cluster's sources. The capital that begins a sentence is free. Whether such words occur together in
a source is not checked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import torch
from torch import Tensor

SPACE = "▁"
# Letters and digits, with points and the like inside numbers and abbreviations. A percentage keeps
# its sign: 20 is not 20%.
_WORD = re.compile(r"[^\W_](?:[^\W_]|(?<=\d)[.,:](?=\d)|(?<=[^\W\d_])\.(?=[^\W\d_]))*(?:(?<=\d)%)?")
_OPEN_WORD = re.compile(r"[^\W_](?:[^\W_]|[.,:](?=[^\W_]|$))*$")
_MARKS_WITHIN = ".,:"
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*$")
_LONGEST_WORD = 24
"""Most pieces to look back; no word has more."""


class Constraint(Protocol):
    """Bars next tokens of hypotheses, in place."""

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        """Set the log-probabilities of barred next tokens to -inf.

        `tokens_BNS` has each hypothesis so far, from the begin token on; `clusters` the cluster of each
        row, since finished ones have left.
        """


class MinimumLength:
    """No end token before this many tokens."""

    def __init__(self, min_length: int, end_id: int) -> None:
        self.min_length = min_length
        self.end_id = end_id

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        if tokens_BNS.size(2) - 1 < self.min_length:  # the begin token does not count
            log_probs_BNV[:, :, self.end_id] = -torch.inf


class Counted:
    """Bars nothing; reports the number of tokens written."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self.tell = tell

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        self.tell(tokens_BNS.size(2) - 1)


class ForbiddenTokens:
    """Tokens that may never be written."""

    def __init__(self, token_ids: Iterable[int], device: torch.device | None = None) -> None:
        self.token_ids = torch.tensor(sorted(set(token_ids)), dtype=torch.long, device=device)

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        log_probs_BNV.index_fill_(2, self.token_ids, -torch.inf)


class ForbiddenByCluster:
    """Tokens that may not be written for a given cluster."""

    def __init__(self, token_ids: Sequence[Iterable[int]]) -> None:
        self.token_ids = [torch.tensor(sorted(set(ids)), dtype=torch.long) for ids in token_ids]

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        for rows_NV, cluster in zip(log_probs_BNV, clusters):
            rows_NV.index_fill_(1, self.token_ids[cluster], -torch.inf)


class NoRepeatedNgrams:
    """No n-gram occurs twice in a hypothesis."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        written_BNS = tokens_BNS[:, :, 1:]
        if written_BNS.size(2) < self.n:
            return
        # (B, N, S) -> (B, N, S - n + 1, n): every n-gram so far
        grams = written_BNS.unfold(2, self.n, 1)
        recent = written_BNS[:, :, None, written_BNS.size(2) - self.n + 1 :]
        would_repeat = (grams[..., :-1] == recent).all(-1)
        cluster, hypothesis, place = would_repeat.nonzero(as_tuple=True)
        log_probs_BNV[cluster, hypothesis, grams[cluster, hypothesis, place, -1]] = -torch.inf


def is_guarded(word: str) -> bool:
    """Whether a word must occur in the sources: it has a digit or a capital."""
    if word.isalpha() and word.islower():  # shortcut for most words
        return False
    return any(letter.isdigit() or letter.isupper() for letter in word)


def guarded_words(texts: Iterable[str]) -> frozenset[str]:
    """Return the words of texts that a summary may only copy."""
    return frozenset(word for text in texts for word in _WORD.findall(text) if is_guarded(word))


PRONOUNS = (
    frozenset(("he", "him", "his", "himself")),
    frozenset(("she", "her", "hers", "herself")),
    frozenset(("it", "its", "itself")),
    frozenset(("they", "them", "their", "theirs", "themselves")),
)


def missing_pronouns(texts: Iterable[str]) -> frozenset[str]:
    """Return the pronouns that occur in no form in the texts.

    A small network cannot tell who "she" is, so it may write only the pronouns of its plan.
    """
    words = {word.lower() for text in texts for word in _WORD.findall(text)}
    return frozenset().union(*(forms for forms in PRONOUNS if forms.isdisjoint(words)))


class Spelling:
    """How the pieces of a vocabulary form words; built once per tokenizer."""

    def __init__(self, pieces: Sequence[str], end_id: int) -> None:
        self.pieces = pieces
        self.end_id = end_id
        texts = [piece.removeprefix(SPACE) for piece in pieces]
        self.continuing: dict[str, int] = {}
        """Pieces that continue a word, by their text."""
        self.beginning: dict[str, list[int]] = {}
        """Pieces that begin a word, by their text without a leading bracket."""
        begins_word = [False] * len(pieces)
        is_free_capital, guarded = begins_word[:], begins_word[:]
        for index, (piece, text) in enumerate(zip(pieces, texts)):
            marks = "" if text.isalnum() else "".join(c for c in text if not c.isalnum())
            core = text.lstrip(marks) if marks else text
            has_space = piece.startswith(SPACE)
            begins_word[index] = has_space or not core or index == end_id
            guarded[index] = is_guarded(text) and index != end_id
            is_free_capital[index] = has_space and core[:1].isupper() and not is_guarded(core[1:])
            if has_space or core != text:
                self.beginning.setdefault(core, []).append(index)
            if not has_space:
                self.continuing[text] = index
        self.pronouns = {
            word: [i for form in (word, word.capitalize()) for i in self.beginning.get(form, ())]
            for forms in PRONOUNS
            for word in forms
        }
        """The pieces that are pronouns."""
        self.begins_word_V = torch.tensor(begins_word)
        self.is_free_capital_V = torch.tensor(is_free_capital)
        self.is_guarded_V = torch.tensor(guarded)


class SourceWords:
    """The guarded words of one cluster and the pieces that spell them."""

    def __init__(self, words: frozenset[str], spelling: Spelling) -> None:
        self.words = words
        self._spelling = spelling
        self._barred: dict[tuple[str, bool, bool], Tensor] = {}
        starts = [
            index
            for word in words
            for length in range(1, len(word) + 1)
            for index in spelling.beginning.get(word[:length], ())
        ]
        self._never_V = spelling.is_guarded_V.clone()
        self._never_V[starts] = False

    def barred(self, open_word: str, *, begins_sentence: bool, must_copy: bool) -> Tensor:
        """Return barred_V: the pieces that may not follow a prefix, which may be empty.

        A sentence may begin with a capital, and a word that must be copied has to become one of the
        source words.
        """
        key = (open_word, begins_sentence, must_copy)
        if key not in self._barred:
            barred_V = self._never_V
            if begins_sentence:
                barred_V = barred_V & ~self._spelling.is_free_capital_V
            if must_copy:
                barred_V = barred_V | ~self._spelling.begins_word_V
                if not self._has(open_word):
                    barred_V = torch.ones_like(barred_V)
            self._barred[key] = barred_V.index_fill(0, self._next_pieces(open_word), False)
        return self._barred[key]

    def _next_pieces(self, open_word: str) -> Tensor:
        """Return the ids of pieces that extend a prefix towards a source word."""
        begin = len(open_word)
        found = {
            self._spelling.continuing.get(word[begin:end])
            for word in self.words
            if word.startswith(open_word)
            for end in range(begin + 1, len(word) + 1)
        }
        return torch.tensor(sorted(found - {None}), dtype=torch.long)

    def _has(self, open_word: str) -> bool:
        """Whether this is a whole source word, ignoring trailing punctuation."""
        return open_word in self.words or open_word.rstrip(_MARKS_WITHIN) in self.words


class GroundedWords:
    """Allows only names and numbers from the sources. Checks hypotheses one by one."""

    def __init__(self, spelling: Spelling, sources: Sequence[frozenset[str]]) -> None:
        """Take the vocabulary and each cluster's `guarded_words`."""
        self._spelling = spelling
        self._sources = [SourceWords(words, spelling) for words in sources]

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        recent = tokens_BNS[:, :, 1:][:, :, -_LONGEST_WORD:].tolist()
        for rows_NV, cluster, hypotheses in zip(log_probs_BNV, clusters, recent):
            barred = [self._barred(self._sources[cluster], ids) for ids in hypotheses]
            rows_NV.masked_fill_(torch.stack(barred), -torch.inf)

    def _barred(self, sources: SourceWords, token_ids: Sequence[int]) -> Tensor:
        pieces = [self._spelling.pieces[index] for index in token_ids]
        last = max((n for n, piece in enumerate(pieces) if piece.startswith(SPACE)), default=0)
        before, text = "".join(pieces[:last]), "".join(pieces[last:]).removeprefix(SPACE)
        match = _OPEN_WORD.search(text)
        word = match[0] if match else ""
        return sources.barred(
            word,
            begins_sentence=not text or _SENTENCE_END.search(text) is not None,
            must_copy=is_guarded(word) and not (word == text and _is_free(word, before)),
        )


def _is_free(word: str, before: str) -> bool:
    """Whether the word is capitalized only because it begins a sentence."""
    begins_sentence = not before or _SENTENCE_END.search(before) is not None
    return begins_sentence and not is_guarded(word[1:]) and not word[0].isdigit()
