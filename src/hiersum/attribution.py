"""Which source paragraphs support which sentence of a summary.

A paragraph's support is the share of the sentence's words that it has, each word weighed by how rare it
is in the cluster, so that names and numbers count and function words hardly do. A word that no
paragraph has weighs as much as one that a single paragraph has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hiersum.text.tfidf import TfidfSpace
from hiersum.text.words import split_stems
from hiersum.types import Paragraph, Source, SummarySentence

_MAX_SOURCES = 3
_MIN_SUPPORT = 0.3
_NEAR_BEST = 0.8  # further sources are named if they support nearly as much as the best


def attribute(sentences: Sequence[str], paragraphs: Sequence[Paragraph]) -> list[SummarySentence]:
    """Name the sources of each sentence, the strongest first; none where nothing supports it."""
    space = TfidfSpace([paragraph.text for paragraph in paragraphs], stem=True)
    weights = space.weights_of(sentences)
    has_word = (space.vectors > 0).astype(np.float64)
    unknown = [len({word for word in split_stems(s) if word not in space}) for s in sentences]
    totals = weights.sum(axis=1).A1 + np.array(unknown) * np.log(max(len(paragraphs), 2))
    totals = np.maximum(totals, 1e-12)
    support = (weights @ has_word.T).toarray() / totals[:, None]
    return [
        SummarySentence(text, _sources(shares, paragraphs))
        for text, shares in zip(sentences, support)
    ]


def _sources(shares: NDArray[np.float64], paragraphs: Sequence[Paragraph]) -> tuple[Source, ...]:
    order = np.argsort(-shares, kind="stable")[:_MAX_SOURCES]
    bound = max(_MIN_SUPPORT, _NEAR_BEST * shares[order[0]])
    return tuple(
        Source(place.document, place.position, round(float(shares[index]), 3))
        for index in order
        if shares[index] >= bound
        for place in paragraphs[index].places
    )
