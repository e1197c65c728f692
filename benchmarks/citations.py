"""Measure how many of the cited paragraphs a ranker puts first."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from hiersum.types import Cluster, Document, Paragraph


def cited_flags(cluster: Cluster, paragraphs: Sequence[Paragraph]) -> NDArray[np.bool_]:
    """Return for each paragraph of a cluster whether its summary cites it, at any of its places."""
    first = [0, *accumulate(len(document.paragraphs or ()) for document in cluster.documents)]
    cited = {number for sentence in cluster.cited for number in sentence.paragraphs}
    return np.array(
        [
            any(first[place.document] + place.position in cited for place in paragraph.places)
            for paragraph in paragraphs
        ],
        dtype=np.bool_,
    )


def cited_recall(is_cited: NDArray[np.bool_], ranking: Sequence[int], cut: int) -> float:
    """Return the percentage of cited paragraphs among the first of a ranking."""
    return float(100 * is_cited[list(ranking[:cut])].sum() / is_cited.sum())


def with_distractors(
    cluster: Cluster,
    others: Sequence[Cluster],
    number: int,
    rng: random.Random,
    *,
    per_document: int = 4,
) -> Cluster:
    """Return a cluster mixed with paragraphs of other clusters, with citations renumbered.

    Args:
        cluster: a cluster with given paragraphs and a summary that cites them.
        others: the clusters to draw from; may include the cluster itself.
        number: how many paragraphs to add.
        rng: chooses the clusters and the order of all documents.
        per_document: consecutive paragraphs of another cluster per added document.
    """
    first = [0, *accumulate(len(document.paragraphs or ()) for document in cluster.documents)]
    documents = list(zip(cluster.documents, first))
    others = [other for other in others if other.id != cluster.id]
    while number > 0:
        other = rng.choice(others)
        texts = [text for document in other.documents for text in document.paragraphs or ()]
        size = min(number, per_document, len(texts))
        start = rng.randrange(len(texts) - size + 1)
        documents.append((Document.from_paragraphs(texts[start : start + size]), -1))
        number -= size
    rng.shuffle(documents)
    new_numbers: dict[int, int] = {}
    size = 0
    for document, start in documents:
        length = len(document.paragraphs or ())
        if start >= 0:
            new_numbers.update(zip(range(start, start + length), range(size, size + length)))
        size += length
    cited = (
        replace(s, paragraphs=tuple(sorted(new_numbers[n] for n in s.paragraphs)))
        for s in cluster.cited
    )
    mixed = tuple(document for document, _ in documents)
    return replace(cluster, documents=mixed, cited=tuple(cited), graph=None)
