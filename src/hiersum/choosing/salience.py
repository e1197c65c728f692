"""How much a sentence says of what its cluster is about, by its words alone.

    log of its LexRank, where the walk restarts at sentences like the title
  + log of how common its content words are: the mean share of paragraphs that have them
  + a bonus where it says what something is
  + much, where it is like the question that somebody asked

The first three were kept because they chose better sentences of clusters that nothing was fitted to
(EXPERIMENTS.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from hiersum.graphs.pagerank import pagerank
from hiersum.text.tfidf import TfidfSpace, cosines
from hiersum.text.words import content_stems

Floats = NDArray[np.float64]

_DAMPING = 0.85
_FOCUS_WEIGHT = 3.0
"""A question steers more than all the rest."""
_LEAST_RANK, _LEAST_SHARE, _LEAST_FOCUS = 1e-3, 1e-2, 5e-2
"""So that a sentence like no other is unlikely, and not impossible."""
_DEFINES = re.compile(r"\b(?:is|was|are|were) (?:an?|the|one)\b")
_DEFINING_CHARACTERS = 80
_DEFINITION = 0.5


def measure_salience(
    sentences: Sequence[str], paragraphs: Sequence[Hashable], title: str, focus: str = ""
) -> tuple[Floats, Floats]:
    """Return how salient sentences are, and the cosine of each with each.

    Args:
        sentences: of one cluster.
        paragraphs: which paragraph each stands in.
        title: what the cluster is about; may be empty.
        focus: a question or aspect; may be empty.
    """
    space = TfidfSpace(sentences, stem=True)
    similarities = cosines(space.vectors, space.vectors)
    to_title, to_focus = cosines(space.vectors_of([title, focus]), space.vectors)
    ranks = pagerank(similarities, damping=_DAMPING, prior=to_title)
    defines = [bool(_DEFINES.search(sentence[:_DEFINING_CHARACTERS])) for sentence in sentences]
    salience: Floats = (
        np.log(ranks * len(sentences) + _LEAST_RANK)
        + np.log(_commonness(sentences, paragraphs) + _LEAST_SHARE)
        + _DEFINITION * np.array(defines)
    )
    if to_focus.any():
        salience += _FOCUS_WEIGHT * np.log(to_focus / to_focus.max() + _LEAST_FOCUS)
    return salience, similarities


def _commonness(sentences: Sequence[str], paragraphs: Sequence[Hashable]) -> Floats:
    """Return the mean share of paragraphs that have a content word of each sentence."""
    words = [set(content_stems(sentence)) for sentence in sentences]
    of_paragraph: dict[Hashable, set[str]] = {}
    for paragraph, own in zip(paragraphs, words):
        of_paragraph.setdefault(paragraph, set()).update(own)
    counts = Counter(word for own in of_paragraph.values() for word in own)
    shares = [sum(counts[word] for word in own) / max(len(own), 1) for own in words]
    return np.array(shares) / max(len(of_paragraph), 1)
