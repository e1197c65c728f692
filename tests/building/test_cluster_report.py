"""The report's numbers are those counted from the clusters themselves."""

from __future__ import annotations

from collections import Counter

from support import small_vocabulary

from hiersum.building.cluster_report import (
    PAPER,
    count_cluster,
    measure_sample,
    report_of,
    report_rows,
)
from hiersum.building.workplace import Tally
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster, Document

CLUSTERS = [
    Cluster(
        "Bridge",
        (
            Document.from_paragraphs(["the old bridge is grey", "it opened"]),
            Document.from_paragraphs(["the mayor opened the bridge"]),
        ),
        "the mayor opened the old bridge",
    ),
    Cluster("Sea", (Document.from_paragraphs(["salt water here"]),), "the sea is salt"),
]


def tally_of(tokenizer: Tokenizer | None) -> Tally:
    tally: Tally = Counter({"articles": 4, "supported": 1, "dropped: target too short": 2})
    for cluster in CLUSTERS:
        tally.update(count_cluster(cluster, num_clones=2))
        tally.update(measure_sample(cluster, tokenizer))
    return tally


def test_counts_and_means() -> None:
    assert report_of(tally_of(None)) == {
        "articles": 4,
        "clusters": 2,
        "dropped": {"target too short": 2},
        "clone paragraphs": 4,
        "supported leads": 0.25,
        "documents per cluster": 1.5,
        "paragraphs per cluster": 2.0,
        "words per target": 5.0,
        "sampled clusters": 2,
        "words per paragraph": 3.8,
        # of "the mayor opened the old bridge": "the old", "old bridge" in the first document,
        # and "the mayor", "mayor opened", "opened the" in the second; nothing of "the sea is salt"
        "target bigrams in the first document": 0.25,
        "target bigrams in all documents": 0.625,
    }


def test_tokens_are_counted_with_a_tokenizer() -> None:
    tokenizer = Tokenizer(small_vocabulary("paper"), "paper")
    report = report_of(tally_of(tokenizer))
    targets = [len(tokenizer.encode(cluster.summary or "")) for cluster in CLUSTERS]
    assert report["tokens per target"] == sum(targets) / 2
    paragraphs = [text for c in CLUSTERS for d in c.documents for text in d.paragraphs or ()]
    total = sum(len(tokenizer.encode(text)) for text in paragraphs)
    assert report["tokens per paragraph"] == round(total / 4, 1)


def test_rows_stand_beside_the_papers() -> None:
    rows = {name: (ours, paper) for name, ours, paper in report_rows(report_of(tally_of(None)))}
    assert rows["paragraphs per cluster"] == ("2.0", str(PAPER["paragraphs per cluster"]))
    assert rows["words per target"] == ("5.0", f"{PAPER['tokens per target']} tokens")
    assert rows["dropped: target too short"] == ("2", "")
    assert rows["supported leads"] == ("25.0%", "")


def test_nothing_built_is_a_report_too() -> None:
    assert report_of(Counter())["paragraphs per cluster"] == 0.0
