"""Fit the citation scorer of a model folder to summaries that cite their paragraphs.

    python recipes/ranker/fit_scorer.py TRAIN VALID MODEL_FOLDER

TRAIN and VALID are corpora of kind `written`. Each training cluster is seen twice: alone, and among
paragraphs of other clusters. In both, 15 % of the titles are hidden. The weights go into ranker.json of
the folder; an LSTM ranker in it stays as it is. Of several ridges, the one with the highest recall of
cited paragraphs on VALID is kept.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from hiersum.data.corpora import read_corpus
from hiersum.ranking.ranker import best_first
from hiersum.ranking.scorer import (
    FEATURES,
    MAX_DEVIATION,
    CitationRanker,
    ScorerWeights,
    features,
)
from hiersum.text.paragraphs import read_paragraphs
from hiersum.text.words import content_stems
from hiersum.types import Cluster

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from citations import cited_flags, cited_recall, with_distractors

Floats = NDArray[np.float64]

HIDDEN_TITLES = 0.15
POINTWISE = 0.5
"""Share of the loss that asks "is it cited?"; the rest asks "which of two is?"."""
NUM_FOUND = 10
"""Clusters that share words with a title, of which distractors are drawn."""
CUTS = (5, 10)
NUM_DRAWN = 2_400
"""Clusters are drawn once, so that a run with fewer sees a part of the same."""
DRAW_SEED, MIX_SEED, VALID_SEED = 5, 0, 7


@dataclass(frozen=True, slots=True)
class Ranked:
    """The paragraphs of one cluster: their features, and which of them are cited."""

    columns: Floats
    is_cited: NDArray[np.bool_]


def count_features(clusters: Sequence[Cluster]) -> list[Ranked]:
    """Return the clusters that have something to choose from, as numbers."""
    ranked = []
    for cluster in clusters:
        paragraphs = read_paragraphs(cluster.documents)
        is_cited = cited_flags(cluster, paragraphs)
        if is_cited.any() and len(paragraphs) > 1:
            ranked.append(Ranked(features(cluster.title, paragraphs), is_cited))
    return ranked


def augment(clusters: Sequence[Cluster], rng: random.Random) -> list[Cluster]:
    """Return each cluster alone and among 4 to 40 distractors, some without their titles.

    Every second cluster gets distractors that share words with its title, as a search would find.
    """
    found = similar_clusters(clusters)
    mixed = [
        with_distractors(cluster, others, rng.randint(4, 40), rng, per_document=rng.randint(1, 8))
        for number, cluster in enumerate(clusters)
        for others in [found[number] if number % 2 and found[number] else clusters]
    ]
    return [
        replace(cluster, title="") if rng.random() < HIDDEN_TITLES else cluster
        for cluster in (*clusters, *mixed)
    ]


def similar_clusters(clusters: Sequence[Cluster]) -> list[list[Cluster]]:
    """Return for each cluster the others that hold most of the words of its title, rare ones first."""
    stems = [set(content_stems(_text(cluster))) for cluster in clusters]
    counts = Counter(stem for each in stems for stem in each)
    rarity = {stem: math.log(len(clusters) / count) for stem, count in counts.items()}
    result = []
    for number, cluster in enumerate(clusters):
        title = set(content_stems(cluster.title))
        shared = [sum(rarity[stem] for stem in sorted(title & each)) for each in stems]
        shared[number] = 0.0
        best = sorted(range(len(clusters)), key=lambda n: -shared[n])[:NUM_FOUND]
        result.append([clusters[n] for n in best if shared[n] > 0])
    return result


def _text(cluster: Cluster) -> str:
    return "\n".join(document.text for document in cluster.documents)


def fit(
    examples: Sequence[Ranked], names: Sequence[str], *, hidden: int, ridge: float, seed: int = 1
) -> ScorerWeights:
    """Fit the scorer by L-BFGS: is a paragraph cited, and which of two of one cluster is?"""
    chosen = [FEATURES.index(name) for name in names]
    columns = np.vstack([example.columns[:, chosen] for example in examples])
    is_cited = np.concatenate([example.is_cited for example in examples]).astype(np.float64)
    mean, scale = columns.mean(axis=0), np.maximum(columns.std(axis=0), 1e-3)
    x = np.clip((columns - mean) / scale, -MAX_DEVIATION, MAX_DEVIATION)
    better, worse, weights = _pairs(examples)
    width = len(names)
    sizes = [width, 1, hidden * width, hidden, hidden]
    ends = [0, *accumulate(sizes)]
    is_decayed = np.repeat([1.0, 0.0, 1.0, 0.0, 1.0], sizes)
    start = np.random.default_rng(seed).normal(0, 0.3, ends[-1])
    start[: width + 1] = 0.0

    def split(values: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        v, c, h, b, w = (values[i:j] for i, j in zip(ends, ends[1:]))
        return v, c, h.reshape(hidden, width), b, w

    def loss(values: Floats) -> tuple[float, Floats]:
        v, c, h, b, w = split(values)
        states = np.tanh(x @ h.T + b)
        logits = x @ v + c + states @ w
        margins = logits[better] - logits[worse]
        cross_entropy = np.logaddexp(0, logits) - is_cited * logits
        pairwise = weights @ np.logaddexp(0, -margins)
        slope = POINTWISE * (_sigmoid(logits) - is_cited) / len(x)
        of_pairs = (1 - POINTWISE) * weights * _sigmoid(-margins)
        slope -= np.bincount(better, of_pairs, len(x)) - np.bincount(worse, of_pairs, len(x))
        of_states = np.outer(slope, w) * (1 - states**2)
        parts = (x.T @ slope, [slope.sum()], (of_states.T @ x).ravel())
        gradient = np.concatenate([*parts, of_states.sum(axis=0), states.T @ slope])
        value = POINTWISE * cross_entropy.mean() + (1 - POINTWISE) * pairwise
        value += ridge * (is_decayed * values**2).sum()
        return float(value), gradient + 2 * ridge * is_decayed * values

    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 80}).x
    v, c, h, b, w = (np.round(part, 4) for part in split(found))
    return ScorerWeights(
        features=tuple(names),
        mean=np.round(mean, 4),
        scale=np.round(scale, 4),
        linear=v,
        bias=float(c[0]),
        hidden=h,
        hidden_bias=b,
        output=w,
    )


def _pairs(
    examples: Sequence[Ranked],
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return all pairs of a cited and another paragraph of one cluster; each cluster weighs alike."""
    better, worse, weights, start = [], [], [], 0
    for example in examples:
        cited, other = np.flatnonzero(example.is_cited), np.flatnonzero(~example.is_cited)
        number = len(cited) * len(other)
        better.append(np.repeat(cited, len(other)) + start)
        worse.append(np.tile(other, len(cited)) + start)
        weights.append(np.full(number, 1 / max(number, 1)))
        start += len(example.is_cited)
    joined = np.concatenate(weights)
    return np.concatenate(better), np.concatenate(worse), joined / joined.sum()


