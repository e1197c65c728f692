"""An article and its sources become a cluster: the lead, or a part of it, is the target.

Paragraphs that copy the target are removed. Every article is counted in a tally, with the reason if it
gives no cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from hiersum.building.cluster_report import SAMPLE_PER_PART, count_cluster, measure_sample
from hiersum.building.workplace import Tally
from hiersum.config import DataConfig
from hiersum.text.duplicates import remove_clones
from hiersum.text.sentences import split_sentences
from hiersum.text.support import Evidence, without_asides
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import count_words
from hiersum.types import Cluster, Document


@dataclass(frozen=True, slots=True)
class Article:
    """A title, a lead that sums it up, and a body."""

    id: str
    title: str
    lead: str
    """The target; empty for an article that is only searched."""
    paragraphs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRules:
    """What a target must be."""

    supported: bool = False
    """Keep only sentences and brackets that the body supports; the first sentence must be one."""
    min_words: int = 1
    max_words: int | None = None
    """Sentences at the end are left out to get there."""


@dataclass(frozen=True, slots=True)
class Target:
    """A target, or why there is none."""

    text: str
    dropped: str = ""
    """The reason; empty for a target that is used."""
    is_supported: bool = False
    """Does the body support the whole lead?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """What every build needs to know about its clusters."""

    search: int = 10
    """Documents that a search for the title adds."""
    target: TargetRules = field(default_factory=TargetRules)
    tokenizer: Path | None = None
    """Counts tokens for the report."""

    def open_tokenizer(self) -> Tokenizer | None:
        return None if self.tokenizer is None else Tokenizer.load(self.tokenizer, "paper")

    def as_plan(self) -> dict[str, Any]:
        """Return the settings as JSON, with the tokenizer's fingerprint for its path."""
        tokenizer = self.open_tokenizer()
        return {**asdict(self), "tokenizer": tokenizer and tokenizer.fingerprint}


class ClusterMaker:
    """Makes clusters and counts them."""

    def __init__(self, settings: ClusterSettings) -> None:
        self._rules = settings.target
        self._tokenizer = settings.open_tokenizer()
        self._clone_recall = DataConfig().clone_recall

    def make(
        self, article: Article, find_sources: Callable[[], Sequence[Document]], tally: Tally
    ) -> Cluster | None:
        """Return the cluster of an article, None if it gives none; the tally says why.

        Sources are looked for only if the article has a usable target.
        """
        target = choose_target(article, self._rules)
        tally["articles"] += 1
        tally["supported"] += target.is_supported
        if target.dropped:
            tally[f"dropped: {target.dropped}"] += 1
            return None
        documents = tuple(find_sources())
        if not documents:
            tally["dropped: no page found"] += 1
            return None
        cluster, num_clones = remove_clones(
            Cluster(article.title, documents, target.text, article.id),
            [document.paragraphs or () for document in documents],
            recall=self._clone_recall,
        )
        cluster = replace(cluster, documents=tuple(d for d in cluster.documents if d.paragraphs))
        if not cluster.documents:
            tally["dropped: nothing left but clones"] += 1
            return None
        if tally["clusters"] < SAMPLE_PER_PART:
            tally.update(measure_sample(cluster, self._tokenizer))
        tally.update(count_cluster(cluster, num_clones=num_clones))
        return cluster


def choose_target(article: Article, rules: TargetRules) -> Target:
    """Return the target of an article.

    Only the article's own body counts as support: other articles share words and numbers with a lead
    by accident.
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
        while sentences and sum(map(count_words, sentences)) > rules.max_words:
            sentences.pop()
        if not sentences:
            return Target("", "first sentence too long", is_supported)
    text = " ".join(sentences)
    if count_words(text) < rules.min_words:
        return Target("", "target too short", is_supported)
    return Target(text, is_supported=is_supported)
