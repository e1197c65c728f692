"""Which source paragraphs support which sentence of a summary, and how surely."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hiersum.text.words import FUNCTION_WORDS, split_words
from hiersum.types import Paragraph, Place, Source, SummarySentence
from hiersum.writing.calibration import BY_WORDS, WITH_ATTENTION
from hiersum.writing.evidence import Paragraphs

MIN_SUPPORT = 0.5
"""A sentence has a source if it is more likely than not that one of the paragraphs is: scores are added
up, for where several say the same, each of them alone is less likely to be the one it comes from."""
_MAX_TEXTS = 3
_NEAR_BEST = 0.8  # further sources are named if they are nearly as likely as the best
_MAX_CANDIDATES = 16


def attribute(
    sentences: Sequence[str],
    paragraphs: Sequence[Paragraph],
    *,
    text_at: Callable[[Place], str] | None = None,
    attention: NDArray[np.float64] | None = None,
) -> list[SummarySentence]:
    """Name the sources of each sentence, the surest first; none where nothing supports it.

    Args:
        sentences: of the summary.
        paragraphs: what was read, best first.
        text_at: how a paragraph reads at each of its places; near copies are judged each by its own
            words. If None, all places read alike.
        attention: sentences x paragraphs, how many times its usual attention each had from the
            network (see `Trail.by_sentence`); None for words alone.
    """
    places_of = _places_by_text(paragraphs, text_at)
    texts = list(places_of)
    known = Paragraphs(texts)
    calibration = BY_WORDS if attention is None else WITH_ATTENTION
    attributed = []
    for number, sentence in enumerate(sentences):
        looks = None
        if attention is not None:
            looks = np.array([attention[number, places_of[text][0][0]] for text in texts])
        evidence = known.evidence(sentence, _MAX_CANDIDATES, looks)
        scores = {index: calibration.probability(found) for index, found in evidence.items()}
        says_something = not FUNCTION_WORDS.issuperset(split_words(sentence))
        sources = tuple(
            Source(place.document, place.position, round(scores[index], 3))
            for index in (_named(scores) if says_something else ())
            for _, place in places_of[texts[index]]
        )
        attributed.append(SummarySentence(sentence, sources))
    return attributed


def _named(scores: Mapping[int, float]) -> list[int]:
    """Choose the sources to name, the surest first."""
    if sum(scores.values()) < MIN_SUPPORT:
        return []
    best = sorted(scores, key=lambda index: (-scores[index], index))[:_MAX_TEXTS]
    return [index for index in best if scores[index] >= _NEAR_BEST * scores[best[0]]]


def _places_by_text(
    paragraphs: Sequence[Paragraph], text_at: Callable[[Place], str] | None
) -> dict[str, list[tuple[int, Place]]]:
    """Gather where each text stands, and as part of which paragraph."""
    places: dict[str, list[tuple[int, Place]]] = {}
    for number, paragraph in enumerate(paragraphs):
        for place in paragraph.places:
            # Only what has copies may read otherwise somewhere.
            is_own = text_at is None or not paragraph.also_in
            text = paragraph.text if is_own or text_at is None else text_at(place)
            places.setdefault(text, []).append((number, place))
    return places