def _sigmoid(logits: Floats) -> Floats:
    return 0.5 * (1 + np.tanh(0.5 * logits))


def recalls(examples: Sequence[Ranked], weights: ScorerWeights) -> dict[str, float]:
    """Return the mean recall of cited paragraphs, where there are more than are read."""
    chosen = [FEATURES.index(name) for name in weights.features]
    result = {}
    for cut in CUTS:
        found = [
            cited_recall(e.is_cited, best_first(weights.logits(e.columns[:, chosen]).tolist()), cut)
            for e in examples
            if len(e.is_cited) > cut
        ]
        result[f"recall at {cut}"] = round(float(np.mean(found)), 1)
    return result


def main() -> None:
    """Fit with each ridge, print what validation says, and write the best weights."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("train", type=Path)
    parser.add_argument("valid", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clusters", type=int, default=500)
    parser.add_argument("--hidden", type=int, default=8)
    parser.add_argument("--ridges", type=float, nargs="+", default=[1e-3, 3e-3])
    options = parser.parse_args()
    train = list(read_corpus(options.train, "written"))
    train = random.Random(DRAW_SEED).sample(train, min(len(train), NUM_DRAWN))[: options.clusters]
    examples = count_features(augment(train, random.Random(MIX_SEED)))
    rng = random.Random(VALID_SEED)
    valid = list(read_corpus(options.valid, "written"))
    mixed = [with_distractors(cluster, valid, 20, rng) for cluster in valid]
    validation = {
        "own paragraphs": count_features(valid),
        "20 distractors": count_features(mixed),
    }
    best = -math.inf
    for ridge in options.ridges:
        weights = fit(examples, FEATURES, hidden=options.hidden, ridge=ridge)
        found = {name: recalls(each, weights) for name, each in validation.items()}
        print(f"ridge {ridge}: {found}", flush=True)
        total = sum(sum(each.values()) for each in found.values())
        if total > best:
            best = total
            settings = {"hidden": options.hidden, "ridge": ridge}
            notes = {"clusters": len(train), **settings, "valid": found}
            CitationRanker(weights).save(options.folder, notes=notes)


if __name__ == "__main__":
    main()
