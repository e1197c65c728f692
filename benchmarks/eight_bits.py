"""What eight bits cost in quality, and what they save: the bundled writer in both, cluster by cluster.

    python benchmarks/eight_bits.py DATA [--clusters 40] [--seed 1]

DATA holds `written/test.parquet`; the clusters are drawn at random. Differences are int8 minus
float32 of the same cluster, in points, with a bootstrap interval.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any

import torch
from measure import write_results
from writer_quality import interval

from hiersum import Summarizer, load_config
from hiersum.data.corpora import read_corpus
from hiersum.pretrained import recommended_settings
from hiersum.text.overlap import lcs_overlap, ngram_overlap

KINDS = ("float32", "int8")


def summarizer(kind: str) -> Summarizer:
    """Return the bundled model in float32 or in eight bits."""
    settings = [f"decoding.int8={str(kind == 'int8').lower()}"]
    return Summarizer.from_pretrained(
        config=load_config(None, settings, recommended=recommended_settings(None))
    )


def mean(values: list[float]) -> float:
    """Return the mean, 0 of nothing."""
    return sum(values) / max(len(values), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--clusters", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    every = list(read_corpus(options.data / "written" / "test.parquet"))
    clusters = random.Random(options.seed).sample(every, options.clusters)
    references = [cluster.summary or "" for cluster in clusters]
    systems = {kind: summarizer(kind) for kind in KINDS}
    texts: dict[str, list[str]] = {kind: [] for kind in KINDS}
    supports: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    seconds = dict.fromkeys(KINDS, 0.0)
    for cluster in clusters:
        for kind, system in systems.items():
            start = time.process_time()
            summary = system.summarize_cluster(cluster)
            seconds[kind] += time.process_time() - start
            texts[kind].append(summary.text)
            supports[kind].append([sentence.support or 0.0 for sentence in summary.sentences])
    scores: dict[str, dict[str, list[float]]] = {}
    for kind in KINDS:
        scores[kind] = {
            "R-1": list(ngram_overlap(references, texts[kind], 1).f1),
            "R-2": list(ngram_overlap(references, texts[kind], 2).f1),
            "R-L": list(lcs_overlap(references, texts[kind]).f1),
            "support": [mean(of_cluster) for of_cluster in supports[kind]],
            "sentences": [len(of_cluster) / 100 for of_cluster in supports[kind]],
        }
    results: dict[str, Any] = {
        kind: {name: interval(values) for name, values in of_kind.items()}
        for kind, of_kind in scores.items()
    }
    results["int8 minus float32"] = {
        name: interval([a - b for a, b in zip(scores["int8"][name], values)])
        for name, values in scores["float32"].items()
    }
    write_results(
        "eight_bits",
        {
            "data": "written test",
            "clusters": len(clusters),
            "seed": options.seed,
            "same_text": sum(a == b for a, b in zip(texts["float32"], texts["int8"])),
            "processor_seconds": {kind: round(taken, 1) for kind, taken in seconds.items()},
            **results,
        },
    )


if __name__ == "__main__":
    main()
