"""Training examples for the ranker: paragraphs as pieces, each with its title and label.

A label is the ROUGE-2 recall of a paragraph against the summary (the paper's section 3.1). All
paragraphs are in flat arrays, four bytes a piece, so that millions fit in memory.

Corpora give the examples, and measure the recall of rankers (the paper's Table 1).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import lru_cache, partial
from itertools import chain, combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from hiersum import __version__
from hiersum.config import Config
from hiersum.data.batches import bucket
from hiersum.data.corpora import count_all, read_corpora
from hiersum.data.model_folder import tokenizer_of, with_network_of
from hiersum.errors import DataError
from hiersum.evaluation.rouge import CUTS, Floats, recalls_at
from hiersum.evaluation.rouge import TABLE_1 as PAPER
from hiersum.evaluation.rouge import recall_interval as interval
from hiersum.jobs.parallel import LocalEngine, in_order
from hiersum.jobs.progress import tracked
from hiersum.ranking.neural import encode, pack
from hiersum.ranking.ranker import Ranker, SimilarityRanker, best_first, choose_ranker
from hiersum.text.overlap import ngram_overlap
from hiersum.text.paragraphs import empty_clones, read_paragraphs
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster, Paragraph

Ints = NDArray[np.int64]
SEED = 1
"""Of the paragraphs drawn, their order, the initial weights and dropout."""
MAX_TOKENS = 256
"""Maximum tokens of a paragraph."""


@dataclass(frozen=True, slots=True)
class RankerBatch:
    """Some paragraphs, their titles, and their labels."""

    titles: PackedSequence
    paragraphs: PackedSequence
    title_of: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True)
class RankerExamples:
    """Paragraphs and titles in flat arrays; text i is ids[starts[i]:starts[i + 1]]."""

    paragraph_ids: NDArray[np.int32]
    paragraph_starts: Ints
    title_ids: NDArray[np.int32]
    title_starts: Ints
    title_of: Ints
    labels: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def fingerprint(self) -> str:
        """A checksum of the examples."""
        digest = hashlib.sha256()
        for array in astuple(self):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def batches(self, batch_tokens: int, generator: np.random.Generator) -> list[Ints]:
        """Return batches of similarly long paragraphs, in random order, each paragraph once."""
        order = generator.permutation(len(self))
        lengths = np.diff(self.paragraph_starts)[order]
        shapes = np.stack([np.ones_like(lengths), lengths, np.zeros_like(lengths)], axis=1)
        batches = [order[batch] for batch in bucket(shapes, batch_tokens)]
        return [batches[index] for index in generator.permutation(len(batches))]

    def batch(self, indices: Ints) -> RankerBatch:
        """Return a batch of paragraphs, with each title once."""
        titles, title_of = np.unique(self.title_of[indices], return_inverse=True)
        return RankerBatch(
            _packed(self.title_ids, self.title_starts, titles),
            _packed(self.paragraph_ids, self.paragraph_starts, indices),
            torch.from_numpy(title_of),
            torch.from_numpy(self.labels[indices]),
        )

    @classmethod
    def join(cls, parts: Sequence[RankerExamples]) -> RankerExamples:
        """Return the examples of all parts, in order."""
        num_titles = np.cumsum([0, *(len(part.title_starts) - 1 for part in parts)])
        return cls(
            np.concatenate([part.paragraph_ids for part in parts]),
            _starts(np.concatenate([np.diff(part.paragraph_starts) for part in parts])),
            np.concatenate([part.title_ids for part in parts]),
            _starts(np.concatenate([np.diff(part.title_starts) for part in parts])),
            np.concatenate([part.title_of + n for part, n in zip(parts, num_titles)]),
            np.concatenate([part.labels for part in parts]),
        )


def label_clusters(
    clusters: Sequence[Cluster], tokenizer: Tokenizer, config: Config
) -> RankerExamples:
    """Label the paragraphs of clusters with summaries, or a sample of them if configured."""
    texts = [_drawn(cluster, config) for cluster in clusters]
    titles = encode([cluster.title for cluster in clusters], tokenizer, MAX_TOKENS)
    paragraphs = encode(list(chain.from_iterable(texts)), tokenizer, MAX_TOKENS)
    labels = [
        ngram_overlap(cluster.summary or "", of_cluster, 2).recall
        for cluster, of_cluster in zip(clusters, texts)
    ]
    return RankerExamples(
        np.fromiter(chain.from_iterable(paragraphs), np.int32),
        _starts(list(map(len, paragraphs))),
        np.fromiter(chain.from_iterable(titles), np.int32),
        _starts(list(map(len, titles))),
        np.repeat(np.arange(len(texts)), list(map(len, texts))),
        np.concatenate(labels).astype(np.float32),
    )


def read_unseen(cluster: Cluster) -> list[Paragraph]:
    """Return the paragraphs of a cluster, without those that copy the target."""
    documents = empty_clones(cluster).documents
    paragraphs = read_paragraphs(documents, keep_all=cluster.graph is not None)
    return [paragraph for paragraph in paragraphs if paragraph.text.strip()]


def _drawn(cluster: Cluster, config: Config) -> list[str]:
    """Return the sampled texts; the sample depends only on the cluster and the seed."""
    texts = [paragraph.text for paragraph in read_unseen(cluster)]
    limit = config.ranker_training.max_paragraphs
    if not 0 < limit < len(texts):
        return texts
    draw = random.Random(f"{SEED} {cluster.id} {cluster.title}")
    return [texts[index] for index in sorted(draw.sample(range(len(texts)), limit))]


def _starts(lengths: Sequence[int] | Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _packed(ids: NDArray[np.int32], starts: Ints, chosen: Ints) -> PackedSequence:
    return pack(ids[starts[index] : starts[index + 1]] for index in chosen)


_PART_CLUSTERS = 32
_cached_tokenizer = lru_cache(maxsize=1)(tokenizer_of)  # one load per process


class NothingToChooseError(DataError):
    """All clusters are so small that every ranker keeps most paragraphs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpora:
    """Training clusters and how to read them."""

    paths: Sequence[Path]
    kind: str = "auto"
    skip_bad: bool = False
    workers: int = 1

    def clusters(self, config: Config) -> Iterator[Cluster]:
        """Yield the clusters; each has a summary."""
        found = read_corpora(
            self.paths, self.kind, skip_bad=self.skip_bad, config=config.data, with_targets=True
        )
        return (cluster for _, cluster in found)

    def examples(self, model: Path, config: Config, *, limit: int) -> RankerExamples:
        """Label the paragraphs of the first `limit` clusters; 0 means all."""
        clusters = islice(self.clusters(config), limit or None)
        chosen = tracked(clusters, "labelling", lambda: count_all(self.paths, limit))
        parts = enumerate(iter(lambda: list(islice(chosen, _PART_CLUSTERS)), []))
        work = partial(_label, model=model, config=config)
        labelled = LocalEngine(self.workers).run(work, parts)
        examples = RankerExamples.join(list(in_order(labelled)))
        if not len(examples):
            raise DataError(f"{self.paths[0]}: its clusters have no paragraphs to learn from")
        return examples


