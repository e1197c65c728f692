"""Attribute summary sentences to source paragraphs, with a probability.

Evidence is how much of a sentence a paragraph contains. Words are weighted by rarity among the
paragraphs, so names and numbers count most; a word that no paragraph has weighs as much as one that
a single paragraph has.

A logistic model turns evidence into a probability. `benchmarks/calibrate_attribution.py` fitted it
on sentences of real articles with known paragraphs: with words dropped or replaced, among near
copies, and with their paragraph removed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from hiersum.text.words import FUNCTION_WORDS, split_stems, split_words
from hiersum.types import Paragraph, Place, Source, SummarySentence

Item = TypeVar("Item")

MIN_SUPPORT = 0.5
"""A sentence has a source if the probabilities of all paragraphs sum to at least this. They are
summed because paragraphs that say the same share the probability."""
_MAX_TEXTS = 3
_NEAR_BEST = 0.8  # cite further sources with at least this share of the best one's probability
_MAX_CANDIDATES = 16
_NEAR = 4  # maximum distance in a paragraph between two neighbouring words of the summary


def attribute(
    sentences: Sequence[str],
    paragraphs: Sequence[Paragraph],
    *,
    text_at: Callable[[Place], str] | None = None,
) -> list[SummarySentence]:
    """Return the sources of each sentence, most likely first; none if nothing supports it.

    `text_at` returns a paragraph's text at a place, so that near copies are judged by their own
    words; if None, all places have the same text.
    """
    texts, places_of = _places_by_text(paragraphs, text_at)
    known = Paragraphs(texts)
    attributed = []
    for sentence in sentences:
        evidence = known.evidence(sentence, _MAX_CANDIDATES)
        scores = {index: FITTED.probability(found) for index, found in evidence.items()}
        says_something = not FUNCTION_WORDS.issuperset(split_words(sentence))
        sources = tuple(
            Source(place.document, place.position, round(scores[index], 3))
            for index in (_named(scores) if says_something else ())
            for place in places_of[index]
        )
        attributed.append(SummarySentence(sentence, sources))
    return attributed


def _named(scores: Mapping[int, float]) -> list[int]:
    """Choose the sources to cite, most likely first."""
    if sum(scores.values()) < MIN_SUPPORT:
        return []
    best = sorted(scores, key=lambda index: (-scores[index], index))[:_MAX_TEXTS]
    return [index for index in best if scores[index] >= _NEAR_BEST * scores[best[0]]]


def _places_by_text(
    paragraphs: Sequence[Paragraph], text_at: Callable[[Place], str] | None
) -> tuple[list[Paragraph], list[list[Place]]]:
    """Return one paragraph per distinct text, and where each text occurs."""
    texts: dict[str, Paragraph] = {}
    places: dict[str, list[Place]] = {}
    for paragraph in paragraphs:
        for place in paragraph.places:
            # Only paragraphs with copies can differ by place.
            is_own = text_at is None or not paragraph.also_in
            text = paragraph.text if is_own or text_at is None else text_at(place)
            if text not in texts:
                is_same = text == paragraph.text
                copy = paragraph if is_same else Paragraph(text, place.document, place.position)
                texts[text] = copy
            places.setdefault(text, []).append(place)
    return list(texts.values()), list(places.values())


class Evidence(NamedTuple):
    """Evidence that a sentence comes from a paragraph; each part is roughly between 0 and 1."""

    words: float
    """Share of the sentence's words in the paragraph."""
    sentence: float
    """The same for the best single sentence of the paragraph."""
    order: float
    """Share of the sentence's word pairs that occur close together there, in order."""
    gap: float
    """Lead over the best other paragraph; negative if behind."""


class Paragraphs:
    """The candidate paragraphs."""

    def __init__(self, paragraphs: Sequence[Paragraph]) -> None:
        self._paragraphs = paragraphs
        self._stems = [frozenset(paragraph.stems) for paragraph in paragraphs]
        self._counts = Counter(stem for stems in self._stems for stem in stems)

    def evidence(self, sentence: str, max_candidates: int) -> dict[int, Evidence]:
        """Return the evidence for the paragraphs that share the most words, by number."""
        stems = split_stems(sentence)
        weights = {stem: self._weight(stem) for stem in stems}
        words = [_share(weights, have) for have in self._stems]
        by_words = sorted(range(len(words)), key=lambda number: -words[number])
        chosen = sorted(by_words[:max_candidates])
        pairs = {
            (one, other): weights[one] + weights[other]
            for one, other in zip(stems, stems[1:])
            if one != other
        }
        inner = [
            max((_share(weights, set(s.stems)) for s in self._paragraphs[n].sentences), default=0.0)
            for n in chosen
        ]
        order = [_share(pairs, _near_pairs(self._paragraphs[n].stems)) for n in chosen]
        totals = [words[n] + i + o for n, i, o in zip(chosen, inner, order)]
        return {
            number: Evidence(
                words[number],
                inner[place],
                order[place],
                (totals[place] - _best_other(totals, place)) / 3,
            )
            for place, number in enumerate(chosen)
        }

    def _weight(self, stem: str) -> float:
        return math.log(1 + len(self._paragraphs) / max(self._counts[stem], 1))


def _share(weights: dict[Item, float], have: Set[Item]) -> float:
    total = sum(weights.values())
    return sum(weight for item, weight in weights.items() if item in have) / total if total else 0.0


def _best_other(values: Sequence[float], place: int) -> float:
    return max((*values[:place], *values[place + 1 :]), default=0.0)


def _near_pairs(stems: Sequence[str]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (one, other)
        for place, one in enumerate(stems)
        for other in stems[place + 1 : place + 1 + _NEAR]
    )


@dataclass(frozen=True, slots=True)
class Calibration:
    """The weight of each part of the evidence."""

    bias: float
    words: float
    sentence: float
    order: float
    gap: float

    def probability(self, evidence: Evidence) -> float:
        """Return the probability that the sentence comes from the paragraph."""
        logit = (
            self.bias
            + self.words * evidence.words
            + self.sentence * evidence.sentence
            + self.order * evidence.order
            + self.gap * evidence.gap
        )
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, logit))))


FITTED = Calibration(bias=-5.43, words=4.13, sentence=1.88, order=0.33, gap=23.93)
