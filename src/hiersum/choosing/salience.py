"""How much a sentence says of what its cluster is about, by its words alone.

    log of its LexRank, where the walk restarts at sentences like the title
  + log of how common its content words are: the mean share of paragraphs that have them
  + a bonus where it says what something is

Each was kept because it chose better sentences of clusters that nothing was fitted to (EXPERIMENTS.md).
What answers a question that somebody asked is measured apart.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from hiersum.graphs.pagerank import pagerank
from hiersum.text.tfidf import TfidfSpace, cosines
from hiersum.text.words import content_stems, query_words

Floats = NDArray[np.float64]

_DAMPING = 0.85
_LEAST_RANK, _LEAST_SHARE, _LEAST_ANSWER = 1e-3, 1e-2, 5e-2
"""So that a sentence like no other is unlikely, and not impossible."""
_DEFINES = re.compile(r"\b(?:is|was|are|were) (?:an?|the|one)\b")
_DEFINING_CHARACTERS = 80
_DEFINITION = 0.5


def measure_salience(
    sentences: Sequence[str], paragraphs: Sequence[Hashable], title: str
) -> tuple[Floats, Floats]:
    """Return how salient sentences are, and the cosine of each with each.

    Args:
        sentences: of one cluster.
        paragraphs: which paragraph each stands in.
        title: what the cluster is about; may be empty.
    """
    space = TfidfSpace(sentences, stem=True)
    similarities = cosines(space.vectors, space.vectors)
    (to_title,) = cosines(space.vectors_of([title]), space.vectors)
    ranks = pagerank(similarities, damping=_DAMPING, prior=to_title)
    defines = [bool(_DEFINES.search(sentence[:_DEFINING_CHARACTERS])) for sentence in sentences]
    salience: Floats = (
        np.log(ranks * len(sentences) + _LEAST_RANK)
        + np.log(_commonness(sentences, paragraphs) + _LEAST_SHARE)
        + _DEFINITION * np.array(defines)
    )
    return salience, similarities


def weigh_words(sentences: Sequence[str], documents: Sequence[Hashable]) -> Floats:
    """Return for each sentence and content word the log of how many documents have it, 0 if it has not.

    Args:
        sentences: of one cluster.
        documents: which document each stands in.
    """
    words = [set(content_stems(sentence)) for sentence in sentences]
    counts = _count_places(words, documents)
    columns = {word: column for column, word in enumerate(sorted(counts))}
    weights = np.zeros((len(sentences), len(columns)))
    for row, own in zip(weights, words):
        for word in own:
            row[columns[word]] = math.log(counts[word])
    return weights


def measure_agreement(sentences: Sequence[str], documents: Sequence[Hashable]) -> Floats:
    """Return for each sentence the mean share of the other documents that have its content words.

    Args:
        sentences: of one cluster.
        documents: which document each stands in.
    """
    num_others = max(len(set(documents)) - 1, 1)
    return (_mean_counts(sentences, documents) - 1) / num_others


def measure_answers(sentences: Sequence[str], focus: str) -> Floats:
    """Return how much each sentence is like a question or aspect: the log of a share of the closest.

    All are 0 if none has a word of it; "what" and "did" are no such words.
    """
    space = TfidfSpace(sentences, stem=True)
    (closeness,) = cosines(space.vectors_of([" ".join(query_words(focus))]), space.vectors)
    if not closeness.any():
        return np.zeros(len(sentences))
    answers: Floats = np.log(closeness / closeness.max() + _LEAST_ANSWER)
    return answers


def _commonness(sentences: Sequence[str], paragraphs: Sequence[Hashable]) -> Floats:
    """Return the mean share of paragraphs that have a content word of each sentence."""
    return _mean_counts(sentences, paragraphs) / max(len(set(paragraphs)), 1)


def _mean_counts(sentences: Sequence[str], places: Sequence[Hashable]) -> Floats:
    """Return in how many places the content words of each sentence stand, on average."""
    words = [set(content_stems(sentence)) for sentence in sentences]
    counts = _count_places(words, places)
    return np.array([sum(counts[word] for word in own) / max(len(own), 1) for own in words])


def _count_places(words: Sequence[set[str]], places: Sequence[Hashable]) -> Counter[str]:
    """Return in how many places each word stands."""
    of_place: dict[Hashable, set[str]] = {}
    for place, own in zip(places, words):
        of_place.setdefault(place, set()).update(own)
    return Counter(word for own in of_place.values() for word in own)
