"""Paragraphs a second that one core labels, ranks and prepares, and what bucketing saves of padding.

Clusters are built from the wikilead validation articles, each with ten search results. Processor time
of one thread, because other work may run on the machine; encoding every paragraph with SentencePiece
is measured beside it, as the least that reading all of a cluster would cost.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
from cost import cpu_seconds
from measure import wikilead_articles, wikilead_split, write_results

from hiersum.building.articles import BuildSettings, build_clusters
from hiersum.config import Config, load_config
from hiersum.data.batches import bucket, cut, padded_size
from hiersum.data.corpora import read_corpus
from hiersum.data.prepare import Part, Recipe, prepare_part
from hiersum.data.shards import Manifest, PreparedSet, Rows
from hiersum.ranking.ranker import SimilarityRanker
from hiersum.text.overlap import ngram_overlap
from hiersum.text.paragraphs import read_paragraphs
from hiersum.text.tokenizer import Tokenizer, train_tokenizer
from hiersum.text.words import _words
from hiersum.types import Cluster

NUM_CLUSTERS = 256
NUM_ROUNDS = 3
WIKILEAD_CLUSTERS = 70_000
BATCH_TOKENS = (8_000, 32_000)
WINDOW = 4_096


def rates(corpus: Path, model: Path) -> dict[str, object]:
    """Measure each step on the same clusters, in turn."""
    clusters = list(islice(read_corpus(corpus), NUM_CLUSTERS))
    paragraphs = [read_paragraphs(c.documents) for c in clusters]
    texts = [[paragraph.text for paragraph in each] for each in paragraphs]
    num_paragraphs = sum(len(d.paragraphs or ()) for c in clusters for d in c.documents)
    tokenizer = Tokenizer.load(model / "tokenizer.model", "paper")
    ranker = SimilarityRanker()

    def prepare(*settings: str) -> None:
        recipe = Recipe(model=model, out=model, config=load_config(None, settings))
        prepare_part(Part(0, tuple(("", cluster) for cluster in clusters)), recipe=recipe)

    systems: dict[str, Callable[[], object]] = {
        "read": lambda: list(islice(read_corpus(corpus), NUM_CLUSTERS)),
        "labelled": lambda: [
            ngram_overlap(c.summary or "", each, 2) for c, each in zip(clusters, texts)
        ],
        "ranked": lambda: [ranker.scores(c.title, each) for c, each in zip(clusters, paragraphs)],
        "prepared": prepare,
        "prepared with graphs": lambda: prepare("model.graph_head=0"),
        "encoded": lambda: [tokenizer.encode_many(each) for each in texts],
    }
    seconds = dict.fromkeys(systems, float("inf"))
    for _ in range(NUM_ROUNDS):
        for name, run in systems.items():
            _words.cache_clear()  # each starts as cold as in a new process
            seconds[name] = min(seconds[name], cpu_seconds(run))
    a_cluster = {name: value / NUM_CLUSTERS for name, value in seconds.items()}
    hours = (a_cluster["read"] + a_cluster["prepared"]) * WIKILEAD_CLUSTERS / 3_600
    return {
        "clusters": len(clusters),
        "paragraphs_a_cluster": round(num_paragraphs / len(clusters), 1),
        "paragraphs_a_second": {n: round(num_paragraphs / s) for n, s in seconds.items()},
        "milliseconds_a_cluster": {n: round(1_000 * s, 1) for n, s in a_cluster.items()},
        "times_encoding_alone": round(seconds["prepared"] / seconds["encoded"], 2),
        "minutes_for_70000_clusters_on_two_cores": round(60 * hours / 2, 1),
    }


def padding(prepared: PreparedSet) -> dict[str, object]:
    """Compare batches of like shape with batches as examples come, of one shuffled window."""
    rows = Rows.join([prepared.load(shard) for shard in prepared.manifest.shards])[:WINDOW]
    shapes = rows.shapes(is_flat=False)
    lengths = [(sum(map(len, e.paragraph_ids)), len(e.target_ids or ())) for e in rows.examples()]
    real_tokens = sum(map(sum, lengths))
    order = np.random.default_rng(0).permutation(len(rows))
    found: dict[str, object] = {"examples": len(rows), "real_tokens": real_tokens}
    for batch_tokens in BATCH_TOKENS:
        ways = {
            "bucketed": bucket(shapes, batch_tokens),
            "as they come": cut(shapes, order, batch_tokens),
        }
        for name, batches in ways.items():
            padded = sum(padded_size(shapes[batch]) for batch in batches)
            real = [sum(sum(lengths[i]) for i in batch) for batch in batches]
            found[f"{name}, {batch_tokens}"] = {
                "batches": len(batches),
                "padding_share": round(1 - real_tokens / padded, 3),
                "real_tokens_a_batch": round(float(np.mean(real))),
                "their_deviation": round(float(np.std(real) / np.mean(real)), 3),
            }
    return found


def prepared_set(clusters: list[Cluster], model: Path, out: Path) -> PreparedSet:
    """Prepare clusters as one shard."""
    out.mkdir()
    recipe = Recipe(model=model, out=out, config=Config())
    shard, _ = prepare_part(Part(0, tuple(("", c) for c in clusters)), recipe=recipe)
    (out / "tokenizer.model").write_bytes((model / "tokenizer.model").read_bytes())
    config = {"model": {"architecture": "ht"}}
    manifest = Manifest(config=config, tokenizer="", ranker=None, sources=[])
    manifest.with_shards([shard], complete=True).write(out)
    return PreparedSet.open(out)


def main() -> None:
    """Build clusters, measure, write the results."""
    articles = wikilead_articles("valid")
    texts = [text for article in articles for text in article["paragraphs"] + article["lead"]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_clusters([wikilead_split("valid")], folder / "clusters", BuildSettings())
        model = folder / "model"
        model.mkdir()
        (model / "tokenizer.model").write_bytes(train_tokenizer(texts, size=16_000))
        searched = list(read_corpus(folder / "clusters"))
        alone = list(read_corpus(wikilead_split("valid")))
        write_results(
            "preparing",
            {
                "seconds": "processor time of one thread",
                **rates(folder / "clusters", model),
                "padding": {
                    "with search results": padding(
                        prepared_set(searched, model, folder / "searched")
                    ),
                    "articles alone": padding(prepared_set(alone, model, folder / "alone")),
                },
            },
        )


if __name__ == "__main__":
    main()
