"""The citation scorer: predicts which paragraphs a good summary under this title would cite.

A small network without torch on cheap features, fitted to the citations of written summaries
(`recipes/ranker/fit_scorer.py`). With x the standardized and clipped features of a paragraph,

    score = sigmoid(w . tanh(H x + b) + v . x + c)

Most paragraphs about a bridge do not name it. So the scorer also uses a paragraph's similarity to
those that do (`feedback`, pseudo-relevance feedback: the cosine with the others, each weighted by
its own relevance), and the relevance of its document as a whole.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hiersum.errors import CheckpointError
from hiersum.ranking.ranker import CONFIG, RANKER_FORMAT, read_record, replace_file
from hiersum.ranking.topic import bare_title, find_topic
from hiersum.text.tfidf import TfidfSpace
from hiersum.text.words import query_stems, split_stems
from hiersum.types import Paragraph

Floats = NDArray[np.float64]

FORMAT = 1
KEY = "scorer"
"""The key of the weights in ranker.json."""
MAX_DEVIATION = 3.0
"""Clip features at this many standard deviations, so that a cluster of 1,000 paragraphs is scored
like the largest in training."""
_ARRAYS = ("mean", "scale", "linear", "hidden", "hidden_bias", "output")
_SPOKEN = frozenset("i me my we us our you your yeah okay um uh so well".split())
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z]")
_DIGIT = re.compile(r"\d")

FEATURES = tuple(
    """log_words relative_length title_cosine title_share title_whole centrality feedback feedback_twice
    document_share document_best document_whole document_feedback relative_share relative_feedback
    commonness ends letters digits names spoken leans is_titled log_paragraphs""".split()
)
"""The columns of `features`."""


def features(title: str, paragraphs: Sequence[Paragraph]) -> Floats:
    """Return a row of features per paragraph.

    If no word of the title occurs in the paragraphs, the documents' topic replaces it.
    """
    texts = [paragraph.text for paragraph in paragraphs]
    words = [paragraph.words for paragraph in paragraphs]
    stems = [paragraph.stems for paragraph in paragraphs]
    space = TfidfSpace(texts)
    vectors = space.vectors
    query = query_stems(title)
    is_titled = not query.isdisjoint(chain.from_iterable(stems))
    if not is_titled:
        title = find_topic(_document_texts(paragraphs))
        query = query_stems(title)
    lengths = np.log1p([len(each) for each in words])
    cosine = (vectors @ space.vectors_of([title]).T).toarray()[:, 0]
    share = _title_share(query, stems)
    relevance = share + cosine
    feedback = _cosine_with_others(vectors, relevance)
    twice = _cosine_with_others(vectors, feedback)
    whole = _title_whole(title, stems)
    documents = np.array([paragraph.document for paragraph in paragraphs], dtype=np.int64)
    document_share = _document_mean(share, documents)
    document_feedback = _document_mean(feedback, documents)
    columns = {
        "log_words": lengths,
        "relative_length": lengths - (lengths.mean() if len(lengths) else 0.0),
        "title_cosine": cosine,
        "title_share": share,
        "title_whole": whole,
        "centrality": _cosine_with_others(vectors, np.ones(len(texts))),
        "feedback": feedback,
        "feedback_twice": twice,
        "document_share": document_share,
        "document_best": _document_best(share, documents),
        "document_whole": _document_mean(whole, documents),
        "document_feedback": document_feedback,
        "relative_share": document_share / (document_share.max(initial=0) or 1),
        "relative_feedback": document_feedback / (document_feedback.max(initial=0) or 1),
        "commonness": _commonness(stems),
        "ends": [paragraph.ends_sentence for paragraph in paragraphs],
        "letters": [sum(map(str.isalpha, text)) / (len(text) or 1) for text in texts],
        "digits": [len(_DIGIT.findall(text)) / (len(text) or 1) for text in texts],
        "names": [len(_NAME.findall(text)) / (len(each) or 1) for text, each in zip(texts, words)],
        "spoken": [sum(word in _SPOKEN for word in each) / (len(each) or 1) for each in words],
        "leans": [paragraph.leans_on_another for paragraph in paragraphs],
        "is_titled": np.full(len(texts), is_titled),
        "log_paragraphs": np.full(len(texts), np.log1p(len(texts))),
    }
    return np.column_stack([np.asarray(columns[name], dtype=np.float64) for name in FEATURES])


def _document_texts(paragraphs: Sequence[Paragraph]) -> list[str]:
    by_document: dict[int, list[str]] = {}
    for paragraph in paragraphs:
        by_document.setdefault(paragraph.document, []).append(paragraph.text)
    return ["\n".join(texts) for texts in by_document.values()]


def _title_share(query: set[str], stems: Sequence[Sequence[str]]) -> Floats:
    """Return the share of the title's words that each paragraph has; rare ones count more."""
    found = [query.intersection(each) for each in stems]
    counts = Counter(stem for each in found for stem in each)
    weights = {stem: math.log1p(len(stems) / max(counts[stem], 1)) for stem in query}
    total = sum(weights.values()) or 1.0
    return np.array([sum(weights[stem] for stem in sorted(each)) / total for each in found])


def _title_whole(title: str, stems: Sequence[Sequence[str]]) -> Floats:
    """Return log(1 + n), n the occurrences of the whole title without its qualifier."""
    name = f" {' '.join(split_stems(bare_title(title)))} "
    return np.log1p([f" {' '.join(each)} ".count(name) if name.strip() else 0 for each in stems])