def evaluate_ranker(
    corpora: Corpora, config: Config, *, model: Path, is_all: bool = False
) -> dict[str, Any]:
    """Compare the trained ranker of a model folder with tf-idf similarity."""
    config = with_network_of(model, config)
    ranker = choose_ranker("neural", model, tokenizer_of(model, config))
    rankers = {"similarity": SimilarityRanker(), "ranker": ranker}
    return compare_rankers(corpora, config, rankers, is_all=is_all)


def compare_rankers(
    corpora: Corpora, config: Config, rankers: Mapping[str, Ranker], *, is_all: bool = False
) -> dict[str, Any]:
    """Measure the recall of rankers on the same clusters, and all paired differences.

    Each cut uses the clusters with more than twice as many paragraphs; with `is_all`, all clusters.
    """
    clusters = corpora.clusters(config)
    recalls = np.stack(
        [
            _recalls(cluster, list(rankers.values()), is_all=is_all)
            for cluster in tracked(clusters, "ranking", lambda: count_all(corpora.paths))
        ]
    )
    if np.isnan(recalls).all():
        raise NothingToChooseError(
            f"{corpora.paths[0]}: every cluster has {2 * CUTS[0]} paragraphs or fewer, "
            "so there is nothing to choose from"
        )
    learned = [ranker.fingerprint[:8] for ranker in rankers.values() if ranker.fingerprint]
    return {
        "all": is_all,
        "signature": f"rougeL recall|stem:yes|whole text|clusters:{len(recalls)}"
        f"|bootstrap:95 %, 1000|ranker:{','.join(learned)}|v:{__version__}",
        "clusters": len(recalls),
        "cuts": [
            _row(cut, dict(zip(rankers, recalls[:, :, column].T)))
            for column, cut in enumerate(CUTS)
        ],
    }


def _label(
    part: tuple[int, list[Cluster]], *, model: Path, config: Config
) -> tuple[int, RankerExamples]:
    number, clusters = part
    return number, label_clusters(clusters, _cached_tokenizer(model, config), config)


def _recalls(cluster: Cluster, rankers: Sequence[Ranker], *, is_all: bool) -> Floats:
    """Return a row per ranker and a column per cut."""
    paragraphs = read_unseen(cluster)
    rankings = [
        [paragraphs[i].text for i in best_first(ranker.scores(cluster.title, paragraphs))]
        for ranker in rankers
    ]
    return recalls_at(cluster.summary or "", rankings, is_all=is_all)


def _row(cut: int, recalls: Mapping[str, Floats]) -> dict[str, Any]:
    """Return the means and differences at one cut; None if every cluster is too small."""
    kept = {name: values[~np.isnan(values)] for name, values in recalls.items()}
    differences = {f"{b} - {a}": kept[b] - kept[a] for a, b in combinations(kept, 2)}
    num_clusters = len(next(iter(kept.values())))
    return {
        "paragraphs": cut,
        "clusters": num_clusters,
        **{
            name: asdict(interval(values)) if num_clusters else None
            for name, values in (kept | differences).items()
        },
        "paper": dict(zip(("similarity", "ranker"), PAPER[cut])),
    }
