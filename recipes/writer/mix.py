"""Mix training clusters for the writer: conservative targets, then written ones near their sources.

    python recipes/writer/mix.py WRITTEN.parquet OUT.jsonl --targets 'targets/*.jsonl' --limit 1500

WRITTEN is a corpus of kind `written`. Targets are lines
{"id", "sentences": [{"text", "sources": ["paragraph.sentence"]}]} for clusters of that corpus; they take
the place of the corpus's own summaries. Of the other clusters, the `--limit` nearest ones are kept: a
small decoder can be truthful only where the words of a summary stand in its sources. `--also` adds
clusters of another corpus as they are.
"""

from __future__ import annotations

import argparse
import glob
import json
import random
from pathlib import Path

import pyarrow.parquet as pq

from hiersum.data.corpora import read_corpus, write_clusters
from hiersum.data.records import written_cluster
from hiersum.text.words import content_stems
from hiersum.types import Cluster


def nearness(cluster: Cluster) -> float:
    """Return the share of content words that stand in what is cited, of the worst sentence."""
    texts = [text for document in cluster.documents for text in document.paragraphs or ()]
    shares = []
    for sentence in cluster.cited:
        wanted = set(content_stems(sentence.text))
        held = {stem for number in sentence.paragraphs for stem in content_stems(texts[number])}
        shares.append(len(wanted & held) / max(1, len(wanted)))
    return min(shares, default=0.0)


def main() -> None:
    """Write the mixture."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("written", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--targets", default="")
    parser.add_argument("--also", type=Path, action="append", default=[])
    parser.add_argument("--limit", type=int, default=1_500)
    arguments = parser.parse_args()
    rows = {row["id"]: row for row in pq.read_table(arguments.written).to_pylist()}
    clusters = []
    for path in sorted(glob.glob(arguments.targets)):
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            target = json.loads(line)
            row = rows.pop(target["id"], None)
            if row is None or not target["sentences"]:
                continue
            sentences = [
                {
                    "text": s["text"],
                    "paragraphs": sorted({int(p.split(".")[0]) for p in s["sources"]}),
                }
                for s in target["sentences"]
            ]
            clusters.append(written_cluster(row | {"sentences": sentences}, path))
    others = [written_cluster(row, str(arguments.written)) for row in rows.values()]
    others.sort(key=nearness, reverse=True)
    print(
        f"{len(clusters)} conservative, {len(others[: arguments.limit])} of {len(others)} written"
    )
    if others:
        print(f"nearness of the last one kept: {nearness(others[: arguments.limit][-1]):.2f}")
    clusters += others[: arguments.limit]
    for path in arguments.also:
        clusters += read_corpus(path)
    random.Random(1).shuffle(clusters)
    write_clusters(clusters, arguments.out)


if __name__ == "__main__":
    main()
