"""A page: one cluster's summary in the making."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from hiersum.model.planner import Outline, Plan, SourceSentences
from hiersum.text.sentences import ends_sentence
from hiersum.text.words import content_stems, count_words, leans_on_another, split_words
from hiersum.types import Example
from hiersum.writing.policy import Scores

MIN_QUOTED_WORDS = 4
"""Words that a quoted source sentence must have."""
MAX_QUOTED_WORDS = 40
"""Words that it may have."""
SAME = 0.7
"""Share of a sentence's content words in an earlier one from which it repeats it."""


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence as it was written, with all that is known of it."""

    text: str
    plan: Plan
    """Source sentences, the main one first, numbered through what was read."""
    support: float
    """The probability that it is true to its plan."""
    is_quoted: bool = False
    """Is it a sentence of the source, word for word?"""
    reason: str = ""
    """Why it was left out."""


@dataclass
class Page:
    """One cluster's summary in the making."""

    example: Example
    sentences: Sequence[str]
    """The source sentences that were read."""
    paragraphs: Sequence[str]
    """The paragraph that each of them stands in."""
    source: SourceSentences
    relevance: Scores
    max_words: int
    min_support: float
    kept: list[DraftSentence] = field(default_factory=list)
    dropped: list[DraftSentence] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    """What was kept, as pieces, each sentence with its end piece."""
    used: set[int] = field(default_factory=set)
    num_failed: int = 0
    is_done: bool = False

    @property
    def outline(self) -> Outline:
        """Where the source sentences stand."""
        return self.source.outline

    @property
    def plans(self) -> list[Plan]:
        """The plans of the sentences kept."""
        return [sentence.plan for sentence in self.kept]

    @property
    def room(self) -> int:
        """Words that are left."""
        return self.max_words - sum(count_words(sentence.text) for sentence in self.kept)

    def leaves_open(self, text: str, plan: Plan) -> bool:
        """Does a sentence begin with "it" or the like, where nothing before it says what that is?

        A pronoun may refer to the sentence before if both are about one document.
        """
        if not leans_on_another(split_words(text)):
            return False
        return not self.kept or self._document(self.kept[-1].plan) != self._document(plan)

    def _document(self, plan: Plan) -> int:
        return self.outline.documents[self.outline.paragraphs[plan[0]]]

    def repeats(self, text: str) -> bool:
        """Does a sentence say what one before it has said?"""
        stems = set(content_stems(text))
        return any(
            len(stems & set(content_stems(sentence.text))) >= SAME * len(stems)
            for sentence in self.kept
        )

    def can_quote(self, sentence: str) -> bool:
        """Can a source sentence stand in this summary by itself? A question cannot: summaries answer."""
        return (
            ends_sentence(sentence)
            and not sentence.endswith("?")
            and MIN_QUOTED_WORDS <= count_words(sentence) <= min(MAX_QUOTED_WORDS, self.room)
            and not leans_on_another(split_words(sentence))
            and not self.repeats(sentence)
        )


def says_twice(text: str, sources: Sequence[str]) -> bool:
    """Does a sentence use a content word more often than its sources do, as a clause said twice does?"""
    held = Counter(stem for source in sources for stem in content_stems(source))
    counts = Counter(content_stems(text))
    return any(count > 1 and count > held[stem] for stem, count in counts.items())
