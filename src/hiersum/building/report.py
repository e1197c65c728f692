"""What was built: counts, sizes beside the paper's, overlap and support.

A tally is a plain counter, so that those of all shards add up. Sizes in words and tokens and overlap
are measured on a sample, the first clusters of every part (their order is drawn): clusters share most
of their documents, and counting all would take longer than building them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from hiersum.text.overlap import ngram_overlap
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import count_words
from hiersum.types import Cluster

SAMPLE_PER_PART = 32
PAPER = {
    "paragraphs per cluster": 525.0,
    "tokens per paragraph": 70.1,
    "tokens per target": 139.4,
}
"""WikiSum in the paper's section 4."""
_DROPPED = "dropped: "

Tally = Counter[str]


def count_dropped(reason: str) -> Tally:
    """Count one article that gave no cluster."""
    return Counter({f"{_DROPPED}{reason}": 1})


def count_cluster(cluster: Cluster, *, num_clones: int) -> Tally:
    """Count one cluster."""
    return Counter(
        {
            "clusters": 1,
            "documents": len(cluster.documents),
            "paragraphs": sum(len(document.paragraphs or ()) for document in cluster.documents),
            "target words": count_words(cluster.summary or ""),
            "clones": num_clones,
        }
    )


def measure_sample(cluster: Cluster, tokenizer: Tokenizer | None) -> Tally:
    """Measure what takes long to measure, on one cluster of the sample."""
    bodies = ["\n".join(document.paragraphs or ()) for document in cluster.documents]
    paragraphs = [text for document in cluster.documents for text in document.paragraphs or ()]
    target = cluster.summary or ""
    overlap = ngram_overlap(target, [bodies[0], "\n".join(bodies)], 2, stem=False)
    tally = Counter(
        {
            "sampled": 1,
            "sampled paragraphs": len(paragraphs),
            "sampled words": sum(map(count_words, paragraphs)),
            "sampled bigrams": int(overlap.target_total[0]),
            "sampled bigrams in the first document": int(overlap.matches[0]),
            "sampled bigrams in all documents": int(overlap.matches[1]),
        }
    )
    if tokenizer is not None:
        tally["sampled tokens"] = sum(map(len, tokenizer.encode_many(paragraphs)))
        tally["sampled target tokens"] = len(tokenizer.encode(target))
    return tally


def report_of(tally: Tally) -> dict[str, Any]:
    """Turn the sum of all tallies into the numbers that people read."""
    clusters, sampled = tally["clusters"], tally["sampled"]
    articles = tally["articles"]
    report: dict[str, Any] = {
        "articles": articles,
        "clusters": clusters,
        "dropped": {
            name.removeprefix(_DROPPED): number
            for name, number in sorted(tally.items())
            if name.startswith(_DROPPED)
        },
        "clone paragraphs": tally["clones"],
        "supported leads": share(tally["supported"], articles),
        "documents per cluster": mean(tally["documents"], clusters),
        "paragraphs per cluster": mean(tally["paragraphs"], clusters),
        "words per target": mean(tally["target words"], clusters),
        "sampled clusters": sampled,
        "words per paragraph": mean(tally["sampled words"], tally["sampled paragraphs"]),
        "target bigrams in the first document": share(
            tally["sampled bigrams in the first document"], tally["sampled bigrams"]
        ),
        "target bigrams in all documents": share(
            tally["sampled bigrams in all documents"], tally["sampled bigrams"]
        ),
    }
    if tally["sampled tokens"]:
        paragraphs = tally["sampled paragraphs"]
        report["tokens per paragraph"] = mean(tally["sampled tokens"], paragraphs)
        report["tokens per target"] = mean(tally["sampled target tokens"], sampled)
    return report


def report_rows(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the report as rows of a table: what, ours, the paper's."""
    rows = []
    for name, value in report.items():
        if name == "plan":
            continue
        if isinstance(value, dict):
            rows += [(f"{name}: {key}", f"{number:,}", "") for key, number in value.items()]
        else:
            paper = PAPER.get(name) or PAPER.get(name.replace("words", "tokens"))
            unit = " tokens" if paper and name.startswith("words") else ""
            rows.append((name, _shown(name, value), f"{paper:,}{unit}" if paper else ""))
    return rows


def _shown(name: str, value: float) -> str:
    if name == "supported leads" or name.startswith("target bigrams"):
        return f"{value:.1%}"
    return f"{value:,}"


def mean(total: int, number: int) -> float:
    return round(total / number, 1) if number else 0.0


def share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
