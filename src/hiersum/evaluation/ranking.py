"""How good are the paragraphs that a ranker puts first?

The paper's Table 1 asks how much of the target stands in them; where a summary names its sources, we ask
how many of these are among them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from hiersum.text.overlap import lcs_overlap
from hiersum.types import Cluster, Document, Paragraph

Floats = NDArray[np.float64]

CUTS = (5, 10, 20, 40)
"""How many of the first paragraphs are read (the paper's L')."""
PAPER = {
    5: (24.86, 39.38),
    10: (32.43, 46.74),
    20: (40.87, 53.84),
    40: (49.49, 60.42),
}
"""The paper's numbers for similarity and for its ranker, on WikiSum."""
_NUM_SAMPLES = 1_000
_SEED = 0


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


def recalls_at(
    target: str, rankings: Sequence[Sequence[str]], cuts: Sequence[int] = CUTS
) -> Floats:
    """Return the ROUGE-L recall, in per cent, of the first paragraphs of each ranking.

    Args:
        target: the summary that a person wrote.
        rankings: the paragraphs of one cluster in several orders, best first.
        cuts: how many of them are read, joined into one text.

    Returns:
        A row per ranking and a column per cut. NaN where the cluster has too few paragraphs: to leave
        something to choose, it must have more than twice as many as are read.
    """
    recalls = np.full((len(rankings), len(cuts)), np.nan)
    columns = [column for column, cut in enumerate(cuts) if len(rankings[0]) > 2 * cut]
    texts = ["\n".join(texts[: cuts[column]]) for texts in rankings for column in columns]
    if texts:
        found = 100 * lcs_overlap(target, texts).recall
        recalls[:, columns] = found.reshape(len(rankings), len(columns))
    return recalls


def cited_flags(cluster: Cluster, paragraphs: Sequence[Paragraph]) -> NDArray[np.bool_]:
    """Return for each paragraph of a cluster whether its summary cites it.

    Args:
        cluster: with given paragraphs, and a summary that cites them.
        paragraphs: those of `read_paragraphs`; a copy counts for every place where it stood.
    """
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
    """Return the share, in per cent, of the cited paragraphs that are among the first of a ranking."""
    return float(100 * is_cited[list(ranking[:cut])].sum() / is_cited.sum())


def with_distractors(
    cluster: Cluster,
    others: Sequence[Cluster],
    number: int,
    rng: random.Random,
    *,
    per_document: int = 4,
) -> Cluster:
    """Return a cluster with paragraphs of other clusters mixed in, and its citations renumbered.

    Args:
        cluster: with given paragraphs, and a summary that cites them.
        others: where distractors are drawn from; the cluster itself may be among them.
        number: how many paragraphs to add.
        rng: draws the clusters, and the order of all documents.
        per_document: neighbouring paragraphs of another cluster that make up one document.
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


def interval(values: Floats) -> Interval:
    """Return the mean of at least one value, with its interval."""
    from scipy.stats import bootstrap

    mean = float(values.mean())
    if len(values) == 1 or np.ptp(values) == 0:
        return Interval(mean, mean, mean)
    bounds = bootstrap(
        (values,), np.mean, n_resamples=_NUM_SAMPLES, method="percentile", rng=_SEED, batch=100
    ).confidence_interval
    return Interval(mean, float(bounds.low), float(bounds.high))
