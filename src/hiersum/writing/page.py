"""Pages: summaries in progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from hiersum.model.planner import Outline, Plan, SourceSentences
from hiersum.text.words import Words
from hiersum.types import Example, Paragraph, Sentence
from hiersum.writing.policy import Scores

MIN_QUOTED_WORDS = 4
"""Minimum words of a quoted source sentence."""
MAX_QUOTED_WORDS = 40
"""Maximum words of a quoted source sentence."""
SAME = 0.7
"""Share of content words in an earlier sentence above which a sentence repeats it."""


@dataclass(frozen=True)
class DraftSentence(Words):
    """A written sentence with its plan and verdict."""

    text: str
    plan: Plan
    """Numbers of the source sentences, main one first."""
    support: float
    """Probability that it is true to its plan."""
    is_quoted: bool = False
    """Whether it is a verbatim source sentence."""
    reason: str = ""
    """Why it was dropped."""


@dataclass
class Page:
    """One cluster's summary in progress."""

    example: Example
    sentences: Sequence[Sentence]
    """The source sentences that were read."""
    source: SourceSentences
    relevance: Scores
    max_words: int
    min_support: float
    kept: list[DraftSentence] = field(default_factory=list)
    dropped: list[DraftSentence] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    """The kept sentences as pieces, each with its end piece."""
    used: set[int] = field(default_factory=set)
    retry: Plan = ()
    """The plan to try next, overriding the planner."""
    num_failed: int = 0
    is_done: bool = False

    @property
    def outline(self) -> Outline:
        """The layout of the source sentences."""
        return self.source.outline

    @property
    def plans(self) -> list[Plan]:
        """The plans of the kept sentences."""
        return [sentence.plan for sentence in self.kept]

    @property
    def room(self) -> int:
        """Words left."""
        return self.max_words - sum(sentence.num_words for sentence in self.kept)

    def sources_of(self, plan: Plan) -> list[str | Paragraph]:
        """Return what a plan's sentence may name: title, labels and paragraphs, each once."""
        found = {p.text: p for p in (self.sentences[number].paragraph for number in plan)}
        labels = sorted({p.label for p in found.values() if p.label})
        return [self.example.title, *labels, *(found[text] for text in sorted(found))]

    @cached_property
    def source_ids(self) -> dict[str, tuple[int, ...]]:
        """The ids of the source sentences that were read whole, by text."""
        found: dict[str, tuple[int, ...]] = {}
        sentences = iter(self.sentences)
        longest = max(map(len, self.example.paragraph_ids), default=0)
        for ids, places in zip(self.example.paragraph_ids, self.example.boundaries):
            for start, end in pairwise(places):
                # A first sentence that fills the longest paragraph may be truncated.
                is_whole = len(ids) < longest or end < longest - 1 or start > places[0]
                text = next(sentences).text
                if is_whole:
                    found[text] = ids[start:end]
        return found

    def leaves_open(self, sentence: Words, plan: Plan) -> bool:
        """Whether a sentence begins with "it" or the like without an antecedent.

        A pronoun may refer to the previous sentence if both cite the same document.
        """
        if not sentence.leans_on_another:
            return False
        return not self.kept or self._document(self.kept[-1].plan) != self._document(plan)

    def _document(self, plan: Plan) -> int:
        return self.outline.documents[self.outline.paragraphs[plan[0]]]

    def repeats(self, sentence: Words) -> bool:
        """Whether a sentence repeats an earlier one."""
        stems = set(sentence.content_stems)
        return any(
            len(stems.intersection(kept.content_stems)) >= SAME * len(stems) for kept in self.kept
        )

    def can_quote(self, sentence: Words) -> bool:
        """Whether a source sentence can stand alone in this summary. Questions cannot."""
        return (
            sentence.ends_sentence
            and not sentence.text.endswith("?")
            and MIN_QUOTED_WORDS <= sentence.num_words <= min(MAX_QUOTED_WORDS, self.room)
            and not sentence.leans_on_another
            and not self.repeats(sentence)
        )


def says_twice(sentence: Words, sources: Sequence[Words]) -> bool:
    """Whether a sentence uses a content word more often than its sources do, or stutters."""
    held = Counter(stem for source in sources for stem in source.content_stems)
    counts = Counter(sentence.content_stems)
    return _stutters(sentence.words) or any(
        count > 1 and count > held[stem] for stem, count in counts.items()
    )


def _stutters(words: Sequence[str]) -> bool:
    """Whether two or three words are said twice in a row: "34 kilometres in all, in all"."""
    return any(
        words[start : start + size] == words[start + size : start + 2 * size]
        for size in (2, 3)
        for start in range(len(words) - 2 * size + 1)
    )
