"""ROUGE F1 of the extractive systems on the wikilead test articles, with 95 % bootstrap intervals.

Each article's body is a cluster of one document, its lead the target; clones are removed and counted,
and every summary is as long as its target. `reader` style gets that length as a cap.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from measure import wikilead_split, write_results

from hiersum import Summarizer, load_config
from hiersum.data.corpora import read_corpus
from hiersum.text.overlap import lcs_overlap, ngram_overlap
from hiersum.text.paragraphs import is_clone
from hiersum.text.words import count_words
from hiersum.types import Document

SEED = 0
NUM_SAMPLES = 1_000
GROUPS = ("zhouyii", "wikivisual")

clusters = []
num_clones = 0
for cluster in read_corpus(wikilead_split("test")):
    documents = []
    for document in cluster.documents:
        texts = document.paragraphs or ()
        clones = is_clone(texts, cluster.summary or "")
        num_clones += sum(clones)
        kept = [text for text, clone in zip(texts, clones) if not clone]
        documents.append(Document.from_paragraphs(kept, document.name, document.url))
    clusters.append(replace(cluster, documents=tuple(documents)))
groups = np.array([cluster.id.split("-")[0] for cluster in clusters])
targets = [cluster.summary or "" for cluster in clusters]


def interval(values: np.ndarray) -> dict[str, float]:
    generator = np.random.default_rng(SEED)
    samples = generator.choice(values, (NUM_SAMPLES, len(values))).mean(axis=1)
    low, high = np.percentile(samples, [2.5, 97.5])
    return {"mean": round(values.mean(), 2), "low": round(low, 2), "high": round(high, 2)}


def evaluate(system: str, style: str) -> dict[str, object]:
    summarizer = Summarizer(config=load_config(None, [f"extractive.style={style}"]))
    texts = [
        summarizer.summarize_cluster(c, system=system, max_words=count_words(target)).text
        for c, target in zip(clusters, targets)
    ]
    scores = {
        "rouge1": 100 * ngram_overlap(targets, texts, 1).f1,
        "rouge2": 100 * ngram_overlap(targets, texts, 2).f1,
        "rougeL": 100 * lcs_overlap(targets, texts).f1,
    }
    words = [count_words(text) for text in texts]
    return {
        group: {
            **{name: interval(values[groups == group]) for name, values in scores.items()},
            "words": round(float(np.mean(np.array(words)[groups == group])), 1),
        }
        for group in GROUPS
    }


write_results(
    "extractive_quality",
    {
        "signature": "rouge-score settings|stem:yes|rougeL:whole text|data:wikilead test, body only"
        f"|length:target|bootstrap:{NUM_SAMPLES}, seed {SEED}",
        "clusters": {group: int((groups == group).sum()) for group in GROUPS},
        "clones_removed": num_clones,
        **{f"{s} ({t})": evaluate(s, t) for s in ("lead", "lexrank") for t in ("paper", "reader")},
    },
)
