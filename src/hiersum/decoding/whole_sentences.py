"""A rule that keeps a summary to its sources: each of its sentences is one of theirs, word for word.

So nothing is joined that no source joins: a year of one event with the place of another, a person with
somebody else's deeds. No source sentence serves twice, and one that begins with a word like "it" comes
only after an earlier one of its paragraph. A sentence without an end gets a full stop.

All pieces of a cluster's sentences are places, and each place knows which may come next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from typing import NamedTuple

import torch
from torch import Tensor

from hiersum.decoding.grounding import SPACE

Tokens = Sequence[int]
_OPEN_ENDS = frozenset(f",;:–— {SPACE}")
"""What no sentence ends with."""
_CLOSING = "\"”'’)]"
_NONE = -1
"""The sentence and the piece before the first."""


class Vocabulary:
    """What the pieces of a tokenizer are; built once for it."""

    def __init__(
        self,
        pieces: Sequence[str],
        end_id: int,
        leans: Callable[[Sequence[str]], bool] = lambda words: False,
    ) -> None:
        """Take what there is to write with.

        Args:
            pieces: the text of each piece.
            end_id: the one that ends a summary.
            leans: does a sentence of these words, in small letters, lean on one before?
        """
        self.pieces = pieces
        self.end_id = end_id
        self.leans = leans
        self.stop_id = next((n for n, piece in enumerate(pieces) if piece == "."), None)
        self._ends_sentence = [piece.rstrip(_CLOSING)[-1:] in (".", "!", "?") for piece in pieces]
        self._is_closing = [not piece.strip(_CLOSING) for piece in pieces]

    def words(self, tokens: Tokens) -> list[str]:
        """Return words in small letters, without the marks around them."""
        text = "".join(self.pieces[token] for token in tokens)
        words = (word.strip("()[]\"“”'’.,;:!?–—…") for word in text.lower().split(SPACE))
        return [word for word in words if word]

    def ended(self, tokens: Tokens) -> list[int]:
        """Return a sentence with a full stop, if it has no end of its own and there is one."""
        whole = list(tokens)
        while len(whole) > 1 and _OPEN_ENDS.issuperset(self.pieces[whole[-1]]):
            whole.pop()
        last = len(whole) - 1
        while last > 0 and self._is_closing[whole[last]]:
            last -= 1
        has_end = any(self._ends_sentence[token] for token in whole[last:])
        return whole if has_end or self.stop_id is None else [*whole, self.stop_id]


class _State(NamedTuple):
    """How far a hypothesis is."""

    places: frozenset[int]
    """Where its last piece may stand."""
    used: frozenset[int] = frozenset()
    """Sentences that have served."""


class SourceSentences:
    """The sentences of one cluster, and which pieces may come next."""

    def __init__(
        self,
        paragraphs: Iterable[Iterable[Tokens]],
        vocabulary: Vocabulary,
        openings: Set[int] = frozenset(),
    ) -> None:
        """Take what may be written.

        Args:
            paragraphs: the sentences of each.
            vocabulary: the pieces.
            openings: which of all sentences a summary should begin with.
        """
        self.end_id = vocabulary.end_id
        self._tokens = [_NONE]
        self._sentences = [_NONE]
        """Which sentence each place belongs to."""
        self._ends = {0}
        """Places after which a sentence is over; all others are followed by the next place."""
        self._starts: list[tuple[int, frozenset[int]]] = []
        """Where each sentence begins, and which sentences may stand before it."""
        for paragraph in paragraphs:
            before = len(self._starts)
            for sentence in paragraph:
                earlier = frozenset(range(before, len(self._starts)))
                leans = vocabulary.leans(vocabulary.words(sentence))
                self._starts.append((len(self._tokens), earlier if leans else frozenset([_NONE])))
                whole = vocabulary.ended(sentence)
                self._tokens += whole
                self._sentences += [len(self._starts) - 1] * len(whole)
                self._ends.add(len(self._tokens) - 1)
        self._first = self._openings(openings)
        self._states: dict[tuple[int, ...], _State] = {(): _State(frozenset([0]))}

    def next_tokens(self, tokens: tuple[int, ...]) -> Tensor:
        """Return what may follow some tokens."""
        state = self._state(tokens)
        found = {self._tokens[place] for place in self._following(state)}
        if tokens and not self._ends.isdisjoint(state.places):
            found.add(self.end_id)
        return torch.tensor(sorted(found), dtype=torch.long)

    def is_in_first(self, tokens: tuple[int, ...]) -> bool:
        """Are some tokens the beginning of a first sentence?"""
        return not self._state(tokens).used - {_NONE}

    def _state(self, tokens: tuple[int, ...]) -> _State:
        if tokens not in self._states:
            state, token = self._state(tokens[:-1]), tokens[-1]
            places = frozenset(p for p in self._following(state) if self._tokens[p] == token)
            self._states[tokens] = _State(places, state.used | self._written(state))
        return self._states[tokens]

    def _following(self, state: _State) -> list[int]:
        following = [place + 1 for place in state.places - self._ends]
        written = self._written(state)
        if _NONE in written:
            return self._first
        if written:
            used, allowed = state.used | written, {_NONE, *written}
            following += [
                start
                for number, (start, before) in enumerate(self._starts)
                if number not in used and not allowed.isdisjoint(before)
            ]
        return following

    def _openings(self, wanted: Set[int]) -> list[int]:
        """Return where a summary begins: as wanted, else where no sentence leans, else anywhere."""
        alone = [n for n, (_, before) in enumerate(self._starts) if _NONE in before]
        chosen = [n for n in alone if n in wanted] or alone or range(len(self._starts))
        return [self._starts[number][0] for number in chosen]

    def _written(self, state: _State) -> frozenset[int]:
        """Return the sentences that may have just been ended."""
        return frozenset(self._sentences[place] for place in state.places & self._ends)


class WholeSentences:
    """Each sentence is a sentence of the sources. Looks at hypotheses one by one."""

    def __init__(self, sources: Sequence[SourceSentences]) -> None:
        """Take what each cluster may write."""
        self._sources = sources

    def __call__(self, tokens_BNS: Tensor, log_probs_BNV: Tensor, clusters: Sequence[int]) -> None:
        for rows_NV, cluster, hypotheses in zip(
            log_probs_BNV, clusters, tokens_BNS[:, :, 1:].tolist()
        ):
            source = self._sources[cluster]
            for row_V, tokens in zip(rows_NV, hypotheses):
                allowed = source.next_tokens(tuple(tokens)).to(row_V.device)
                kept = row_V[allowed]
                row_V.fill_(-torch.inf)
                row_V[allowed] = kept
                # Where there is nothing more to say, a summary ends, however short it is.
                if source.end_id in allowed and kept.max() == -torch.inf:
                    row_V[source.end_id] = 0
            if rows_NV.max() == -torch.inf:
                self._save_first_sentence(source, rows_NV, hypotheses)

    def _save_first_sentence(
        self, source: SourceSentences, rows_NV: Tensor, hypotheses: list[list[int]]
    ) -> None:
        """Let first sentences go on where other rules bar every way for every hypothesis.

        One that says three words twice is better than one that breaks off.
        """
        for row_V, tokens in zip(rows_NV, hypotheses):
            if source.is_in_first(tuple(tokens)):
                row_V[source.next_tokens(tuple(tokens)).to(row_V.device)] = 0
