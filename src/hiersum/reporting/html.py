"""A report: summaries in one self-contained HTML file.

The view is plain JavaScript modules (`assets/`). The live page loads them one by one; a report
inlines them as one script. Its content policy allows only that script and style, by checksum, so
that nothing in a title or paragraph can run.

Besides the result, the data has the documents and their paragraphs, the ranking, the graphs between
paragraphs, and the coverage of each document. Large clusters are cut, and `cut` says what is missing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

import hiersum
from hiersum.data.files import write_atomically
from hiersum.errors import ConfigError, MissingDependencyError
from hiersum.graphs.discourse import discourse_graph
from hiersum.graphs.similarity import similarity_graph
from hiersum.text.paragraphs import read_paragraphs, split_document
from hiersum.types import Document, Paragraph, Place, Summary

ASSETS = files("hiersum.reporting") / "assets"
MODULES = (
    *("dom", "result", "selection", "disagreements", "summary", "sources", "ranking", "coverage"),
    *("circle", "graph", "view", "theme", "report"),
)
"""The scripts of a report, in order of dependency."""
STYLES = ("base.css", "view.css", "panels.css", "adapt.css")
_IMPORT = re.compile(r"^import [^;]*;\n", re.M)
_EXPORT = re.compile(r"^export (?=(?:function|class) (\w+))", re.M)
_PLACE = re.compile(r"\{\{(\w+)\}\}")
# Characters that could end the element around the data, or a line of a script.
_UNSAFE = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def write_report(summary: Summary, path: Path) -> None:
    """Write the report of one summary."""
    write_results([result_with_report(summary)], path)


def write_results(
    results: Sequence[Mapping[str, Any]], path: Path, *, num_summaries: int | None = None
) -> None:
    """Write one report of several results, each a result line with its `report`.

    `num_summaries` is the number of summaries, if not all are shown.
    """
    is_cut = num_summaries is not None and num_summaries > len(results)
    note = f"The first {len(results)} of {num_summaries:,} summaries." if is_cut else ""
    with write_atomically(path) as file:
        file.write(render_report(results, note=note).encode("utf-8", "replace"))


def result_with_report(summary: Summary) -> dict[str, Any]:
    """Return a result with the data that the view shows."""
    return {**summary.to_record(), "report": report_record(summary)}


def render_report(results: Sequence[Mapping[str, Any]], *, note: str = "") -> str:
    """Return the page that shows results, each a result line with its `report`."""
    data = {"results": results, "is_comparison": False, "note": note}
    title = (results[0]["title"] if results else "") or "Summary"
    return _fill(title=escape(f"{title} · hiersum"), plain=_plain(results), data=as_safe_json(data))


@cache
def empty_report() -> str:
    """Return a report without data; the browser fills in results."""
    plain = "<p>This report needs JavaScript, which runs in this file alone.</p>"
    return _fill(title="Summary · hiersum", plain=plain, data="")


def _fill(**values: str) -> str:
    """Fill the report's template with values, the style and the script."""
    style, script = "\n".join(map(_asset, STYLES)), _joined_modules()
    policy = (
        f"default-src 'none'; script-src '{_checksum(script)}'; style-src '{_checksum(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    known = {
        **values,
        "policy": policy,
        "version": hiersum.__version__,
        "icon": f"data:image/svg+xml,{quote(_asset('icon.svg'))}",
        "style": style,
        "script": script,
    }
    return _PLACE.sub(lambda match: known[match[1]], _asset("report.html"))


def as_safe_json(value: Any) -> str:
    """Return JSON that is safe inside any HTML element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda match: _UNSAFE[match[0]], text)


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


@cache
def _joined_modules() -> str:
    """Return the modules of the view as one script, each in its own scope."""
    return "\n".join(_as_scope(_asset(f"{name}.js")) for name in MODULES)


def _as_scope(module: str) -> str:
    names = ", ".join(_EXPORT.findall(module))
    body = _EXPORT.sub("", _IMPORT.sub("", module))
    return f"const {{ {names} }} = (() => {{\n{body}return {{ {names} }};\n}})();"


def _checksum(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _plain(results: Iterable[Mapping[str, Any]]) -> str:
    """Return the summaries and their sources for readers without JavaScript."""
    parts = []
    for result in results:
        parts.append(f"<h1>{escape(result['title'] or 'Summary')}</h1>")
        if result.get("answered") is False:
            parts.append("<p>No document answers this.</p>")
        for sentence in result["sentences"]:
            shown = escape(sentence["shown"]) + " (disputed)" * sentence["disputed"]
            places = (
                f"{result['documents'][source['document']]['name']}, "
                f"paragraph {source['paragraph'] + 1}"
                for source in sentence["sources"]
            )
            parts.append(f"<p>{shown} <small>({escape('; '.join(places))})</small></p>")
    return "".join(parts)


MAX_PARAGRAPHS = 2_000
MAX_PARAGRAPH_CHARACTERS = 5_000
MAX_NODES = 40
MAX_EDGES = 300
MIN_WEIGHT = 0.01
TITLE_NODE = -1
"""The title in a graph of attention; other nodes are ranks."""
_one_at_a_time = Lock()  # spaCy's vocabulary is not thread-safe


def report_record(summary: Summary) -> dict[str, Any]:
    """Return the data that the view shows (see docs/formats.md)."""
    texts = [split_document(d) for d in summary.documents]
    rank_of = {place: rank for rank, p in enumerate(summary.paragraphs) for place in p.places}
    cited = {Place(s.document, s.paragraph) for of in summary.sentences for s in of.sources}
    shown = _shown(texts, rank_of, cited)
    graphs, missing = _graphs(summary)
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


def _graphs(summary: Summary) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the graphs of the best paragraphs, and the reasons for missing ones."""
    nodes = summary.paragraphs[:MAX_NODES]
    graphs = [_graph_record("similarity", _similarity(summary, len(nodes)))]
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


def _similarity(summary: Summary, num_nodes: int) -> NDArray[np.float64]:
    """Return tf-idf similarities of the best paragraphs, with idf over all of the cluster."""
    own = {place for paragraph in summary.paragraphs for place in paragraph.places}
    others = [
        paragraph.text
        for paragraph in read_paragraphs(summary.documents)
        if own.isdisjoint(paragraph.places)
    ]
    texts = [paragraph.text for paragraph in summary.paragraphs] + others
    return similarity_graph(texts, range(num_nodes))


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
