"""What eight bits cost in quality: the bundled writer in float32, beside its default.

    python benchmarks/eight_bits.py DATA [--workers 4]

DATA holds `written/test.parquet`. The default is in eight bits; its numbers are those of
`writer_quality.py`, and as many clusters are written in float32 here.
"""

from __future__ import annotations

import argparse
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path

import torch
from measure import write_results
from tables import latest
from writer_quality import interval, rouge

from hiersum import Cluster, Summarizer, load_config
from hiersum.data.corpora import read_corpus
from hiersum.pretrained import recommended_settings

Written = tuple[str, list[float]]


def write(clusters: list[Cluster]) -> list[Written]:
    """Return the text of each summary in float32, and the support of its sentences."""
    torch.set_num_threads(1)
    recommended = recommended_settings(None)
    config = load_config(None, ["decoding.int8=false"], recommended=recommended)
    summarizer = Summarizer.from_pretrained(config=config)
    summaries = [summarizer.summarize_cluster(cluster) for cluster in clusters]
    return [(x.text, [s.support or 0.0 for s in x.sentences]) for x in summaries]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    default = latest("writer_quality")["written test"]
    path = options.data / "written" / "test.parquet"
    clusters = list(islice(read_corpus(path), default["clusters"]))
    parts = [clusters[number :: options.workers] for number in range(options.workers)]
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.workers, mp_context=spawned) as pool:
        written = [found for part in pool.map(write, parts) for found in part]
    references = [cluster.summary or "" for part in parts for cluster in part]
    names = ("R-1", "R-2", "R-L", "support")
    write_results(
        "eight_bits",
        {
            "data": "written test",
            "clusters": len(clusters),
            "float32": {
                **rouge([text for text, _ in written], references),
                "support": interval([x for _, of_text in written for x in of_text], factor=1.0),
                "sentences": sum(len(of_text) for _, of_text in written),
            },
            "int8": {name: default["model"][name] for name in (*names, "sentences")},
        },
    )


if __name__ == "__main__":
    main()