def _cosine_with_others(vectors: sparse.csr_matrix, weights: Floats) -> Floats:
    """Return the cosine of each paragraph with the weighted sum of all others."""
    total = np.asarray(vectors.T @ weights)
    norms = np.asarray(vectors.multiply(vectors).sum(axis=1))[:, 0]  # 1, or 0 for an empty vector
    with_all = np.asarray(vectors @ total)
    products = with_all - weights * norms
    squares = total @ total - 2 * weights * with_all + weights**2 * norms
    result: Floats = np.where(squares > 1e-9, products / np.sqrt(np.maximum(squares, 1e-9)), 0.0)
    return np.clip(result, 0, 1)


def _document_mean(values: Floats, documents: NDArray[np.int64]) -> Floats:
    """Return for each paragraph the mean over its document."""
    result: Floats = (np.bincount(documents, values) / np.bincount(documents).clip(1))[documents]
    return result


def _document_best(values: Floats, documents: NDArray[np.int64]) -> Floats:
    """Return for each paragraph the maximum over its document."""
    best = np.zeros(documents.max(initial=0) + 1)
    np.maximum.at(best, documents, values)
    result: Floats = best[documents]
    return result


def _commonness(stems: Sequence[Sequence[str]]) -> Floats:
    """Return for each paragraph the mean share of the others that have one of its words."""
    counts = Counter(stem for each in stems for stem in set(each))
    others = max(len(stems) - 1, 1)
    return np.array(
        [sum(counts[stem] - 1 for stem in each) / others / (len(each) or 1) for each in stems]
    )


@dataclass(frozen=True, slots=True)
class ScorerWeights:
    """The weights of the module's equation."""

    features: tuple[str, ...]
    mean: Floats
    scale: Floats
    linear: Floats
    """v, a weight for each feature."""
    bias: float
    hidden: Floats
    """H, a row for each hidden unit, if there are any."""
    hidden_bias: Floats
    output: Floats
    """w, a weight for each hidden unit."""

    def logits(self, columns: Floats) -> Floats:
        """Return a logit for each row of features."""
        x = np.clip((columns - self.mean) / self.scale, -MAX_DEVIATION, MAX_DEVIATION)
        hidden = np.tanh(x @ self.hidden.T + self.hidden_bias)
        result: Floats = hidden @ self.output + x @ self.linear + self.bias
        return result

    def to_record(self) -> dict[str, Any]:
        """Return the weights as stored in ranker.json."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        plain = {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in values}
        return {"format": FORMAT, **plain, "features": list(self.features)}

    @classmethod
    def from_record(cls, record: Any) -> ScorerWeights:
        """Return the weights of ranker.json; `ValueError` if they are damaged or too new."""
        found = record.get("format") if isinstance(record, dict) else None
        if found != FORMAT:
            raise ValueError(f"scorer format {found!r}, but this version of hiersum reads {FORMAT}")
        names = record.get("features")
        if not isinstance(names, list) or not names or not set(names) <= set(FEATURES):
            raise ValueError("the scorer has features that this version of hiersum does not know")
        try:
            arrays = {name: np.array(record[name], dtype=np.float64) for name in _ARRAYS}
            bias = float(record["bias"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the scorer is damaged ({error})") from error
        units, width = len(arrays["output"]), len(names)
        arrays["hidden"] = arrays["hidden"].reshape(-1, width) if not units else arrays["hidden"]
        shapes = {**dict.fromkeys(("mean", "scale", "linear"), (width,)), "hidden": (units, width)}
        shapes |= dict.fromkeys(("hidden_bias", "output"), (units,))
        fits = all(arrays[name].shape == shape for name, shape in shapes.items())
        is_finite = math.isfinite(bias) and all(np.isfinite(a).all() for a in arrays.values())
        if not fits or not is_finite or (arrays["scale"] <= 0).any():
            raise ValueError("the scorer is damaged (sizes or numbers do not fit)")
        return cls(features=tuple(names), bias=bias, **arrays)


class CitationRanker:
    """Scores paragraphs by how likely a good summary is to cite them."""

    def __init__(self, weights: ScorerWeights) -> None:
        self.weights = weights
        self._columns = [FEATURES.index(name) for name in weights.features]

    @property
    def fingerprint(self) -> str:
        """A checksum of the weights."""
        record = json.dumps(self.weights.to_record(), sort_keys=True)
        return hashlib.sha256(record.encode()).hexdigest()

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return scores in [0, 1]."""
        if not paragraphs:
            return []
        logits = self.weights.logits(features(title, paragraphs)[:, self._columns])
        scores: list[float] = (1 / (1 + np.exp(-logits))).tolist()
        return scores

    def save(self, folder: Path, *, notes: Mapping[str, Any] | None = None) -> None:
        """Add the scorer to the ranker.json of a model folder; `notes` say how it was fitted."""
        path = folder / CONFIG
        record: dict[str, Any] = {"format": RANKER_FORMAT}
        if path.exists():
            record = read_record(path)
        record[KEY] = {**self.weights.to_record(), "notes": dict(notes or {})}
        replace_file(path, json.dumps(record, indent=2).encode() + b"\n")

    @classmethod
    def load(cls, folder: Path) -> CitationRanker:
        """Load the scorer of a model folder."""
        path = folder / CONFIG
        record = read_record(path)
        if KEY not in record:
            raise CheckpointError(
                f"{path}: has no citation scorer; fit one with recipes/ranker/fit_scorer.py, or set "
                "ranker.kind to neural"
            )
        try:
            return cls(ScorerWeights.from_record(record[KEY]))
        except ValueError as error:
            raise CheckpointError(f"{path}: {error}; copy it again, or fit it again") from error


def has_scorer(folder: Path) -> bool:
    """Whether the ranker of a model folder has a citation scorer."""
    return (folder / CONFIG).exists() and KEY in read_record(folder / CONFIG)
