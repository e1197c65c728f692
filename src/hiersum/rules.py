"""What binds a network's summary to its sources, as the settings of the search ask for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from hiersum.config import SearchConfig
from hiersum.decoding.constraints import Constraint
from hiersum.decoding.copying import FollowSources
from hiersum.decoding.grounding import GroundedWords, Spelling, guarded_words
from hiersum.decoding.repetition import NoRepeatedWords
from hiersum.decoding.whole_sentences import SourceSentences, Vocabulary, WholeSentences
from hiersum.text.quotable import find_openings, is_quotable
from hiersum.text.sentences import ends_sentence, split_sentences
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import FUNCTION_WORDS, leans_on_another, split_words


class Rules:
    """The rules for all that one tokenizer writes; what they know of its pieces is kept."""

    def __init__(self, tokenizer: Tokenizer, vocab_size: int) -> None:
        self._tokenizer = tokenizer
        self.pieces = [*tokenizer.all_pieces, *[""] * (vocab_size - tokenizer.size)]
        """The text of every id; a network may have rows to spare."""

    def of(self, sources: Sequence[Sequence[str]], search: SearchConfig) -> Iterator[Constraint]:
        """Yield what the search asks for.

        Args:
            sources: the title and the paragraphs of each cluster, as the network writes; may be
                empty where `need_sources` says so.
            search: which rules hold.
        """
        if search.copy_weight:  # of whole distributions: before tokens are barred
            tokens = map(self._tokenizer.encode_many, sources)
            yield FollowSources(search.copy_weight, tokens, self._sentence_ends)
        if search.no_repeat_words:
            yield NoRepeatedWords(search.no_repeat_words, self.pieces, split_words, FUNCTION_WORDS)
        if search.grounded:
            yield GroundedWords(self._spelling, [*map(guarded_words, sources)])
        if search.one_source:
            yield WholeSentences([self._sentences(title, texts) for title, *texts in sources])

    @staticmethod
    def need_sources(search: SearchConfig) -> bool:
        """Does the search ask for a rule that looks at the sources?"""
        return bool(search.copy_weight) or search.grounded or search.one_source

    def can_begin(self, source: Sequence[str]) -> bool:
        """Is there a sentence of a cluster's title and paragraphs that can be written?"""
        return any(map(any, self._writable(source[1:])))

    def _writable(self, paragraphs: Sequence[str]) -> list[list[tuple[str, list[int]]]]:
        """Return the sentences of each paragraph that have no unknown letter, with their pieces."""
        unwritable = frozenset(self._tokenizer.unwritable_ids)
        writable = []
        for sentences in map(split_sentences, paragraphs):
            encoded = zip(sentences, self._tokenizer.encode_many(sentences))
            writable.append([(s, i) for s, i in encoded if i and unwritable.isdisjoint(i)])
        return writable

    def _sentences(self, title: str, paragraphs: Sequence[str]) -> SourceSentences:
        """Return the sentences that can be written: the quotable ones, if there are any."""
        writable = self._writable(paragraphs)
        quotable = [[(s, ids) for s, ids in p if is_quotable(s, title)] for p in writable]
        chosen = quotable if any(quotable) else writable
        openings = find_openings([s for p in chosen for s, _ in p], title)
        return SourceSentences([[i for _, i in p] for p in chosen], self._vocabulary, openings)

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(self.pieces, self._tokenizer.end_id)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.pieces, self._tokenizer.end_id, leans_on_another)

    @cached_property
    def _sentence_ends(self) -> frozenset[int]:
        return frozenset(n for n, piece in enumerate(self.pieces) if ends_sentence(piece))
