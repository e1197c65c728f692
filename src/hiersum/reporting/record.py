"""The data of a report beyond the result itself, as JSON.

The documents and their paragraphs, the ranking, the graphs between paragraphs, and the coverage of
each document. Large clusters are cut, and `cut` says what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiersum.config import Config
from hiersum.errors import ConfigError, MissingDependencyError
from hiersum.graphs.discourse import discourse_graph
from hiersum.graphs.similarity import similarity_graph
from hiersum.text.paragraphs import read_paragraphs, split_document
from hiersum.types import Document, Paragraph, Place, Summary

MAX_PARAGRAPHS = 2_000
MAX_PARAGRAPH_CHARACTERS = 5_000
MAX_NODES = 40
MAX_EDGES = 300
MIN_WEIGHT = 0.01
TITLE_NODE = -1
"""The title in a graph of attention; other nodes are ranks."""
_one_at_a_time = Lock()  # spaCy's vocabulary is not thread-safe


def report_record(summary: Summary, config: Config | None = None) -> dict[str, Any]:
    """Return the data that the view shows (see docs/formats.md)."""
    config = config or Config()
    texts = [split_document(d) for d in summary.documents]
    rank_of = {place: rank for rank, p in enumerate(summary.paragraphs) for place in p.places}
    cited = {Place(s.document, s.paragraph) for of in summary.sentences for s in of.sources}
    shown = _shown(texts, rank_of, cited)
    graphs, missing = _graphs(summary, config)
    return {
        "documents": [
            _document_record(document, number, texts[number], shown, rank_of)
            for number, document in enumerate(summary.documents)
        ],
        "ranking": list(_ranking(summary)),
        "coverage": [
            {
                "paragraphs": len(texts[number]),
                "read": sum(place.document == number for place in rank_of),
                "cited": sum(place.document == number for place in cited),
            }
            for number in range(len(texts))
        ],
        "graphs": graphs,
        "missing": missing,
        "cut": _cuts(summary, texts, shown),
    }


def warm_up() -> None:
    """Load the models that the first report needs."""
    with _one_at_a_time, suppress(MissingDependencyError, ConfigError):
        discourse_graph([Paragraph("A town.", 0, 0)])


def _shown(
    texts: Sequence[Sequence[str]], rank_of: Mapping[Place, int], cited: set[Place]
) -> set[Place]:
    """Choose the paragraphs to show: cited, then read, then others."""
    places = [Place(d, p) for d, paragraphs in enumerate(texts) for p in range(len(paragraphs))]
    last = len(rank_of)
    places.sort(key=lambda place: (place not in cited, rank_of.get(place, last)))
    return set(places[:MAX_PARAGRAPHS])


def _document_record(
    document: Document,
    number: int,
    texts: Sequence[str],
    shown: set[Place],
    rank_of: Mapping[Place, int],
) -> dict[str, Any]:
    return {
        "name": document.name,
        "url": document.url,
        "num_paragraphs": len(texts),
        "paragraphs": [
            {
                "position": position,
                "text": text[:MAX_PARAGRAPH_CHARACTERS],
                "rank": rank_of.get(Place(number, position)),
            }
            for position, text in enumerate(texts)
            if Place(number, position) in shown
        ],
    }


def _ranking(summary: Summary) -> Iterator[dict[str, Any]]:
    """Yield the paragraphs that were read, best first."""
    scores = summary.scores or (None,) * len(summary.paragraphs)
    for paragraph, score in zip(summary.paragraphs[:MAX_PARAGRAPHS], scores):
        yield {
            "document": paragraph.document,
            "position": paragraph.position,
            "score": None if score is None else round(score, 4),
            "also_in": [[place.document, place.position] for place in paragraph.also_in],
        }


def _graphs(summary: Summary, config: Config) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the graphs of the best paragraphs, and the reasons for missing ones."""
    nodes = summary.paragraphs[:MAX_NODES]
    graphs = [_graph_record("similarity", _similarity(summary, nodes, config))]
    missing = []
    try:
        with _one_at_a_time:
            graphs.append(_graph_record("discourse", discourse_graph(nodes)))
    except (MissingDependencyError, ConfigError) as error:
        missing.append(str(error))
    for layer, heads in enumerate(summary.attention):
        weights = np.array(heads)
        has_title = weights.shape[-1] > len(summary.paragraphs)
        weights = weights[:, : len(nodes) + has_title, : len(nodes) + has_title]
        first = TITLE_NODE if has_title else 0
        for head, matrix in [(None, weights.mean(0)), *enumerate(weights)]:
            record = _graph_record("attention", matrix, first=first, is_directed=True)
            graphs.append({**record, "layer": layer, "head": head})
    return graphs, missing


def _similarity(
    summary: Summary, nodes: Sequence[Paragraph], config: Config
) -> NDArray[np.float64]:
    """Return tf-idf similarities, with idf over all paragraphs of the cluster."""
    own = {place for paragraph in summary.paragraphs for place in paragraph.places}
    others = [
        paragraph.text
        for paragraph in read_paragraphs(summary.documents)
        if own.isdisjoint(paragraph.places)
    ]
    texts = [paragraph.text for paragraph in summary.paragraphs] + others
    return similarity_graph(texts, range(len(nodes)))


def _graph_record(
    kind: str, weights: NDArray[np.float64], *, first: int = 0, is_directed: bool = False
) -> dict[str, Any]:
    """Return the strongest edges as [from, to, weight], without self-loops."""
    kept = weights.copy()
    np.fill_diagonal(kept, 0)
    if not is_directed:
        kept = np.triu(kept)
    rows, columns = np.nonzero(kept >= MIN_WEIGHT)
    order = np.argsort(-kept[rows, columns], kind="stable")[:MAX_EDGES]
    return {
        "kind": kind,
        "directed": is_directed,
        "nodes": list(range(first, first + len(weights))),
        "edges": [
            [int(row) + first, int(column) + first, round(float(kept[row, column]), 3)]
            for row, column in zip(rows[order], columns[order])
        ],
    }


def _cuts(summary: Summary, texts: Sequence[Sequence[str]], shown: set[Place]) -> list[str]:
    cuts = []
    number, num_shown, num_read = sum(map(len, texts)), len(shown), len(summary.paragraphs)
    if number > num_shown:
        cuts.append(f"Of {number:,} paragraphs the {num_shown:,} that matter most are shown here.")
    limit = MAX_PARAGRAPH_CHARACTERS
    if num_long := sum(len(texts[place.document][place.position]) > limit for place in shown):
        cuts.append(f"Very long paragraphs ({num_long:,}) are shown up to {limit:,} characters.")
    if num_read > MAX_NODES:
        graph = f"the best {MAX_NODES} are drawn as a graph"
        cuts.append(f"Of {num_read:,} paragraphs that were read, {graph}.")
    return cuts
