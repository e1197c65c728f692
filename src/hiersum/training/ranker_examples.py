"""Training examples for the ranker: paragraphs as pieces, each with its title and label.

A label is the ROUGE-2 recall of a paragraph against the summary (the paper's section 3.1). All
paragraphs are in flat arrays, four bytes a piece, so that millions fit in memory.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hiersum.config import Config
from hiersum.data.batches import bucket
from hiersum.data.prepare import empty_clones
from hiersum.ranking.lstm import Packed
from hiersum.ranking.neural import encode
from hiersum.text.overlap import ngram_overlap
from hiersum.text.paragraphs import read_paragraphs
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

    titles: Packed
    paragraphs: Packed
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


def _packed(ids: NDArray[np.int32], starts: Ints, chosen: Ints) -> Packed:
    lengths = starts[chosen + 1] - starts[chosen]
    offsets = np.cumsum(lengths) - lengths
    rows = np.repeat(starts[chosen] - offsets, lengths) + np.arange(lengths.sum())
    return Packed.of(torch.from_numpy(ids[rows].astype(np.int64)), torch.from_numpy(lengths))
