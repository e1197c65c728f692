"""Plans for training: find the source sentences of each summary sentence.

Cited sentences are looked up in the paragraphs they cite, others in everything that is read. Up to
three source sentences are chosen greedily, each covering the most of what is still missing. An
uncited sentence must be safe to learn from: its plan must contain its numbers, names and most of
its content words. Sentences without a plan are dropped, and so are those that refer to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hiersum.text.facts import SourceFacts
from hiersum.text.sentences import split_sentences
from hiersum.text.words import content_stems, leans_on_another, split_words
from hiersum.types import CitedSentence, Cluster

MAX_SENTENCES = 3
"""Maximum source sentences of a plan."""
MIN_GAIN = 0.15
"""Share of content words that each further source sentence must add."""
MIN_COVERED = 0.3
"""Share of content words that the plan of a cited sentence must cover."""
MIN_SAFE = 0.7
"""The same for an uncited sentence."""
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class PlannedSentence:
    """A training sentence and its source sentences, main one first."""

    text: str
    plan: tuple[int, ...]


def plan_summary(
    cluster: Cluster, sentences: Sequence[str], paragraphs: Sequence[Iterable[int]], title: str
) -> list[PlannedSentence]:
    """Plan a cluster's summary.

    Args:
        cluster: a cluster with a summary, cited or not.
        sentences: the source sentences that are read.
        paragraphs: for each sentence, the given paragraphs that contain it, numbered across
            documents.
        title: the title as the network reads it.
    """
    cited = cluster.cited or tuple(
        CitedSentence(text) for text in split_sentences(cluster.summary or "")
    )
    stems = [frozenset(content_stems(sentence)) for sentence in sentences]
    places = [frozenset(of_sentence) for of_sentence in paragraphs]
    of_title = frozenset(content_stems(title))
    planned: list[PlannedSentence] = []
    was_kept = True
    for sentence in cited:
        near = [n for n, p in enumerate(places) if not cluster.cited or p & {*sentence.paragraphs}]
        plan = find_plan(sentence.text, {number: stems[number] for number in near}, of_title)
        is_kept = bool(plan) and (was_kept or not leans_on_another(split_words(sentence.text)))
        if is_kept and not cluster.cited:
            is_kept = is_safe(sentence.text, [title, *(sentences[number] for number in plan)])
        if is_kept:
            planned.append(PlannedSentence(sentence.text, plan))
        was_kept = is_kept
    return planned


def find_plan(
    text: str, candidates: dict[int, frozenset[str]], of_title: frozenset[str] = frozenset()
) -> tuple[int, ...]:
    """Return the source sentences that best cover a text's content words; none if coverage is low.

    Args:
        text: a sentence of a summary.
        candidates: the content stems of each source sentence.
        of_title: stems of the title, which every paragraph starts with; they need no source.
    """
    wanted = set(content_stems(text))
    missing = wanted - of_title or set(wanted)
    num_words = len(missing)
    plan: list[int] = []
    while len(plan) < MAX_SENTENCES and missing:
        gain, number = max(
            ((_gain(missing, stems), -number) for number, stems in candidates.items()),
            default=(0.0, 0),
        )
        if gain < (MIN_GAIN * num_words if plan else 1):
            break
        plan.append(-number)
        missing -= candidates[-number]
    covered = num_words - len(missing)
    return tuple(plan) if plan and covered >= MIN_COVERED * num_words else ()


def is_safe(text: str, sources: Sequence[str]) -> bool:
    """Whether the sources contain all names, numbers and dates, and most words."""
    wanted = set(content_stems(text))
    held = {stem for source in sources for stem in content_stems(source)}
    return len(wanted & held) >= MIN_SAFE * len(wanted) and not SourceFacts.of(sources).missing(
        text
    )


def _gain(missing: set[str], stems: frozenset[str]) -> float:
    """Count the missing words in a source sentence; numbers count twice."""
    return sum(2.0 if _DIGIT.search(stem) else 1.0 for stem in missing & stems)
