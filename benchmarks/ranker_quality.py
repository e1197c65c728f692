"""How good are the paragraphs that the bundled rankers put first, beside similarity and length alone?

    python benchmarks/ranker_quality.py recall CLUSTERS           the paper's Table 1
    python benchmarks/ranker_quality.py cited WRITTEN CLUSTERS    citations, and search results

CLUSTERS is what `hiersum build articles test.parquet` wrote. WRITTEN is a corpus whose summaries cite
their paragraphs. `cited` measures

- the recall of cited paragraphs among a cluster's own, and with 20 of other clusters mixed in (five
  documents of four paragraphs, all documents in random order). A cluster counts where it has more
  paragraphs than are read;
- on search results, the share of the first ten paragraphs that are of the title's own article, with
  documents in random order.

Longer paragraphs hold more of any target, so a ranker that only counts characters is a floor that a
trained one has to pass as well.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from citations import cited_flags, cited_recall, with_distractors
from measure import by_round, write_results

from hiersum.config import Config
from hiersum.data.corpora import read_corpus
from hiersum.evaluation.rouge import recall_interval as interval
from hiersum.pretrained import FOLDER
from hiersum.ranking.neural import NeuralRanker
from hiersum.ranking.ranker import (
    OracleRanker,
    Ranker,
    ReadingOrder,
    SimilarityRanker,
    best_first,
)
from hiersum.ranking.scorer import CitationRanker
from hiersum.text.paragraphs import read_paragraphs
from hiersum.text.tokenizer import Tokenizer
from hiersum.training.ranker_corpora import Corpora, compare_rankers
from hiersum.types import Cluster, Paragraph

CUTS = (5, 10)
NUM_DISTRACTORS = 20
MAX_SEARCH_CLUSTERS = 100
NUM_TIMED = 1_000
SEED = 1

Flags = Callable[[Cluster, Sequence[Paragraph]], np.ndarray]


class LongestFirst:
    """Scores a paragraph by its length."""

    fingerprint = None

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return the number of characters."""
        return [len(paragraph.text) for paragraph in paragraphs]


class Oracle:
    """Scores a paragraph by what it holds of its cluster's target, found by the title."""

    fingerprint = None

    def __init__(self, clusters: Iterable[Cluster]) -> None:
        self.targets = {cluster.title: cluster.summary or "" for cluster in clusters}

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return recalls of the target's bigrams."""
        return OracleRanker(self.targets[title]).scores(title, paragraphs)


def bundled_rankers() -> dict[str, Ranker]:
    """Return what is compared, by name; `ranker` is the paper's, `cited` the citation scorer."""
    tokenizer = Tokenizer.load(FOLDER / "tokenizer.model", "t5")
    return {
        "similarity": SimilarityRanker(),
        "length": LongestFirst(),
        "ranker": NeuralRanker.load(FOLDER, tokenizer),
        "cited": CitationRanker.load(FOLDER),
    }


def measure(
    clusters: Sequence[Cluster],
    rankers: dict[str, Ranker],
    flags: Flags,
    *,
    cuts: Sequence[int] = CUTS,
    is_share: bool = False,
) -> list[dict[str, Any]]:
    """Return a row per cut: means, and differences between the scorer and the others.

    Args:
        clusters: what is ranked.
        rankers: what ranks.
        flags: which paragraphs should come first.
        cuts: how many are read.
        is_share: measure the share of what is read that is flagged, not the share of what is flagged
            that is read.
    """
    found: dict[int, list[list[float]]] = {cut: [] for cut in cuts}
    for cluster in clusters:
        paragraphs = read_paragraphs(cluster.documents)
        is_wanted = flags(cluster, paragraphs)
        if not is_wanted.any():
            continue
        rankings = [best_first(r.scores(cluster.title, paragraphs)) for r in rankers.values()]
        rankings.append(best_first(is_wanted.tolist()))  # the ceiling
        for cut in cuts:
            if len(paragraphs) <= cut:
                continue
            if is_share:
                found[cut].append([100 * float(is_wanted[r[:cut]].mean()) for r in rankings])
            else:
                found[cut].append([cited_recall(is_wanted, r, cut) for r in rankings])
    return [_row(cut, np.array(values), [*rankers, "oracle"]) for cut, values in found.items()]


