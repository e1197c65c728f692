"""What folders hold that `hiersum build` wrote: python benchmarks/built_clusters.py TOKENIZER FOLDER ...

Counts are those of each folder's report; sizes and overlap are measured anew on the first clusters of
every part, in tokens too, so that a vocabulary that was trained on the clusters can count them.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

from measure import write_results

from hiersum.building.clusters import SAMPLE_PER_PART, measure_sample, report_of
from hiersum.building.workplace import Tally
from hiersum.data.corpora import read_corpus
from hiersum.text.tokenizer import Tokenizer


def report_with_tokens(folder: Path, tokenizer: Tokenizer) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    tally: Tally = Counter()
    for part in sorted(folder.glob("part-*.parquet")):
        for cluster in islice(read_corpus(part), SAMPLE_PER_PART):
            tally.update(measure_sample(cluster))
            texts = [text for document in cluster.documents for text in document.paragraphs or ()]
            tally["tokens"] += sum(map(len, tokenizer.encode_many(texts)))
            tally["target tokens"] += len(tokenizer.encode(cluster.summary or ""))
    measured = report_of(tally)
    measured["tokens per paragraph"] = round(tally["tokens"] / tally["sampled paragraphs"], 1)
    measured["tokens per target"] = round(tally["target tokens"] / tally["sampled"], 1)
    names = ("sampled clusters", "words per paragraph", "tokens per paragraph", "tokens per target")
    overlaps = (name for name in measured if name.startswith("target bigrams"))
    return {**report, **{name: measured[name] for name in (*names, *overlaps)}}


model, *folders = map(Path, sys.argv[1:])
sys.argv[1:] = [model.name, *(folder.name for folder in folders)]
tokenizer = Tokenizer.load(model, "paper")
write_results(
    "built_clusters",
    {folder.name: report_with_tokens(folder, tokenizer) for folder in folders},
)
