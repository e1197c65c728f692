"""The target of a cluster: an article's lead, or the part of it that the article's body supports."""

from __future__ import annotations

from dataclasses import dataclass

from hiersum.building.articles import Article
from hiersum.text.sentences import split_sentences
from hiersum.text.support import Evidence, without_asides
from hiersum.text.words import count_words


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRules:
    """What a target must be."""

    supported: bool = False
    """Keep only sentences and brackets that the body supports; the first sentence must be one."""
    min_words: int = 1
    max_words: int | None = None
    """Whole sentences are left out at the end to get there."""


@dataclass(frozen=True, slots=True)
class Target:
    """A target, or why there is none."""

    text: str
    dropped: str = ""
    """The reason, empty for a target that is used."""
    is_supported: bool = False
    """Does the body support the whole lead?"""


def choose_target(article: Article, rules: TargetRules) -> Target:
    """Return the target that an article gives under some rules.

    Only the article's own body counts as support: articles that a search found share words and
    numbers with a lead by accident.
    """
    evidence = Evidence.of((article.title, *article.paragraphs))
    is_supported = evidence.supports(article.lead)
    sentences = split_sentences(article.lead)
    if not sentences:
        return Target("", "no lead")
    if rules.supported:
        sentences = [without_asides(text, evidence.supports) for text in sentences]
        if not evidence.supports(sentences[0]):
            return Target("", "first sentence not supported", is_supported)
        sentences = [sentence for sentence in sentences if evidence.supports(sentence)]
    if rules.max_words is not None:
        sentences = _cut(sentences, rules.max_words)
        if not sentences:
            return Target("", "first sentence too long", is_supported)
    text = " ".join(sentences)
    if count_words(text) < rules.min_words:
        return Target("", "target too short", is_supported)
    return Target(text, is_supported=is_supported)


def _cut(sentences: list[str], max_words: int) -> list[str]:
    kept, num_words = [], 0
    for sentence in sentences:
        num_words += count_words(sentence)
        if num_words > max_words:
            break
        kept.append(sentence)
    return kept
