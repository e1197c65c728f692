"""What the ranker learns from: paragraphs as pieces, each with its title and its label.

A label is the ROUGE-2 recall of a paragraph against the summary (the paper's section 3.1). All
paragraphs of all clusters stand in flat arrays, four bytes a piece, so that millions fit in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hiersum.config import Config
from hiersum.data.bucketing import bucket
from hiersum.errors import DataError
from hiersum.ranking.lstm import Packed
from hiersum.ranking.neural import encode
from hiersum.text.duplicates import is_clone
from hiersum.text.overlap import ngram_overlap
from hiersum.text.paragraphs import read_paragraphs
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster, Paragraph

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RankerBatch:
    """Some paragraphs, the titles they belong to, and what is to be learned."""

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
        """A checksum that tells one set of examples from another."""
        digest = hashlib.sha256()
        for array in astuple(self):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def batches(self, batch_tokens: int, generator: np.random.Generator) -> list[Ints]:
        """Return batches of paragraphs of like length, in random order; each paragraph is in one."""
        order = generator.permutation(len(self))
        lengths = np.diff(self.paragraph_starts)[order]
        shapes = np.stack([np.ones_like(lengths), lengths, np.zeros_like(lengths)], axis=1)
        batches = [order[batch] for batch in bucket(shapes, batch_tokens)]
        return [batches[index] for index in generator.permutation(len(batches))]

    def batch(self, indices: Ints) -> RankerBatch:
        """Return paragraphs as tensors, with each of their titles once."""
        titles, title_of = np.unique(self.title_of[indices], return_inverse=True)
        return RankerBatch(
            _packed(self.title_ids, self.title_starts, titles),
            _packed(self.paragraph_ids, self.paragraph_starts, indices),
            torch.from_numpy(title_of),
            torch.from_numpy(self.labels[indices]),
        )


def label_clusters(
    clusters: Iterable[Cluster], tokenizer: Tokenizer, config: Config
) -> RankerExamples:
    """Make examples of all paragraphs of clusters; clones of the target are left out.

    Raises:
        DataError: a cluster has no summary, or there is nothing to learn from.
    """
    max_tokens = config.ranker_training.max_tokens
    titles: list[list[int]] = []
    ids: list[NDArray[np.int32]] = []
    lengths: list[int] = []
    title_of: list[int] = []
    labels: list[NDArray[np.float32]] = []
    for cluster in clusters:
        paragraphs = read_unseen(cluster, config)
        texts = [paragraph.text for paragraph in paragraphs]
        encoded = encode(texts, tokenizer, max_tokens)
        ids.append(np.fromiter(chain.from_iterable(encoded), np.int32))
        lengths += map(len, encoded)
        title_of += [len(titles)] * len(texts)
        titles += encode([cluster.title], tokenizer, max_tokens)
        labels.append(ngram_overlap(cluster.summary or "", texts, 2).recall.astype(np.float32))
    if not lengths:
        raise DataError("there are no paragraphs to learn from in these clusters")
    return RankerExamples(
        np.concatenate(ids),
        _starts(lengths),
        np.fromiter(chain.from_iterable(titles), np.int32),
        _starts([len(title) for title in titles]),
        np.array(title_of),
        np.concatenate(labels),
    )


def read_unseen(cluster: Cluster, config: Config) -> list[Paragraph]:
    """Return the paragraphs of a cluster with a target, without those that copy the target.

    Raises:
        DataError: it has no target.
    """
    if not cluster.summary:
        raise DataError(
            f"cluster {cluster.id}: has no summary to learn from or to be measured by; "
            "leave it out with --skip-bad"
        )
    paragraphs = read_paragraphs(cluster.documents, config.data, keep_all=cluster.graph is not None)
    texts = [paragraph.text for paragraph in paragraphs]
    clones = is_clone(texts, cluster.summary, recall=config.data.clone_recall)
    return [paragraph for paragraph, clone in zip(paragraphs, clones) if not clone]


def _starts(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _packed(ids: NDArray[np.int32], starts: Ints, chosen: Ints) -> Packed:
    lengths = starts[chosen + 1] - starts[chosen]
    offsets = np.cumsum(lengths) - lengths
    rows = np.repeat(starts[chosen] - offsets, lengths) + np.arange(lengths.sum())
    return Packed.of(torch.from_numpy(ids[rows].astype(np.int64)), torch.from_numpy(lengths))
