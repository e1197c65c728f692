"""The interface of rankers, those that need no training, and their files in a model folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hiersum.errors import CheckpointError
from hiersum.jobs.atomic import replacing
from hiersum.text.overlap import ngram_overlap
from hiersum.types import Paragraph

RANKER_FILES = ("ranker.json", "ranker.safetensors")
"""The files of a trained ranker in a model folder."""
CONFIG, WEIGHTS = RANKER_FILES
RANKER_FORMAT = 1


class Ranker(Protocol):
    """Scores paragraphs by how much a summary under a title needs them."""

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return one score per paragraph, at least 0; higher is better.

        With `data.on_topic_only`, scores are multiplied by the weights of documents.
        """

    @property
    def fingerprint(self) -> str | None:
        """A checksum of its weights; None if it has none."""


def best_first(scores: Sequence[float]) -> list[int]:
    """Return the indices of scores, highest first; ties keep reading order."""
    return sorted(range(len(scores)), key=lambda index: -scores[index])


class SimilarityRanker:
    """Scores a paragraph by its tf-idf cosine with the title (the paper's baseline)."""

    fingerprint = None

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return the cosines, in [0, 1].

        If no word of the title occurs in the cluster, the cluster's centroid replaces the title.
        """
        from hiersum.text.tfidf import TfidfSpace, cosines  # loads scipy

        space = TfidfSpace([paragraph.text for paragraph in paragraphs])
        query = space.vectors_of([title])
        if query.nnz == 0:
            query = space.centroid
        scores: list[float] = cosines(space.vectors, query)[:, 0].tolist()
        return scores


class ReadingOrder:
    """Keeps paragraphs in order (the paper's Flat Transformer without ranking)."""

    fingerprint = None

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return 1, 1/2, 1/3, ..."""
        return [1 / (1 + index) for index in range(len(paragraphs))]


@dataclass(frozen=True, slots=True)
class OracleRanker:
    """Scores a paragraph by its recall of the target's bigrams, the label of the trained ranker.

    For training data only: the network reads what its target was made from, so it does not learn to
    write what it cannot have read.
    """

    target: str
    fingerprint = "oracle"
    """Distinguishes its output from that of rankers that do not see the target."""

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return the ROUGE-2 recalls, in [0, 1]."""
        texts = [paragraph.text for paragraph in paragraphs]
        scores: list[float] = ngram_overlap(self.target, texts, 2).recall.tolist()
        return scores


def read_record(path: Path) -> dict[str, Any]:
    """Return the content of a ranker.json."""
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{path.parent}: has no {path.name}, so no trained ranker; "
            "train one with: hiersum train-ranker"
        ) from error
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: damaged, not valid JSON; copy it again") from error
    found = record.get("format") if isinstance(record, dict) else None
    if found != RANKER_FORMAT:
        raise CheckpointError(
            f"{path}: format {found!r}, but this version of hiersum reads {RANKER_FORMAT}; "
            "install the version that wrote it, or train the ranker again"
        )
    return dict(record)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be written ({error.strerror})") from error