def _row(cut: int, values: np.ndarray, names: Sequence[str]) -> dict[str, Any]:
    columns = dict(zip(names, values.T))
    others = [name for name in names if name not in ("cited", "oracle")]
    differences = {f"cited - {name}": columns["cited"] - columns[name] for name in others}
    rows = (columns | differences).items()
    return {
        "paragraphs": cut,
        "clusters": len(values),
        **{name: asdict(interval(each)) for name, each in rows},
    }


def _own_article(cluster: Cluster, paragraphs: Sequence[Paragraph]) -> np.ndarray:
    own = {n for n, document in enumerate(cluster.documents) if document.name == cluster.title}
    return np.array([not own.isdisjoint(p.document for p in each.places) for each in paragraphs])


def _shuffled(cluster: Cluster, rng: random.Random) -> Cluster:
    documents = list(cluster.documents)
    rng.shuffle(documents)
    return replace(cluster, documents=tuple(documents))


def _seconds(clusters: Sequence[Cluster], rankers: dict[str, Ranker]) -> dict[str, float]:
    """Return the processor seconds that each ranker takes for the same 1,000 paragraphs."""
    texts = (t for c in clusters for d in c.documents for t in d.paragraphs or ())
    paragraphs = [Paragraph(t, n // 20, n % 20) for n, t in enumerate(islice(texts, NUM_TIMED))]
    runs = {name: partial(r.scores, clusters[0].title, paragraphs) for name, r in rankers.items()}
    runs["cited, without a title"] = partial(rankers["cited"].scores, "", paragraphs)
    taken = by_round(runs, rounds=1, clock=time.process_time)
    return {name: round(min(seconds), 3) for name, seconds in taken.items()}


def cited(written: Path, built: Path) -> dict[str, Any]:
    """Measure citations on one corpus, and the own article's share on another."""
    rankers = {"reading order": ReadingOrder(), **bundled_rankers()}
    clusters = list(read_corpus(written, "written"))
    rng = random.Random(SEED)
    mixed = [with_distractors(c, clusters, NUM_DISTRACTORS, rng) for c in clusters]
    found = [_shuffled(c, rng) for c in islice(read_corpus(built), MAX_SEARCH_CLUSTERS)]
    results = {
        "own paragraphs": measure(clusters, rankers, cited_flags),
        "own paragraphs, of more than 10": measure(
            [c for c in clusters if _num_paragraphs(c) > CUTS[-1]], rankers, cited_flags
        ),
        f"{NUM_DISTRACTORS} distractors": measure(mixed, rankers, cited_flags),
        "search results, share of the own article": measure(
            found, rankers, _own_article, cuts=(10,), is_share=True
        ),
    }
    return {
        "signature": f"cited recall|clusters:{len(clusters)}|bootstrap:95 %, 1000|seed:{SEED}"
        f"|scorer:{rankers['cited'].fingerprint[:8]}",
        **results,
        "processor seconds for 1,000 paragraphs": _seconds(found, rankers),
    }


def _num_paragraphs(cluster: Cluster) -> int:
    return len(read_paragraphs(cluster.documents))


def main() -> None:
    """Run the mode that the command line names."""
    match sys.argv[1:]:
        case ["recall", clusters]:
            rankers = {**bundled_rankers(), "oracle": Oracle(read_corpus(Path(clusters)))}
            result = compare_rankers(Corpora(paths=[Path(clusters)]), Config(), rankers)
            write_results("ranker_quality", result)
        case ["cited", written, clusters]:
            write_results("ranker_cited", cited(Path(written), Path(clusters)))
        case _:
            sys.exit(f"usage: python {sys.argv[0]} recall CLUSTERS | cited WRITTEN CLUSTERS")


if __name__ == "__main__":
    main()
