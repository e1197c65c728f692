"""A rule that keeps a sentence to one source: it is a sentence of the sources, perhaps shortened.

A summary's sentence has the words of one source sentence, in their order. It may lack an adverb at its
beginning, brackets, and clauses that tell more of something ("..., which is in the north, ..."), if these
hold no doubt. So nothing is joined that no source joins: a year of one event with the place of another, a
person with somebody else's deeds. No source sentence serves twice, and one that begins with a word like
"it" comes only after an earlier one of its paragraph.

All pieces of a cluster's sentences are places, and each place knows which may come next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

import torch
from torch import Tensor

from hiersum.decoding.grounding import SPACE
from hiersum.decoding.sentence_parts import DROPPED, Tokens, Vocabulary

_MIN_WORDS = 6
"""Words that a sentence has before something is left out at its end."""
_NONE = -1
"""The sentence and the piece before the first."""


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
        self._vocabulary = vocabulary
        self.end_id = vocabulary.end_id
        self._tokens = [_NONE]
        self._sentences = [_NONE]
        """Which sentence each place belongs to."""
        self._next: list[tuple[int, ...]] = [()]
        self._ends = {0}
        """Places after which a sentence is over."""
        self._starts: list[dict[int, frozenset[int]]] = []
        """Where each sentence may begin, and which sentence must stand before that."""
        for paragraph in paragraphs:
            before = len(self._starts)
            for sentence in paragraph:
                self._add(sentence, frozenset(range(before, len(self._starts))))
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
        going_on = [follower for place in state.places for follower in self._next[place]]
        written = self._written(state)
        if _NONE in written:
            return self._first
        if written:
            used, allowed = state.used | written, {_NONE, *written}
            for number, starts in enumerate(self._starts):
                if number not in used:
                    going_on += [
                        p for p, before in starts.items() if not allowed.isdisjoint(before)
                    ]
        return going_on

    def _openings(self, wanted: Set[int]) -> list[int]:
        """Return where a summary begins: as wanted, else where no sentence hangs, else anywhere."""
        alone = [
            (number, place)
            for number, starts in enumerate(self._starts)
            for place, before in starts.items()
            if _NONE in before
        ]
        found = [place for number, place in alone if number in wanted]
        anywhere = [place for starts in self._starts for place in starts]
        return found or [place for _, place in alone] or anywhere

    def _written(self, state: _State) -> frozenset[int]:
        """Return the sentences that may have just been ended."""
        return frozenset(self._sentences[place] for place in state.places & self._ends)

    def _add(self, sentence: Tokens, earlier: frozenset[int]) -> None:
        vocabulary = self._vocabulary
        first, number = len(self._tokens), len(self._starts)
        early_end = first + len(sentence)
        parts = vocabulary.parts(sentence)
        can_go = [*vocabulary.can_go(sentence, parts), False]
        is_ended = vocabulary.stop_id is None or self._is_ended(sentence, parts[-1])
        for which, part in enumerate(parts):
            last = self._last_kept(sentence, part)
            later = can_go.index(False, which + 1)
            for place in part:
                followers = [first + place + 1] if place + 1 < len(sentence) else []
                if place == last and not vocabulary.ends_in_mark(sentence[last]):
                    if later == len(parts):
                        is_long = len(vocabulary.words(sentence[: part.stop])) >= _MIN_WORDS
                        is_over = which + 1 == len(parts) and not is_ended
                        may_end = is_over or (later > which + 1 and is_long)
                        followers += [early_end] * (may_end and vocabulary.stop_id is not None)
                    elif later > which + 1:
                        followers.append(first + parts[later][0])
                self._place(sentence[place], number, followers)
        self._place(_NONE if vocabulary.stop_id is None else vocabulary.stop_id, number, ())
        self._ends.add(early_end)
        if is_ended:
            self._ends.add(early_end - 1)
        self._starts.append({first: self._before(sentence, earlier)})
        if len(parts) > 1 and vocabulary.is_adverb(sentence[: parts[0].stop]):
            before = self._before(sentence[parts[1][0] :], earlier)
            self._begin_at(first, sentence, parts[1], before)

    def _before(self, sentence: Tokens, earlier: frozenset[int]) -> frozenset[int]:
        """Return which of the earlier sentences a sentence may follow."""
        vocabulary = self._vocabulary
        is_hanging = vocabulary.leans(vocabulary.words(sentence))
        return earlier if is_hanging else frozenset([_NONE])

    def _is_ended(self, sentence: Tokens, part: range) -> bool:
        """Does a part end as sentences do, perhaps within quotes or brackets?"""
        ends_sentence = self._vocabulary.ends_sentence
        marks = range(self._last_word(sentence, part), part.stop)
        return any(ends_sentence[sentence[place]] for place in marks)

    def _last_word(self, sentence: Tokens, part: range) -> int:
        """Return where the last piece of a part's last word stands."""
        is_mark = self._vocabulary.is_mark
        return next((place for place in reversed(part) if not is_mark[sentence[place]]), part[0])

    def _last_kept(self, sentence: Tokens, part: range) -> int:
        """Return the last place of a part that has more than a comma and the like."""
        pieces = self._vocabulary.pieces
        kept = (
            place for place in reversed(part) if not DROPPED.issuperset(pieces[sentence[place]])
        )
        return next(kept, part[0])

    def _begin_at(self, first: int, sentence: Tokens, part: range, before: frozenset[int]) -> None:
        """Let the sentence that was added last begin with a later part, with a capital."""
        vocabulary, number = self._vocabulary, len(self._starts) - 1
        second = next((n for n in part[1:] if vocabulary.begins_word[sentence[n]]), None)
        if second is None:
            return
        word = "".join(vocabulary.pieces[sentence[n]] for n in range(part[0], second))
        text = word.removeprefix(SPACE)
        begin = len(self._tokens)
        spelling = vocabulary.encode(text[:1].upper() + text[1:])
        for place, token in enumerate(spelling[:-1], begin + 1):
            self._place(token, number, (place,))
        self._place(spelling[-1], number, (first + second,))
        self._starts[number][begin] = before

    def _place(self, token: int, sentence: int, followers: Iterable[int]) -> None:
        self._tokens.append(token)
        self._sentences.append(sentence)
        self._next.append(tuple(followers))


class ShortenedSentences:
    """Each sentence is a sentence of the sources, shortened. Looks at hypotheses one by one."""

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
