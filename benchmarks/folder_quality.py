"""How good a model is on a folder of documents about one thing, as people have them.

    python benchmarks/folder_quality.py MODEL ARTICLES.parquet [--limit N] [--set ...]
    python benchmarks/folder_quality.py MODEL benchmarks/kinds.jsonl --name kinds_quality

The sections of a long article (`wikivisual-` of wikilead), 60 words and more, are documents of their
own, at least four; the lead is the target. Or clusters as they are: `kinds.jsonl` holds 42 that were
made up for this, news, running stories, science, opinions, workplace and web pages, of four to seven
documents by different hands, each with a summary of all. With the title and without it. All systems are
cut to the length of the model's summary, cluster by cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from measure import write_results
from model_quality import EVALUATION, baselines, make_parser, read, rouge_rows, shape

from hiersum import Cluster, Document, Summarizer, load_config
from hiersum.bundled import recommended_settings
from hiersum.config import Config
from hiersum.data.preparing import empty_clones
from hiersum.evaluation.rouge import signature
from hiersum.progress import tracked
from hiersum.text.words import count_words

MIN_WORDS, MIN_DOCUMENTS = 60, 4


def folders(path: Path, config: Config) -> Iterator[Cluster]:
    """Yield long articles as clusters of their sections, without clones of their leads."""
    for article in pq.read_table(path).to_pylist():
        sections: dict[str, list[str]] = {}
        for heading, paragraph in zip(article["sections"], article["paragraphs"]):
            sections.setdefault(heading, []).append(paragraph)
        documents = tuple(
            Document.from_paragraphs(paragraphs, name=heading)
            for heading, paragraphs in sections.items()
            if count_words(" ".join(paragraphs)) >= MIN_WORDS
        )
        if article["id"].startswith("wikivisual-") and len(documents) >= MIN_DOCUMENTS:
            lead = "\n".join(article["lead"])
            yield empty_clones(Cluster(article["title"], documents, summary=lead), config)


def read_folders(path: Path, config: Config, limit: int) -> list[Cluster]:
    """Return the clusters of articles, or of a corpus."""
    if path.suffix == ".parquet":
        return list(islice(folders(path, config), limit or None))
    return read(path, config, limit)


def measure(summarizer: Summarizer, clusters: list[Cluster]) -> dict[str, Any]:
    """Return scores of all systems, and how long the model's summaries are."""
    outcomes = tracked(clusters, "summarising", len(clusters))
    summaries = [summarizer.summarize_cluster(cluster) for cluster in outcomes]
    texts = [summary.text for summary in summaries]
    others = baselines(clusters, [max(1, count_words(text)) for text in texts])
    cited = [len({s.document for one in of.sentences for s in one.sources[:1]}) for of in summaries]
    return {
        "cut to the model's length": rouge_rows(texts, others, [c.summary or "" for c in clusters]),
        "shape": shape(texts, [cluster.title for cluster in clusters]),
        "documents drawn on": round(float(np.mean(cited)), 2),
        "documents": round(float(np.mean([len(c.documents) for c in clusters])), 2),
        "seconds a cluster": round(float(np.mean([of.seconds for of in summaries])), 2),
    }


def main() -> None:
    parser = make_parser(__doc__.split("\n")[0], "articles", "folder_quality")
    options = parser.parse_args()
    config = load_config(None, options.settings, recommended=recommended_settings(options.model))
    clusters = read_folders(options.articles, config, options.limit)
    summarizer = Summarizer.from_pretrained(options.model, config=config)
    write_results(
        options.name,
        {
            "signature": signature(EVALUATION, len(clusters)),
            "clusters": f"{len(clusters)} of {options.articles.name}",
            "with the title": measure(summarizer, clusters),
            "without": measure(summarizer, [replace(cluster, title="") for cluster in clusters]),
        },
    )


if __name__ == "__main__":
    main()
