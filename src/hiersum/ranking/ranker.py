"""The interface of rankers, how to open one by name, and the rankers that need no training.

A new ranker is a class with `scores` and `fingerprint`, a name in `KINDS`, and a branch in
`choose_ranker`. Rankers of other packages need none of this file (docs/extending.md).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hiersum.config.plugins import load_plugin
from hiersum.errors import CheckpointError, ConfigError
from hiersum.jobs.atomic import replacing
from hiersum.text.overlap import ngram_overlap
from hiersum.types import Paragraph

if TYPE_CHECKING:
    from hiersum.text.tokenizer import Tokenizer

RANKER_FILES = ("ranker.json", "ranker.safetensors")
"""The files of a trained ranker in a model folder."""
CONFIG, WEIGHTS = RANKER_FILES
RANKER_FORMAT = 1
KINDS = ("auto", "similarity", "neural", "cited", "none", "oracle")


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


def choose_ranker(
    kind: str,
    folder: Path | None = None,
    tokenizer: Tokenizer | None = None,
    *,
    target: str | None = None,
) -> Ranker:
    """Return the ranker named by `ranker.kind`.

    Args:
        kind: `cited`: the folder's citation scorer; `neural`: the paper's LSTM ranker; `auto`: the
            first of these that the folder has, else similarity; `none`: keep the order. Any other
            name is a plugin (`hiersum.rankers`).
        folder: a model folder; None if there is no model.
        tokenizer: the tokenizer of that folder.
        target: the text that `oracle` ranks by.
    """
    if kind not in KINDS:
        ranker: Ranker = load_plugin("rankers", kind, KINDS)()
        return ranker
    if kind == "none":
        return ReadingOrder()
    if kind == "oracle":
        if target is None:
            raise ConfigError(
                "ranker.kind is oracle, which ranks by the target: only hiersum prepare knows it"
            )
        return OracleRanker(target)
    if kind in ("neural", "cited") and folder is None:
        raise ConfigError(
            f"ranker.kind is {kind}, which needs a model with a trained ranker; "
            "name one with --model"
        )
    if kind == "similarity" or folder is None:
        return SimilarityRanker()
    from hiersum.ranking.scorer import CitationRanker, has_scorer  # loads scipy

    if kind == "cited" or (kind == "auto" and has_scorer(folder)):
        return CitationRanker.load(folder)
    if tokenizer is None:
        return SimilarityRanker()
    if kind == "auto" and not any((folder / name).exists() for name in RANKER_FILES):
        return SimilarityRanker()
    from hiersum.ranking.neural import NeuralRanker

    return NeuralRanker.load(folder, tokenizer)
