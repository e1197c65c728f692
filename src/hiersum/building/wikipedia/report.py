"""What came of a dump and its pages: counts by reason, sizes beside the paper's, as table and picture."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hiersum.building.report import PAPER, Tally, mean, report_of, share
from hiersum.building.wikipedia.articles import SPLITS
from hiersum.data.files import write_atomically
from hiersum.errors import MissingDependencyError
from hiersum.text.words import count_words
from hiersum.types import Cluster

PAPER_FOUND = 0.789
"""Share of the original documents that the paper's authors could crawl."""
PAPER_SPLITS = {"train": 1_579_360, "valid": 38_144, "test": 38_205}
_BINS_PER_DECADE = 10
_MAX_REASONS = 8
_SIZES = {
    "paragraphs per cluster": "paragraphs per cluster",
    "words per paragraph": "tokens per paragraph",
    "words per target": "tokens per target",
}
_BLUE, _ORANGE, _INK = "#2f6db5", "#d1603d", "#333333"


def count_sizes(cluster: Cluster) -> Tally:
    """Count a cluster in the histograms of sizes; bins grow by the same factor."""
    paragraphs = [text for document in cluster.documents for text in document.paragraphs or ()]
    tally = Tally()
    tally[_bin("paragraphs per cluster", len(paragraphs))] += 1
    tally[_bin("words per target", count_words(cluster.summary or ""))] += 1
    for text in paragraphs[:50]:  # enough to see how long they are
        tally[_bin("words per paragraph", count_words(text))] += 1
    return tally


def wiki_report(
    reading: Mapping[str, int],
    pages: Mapping[str, int],
    joined: Tally,
    *,
    crawl: Mapping[str, int],
) -> dict[str, Any]:
    """Turn the tallies of the three stages into the numbers that people read.

    Args:
        reading: of the dump's chunks.
        pages: of the source files.
        joined: of the clusters.
        crawl: what came of addresses that were crawled.
    """
    sizes = report_of(joined)
    cited, found = joined["cited"], joined["cited and found"]
    articles = joined["articles"]
    names = ["documents per cluster", "paragraphs per cluster", "words per target"]
    names += ["sampled clusters", "words per paragraph", "target bigrams in all documents"]
    names += [name for name in ("tokens per paragraph", "tokens per target") if name in sizes]
    return {
        "dump pages": reading.get("pages of the dump", 0),
        "articles": articles,
        "skipped": _by_kind(reading, "skipped: "),
        "crawled": dict(sorted(crawl.items())),
        "source pages": pages.get("pages", 0),
        "dropped pages": _by_kind(pages, "dropped: "),
        "cited addresses": cited,
        "cited addresses found": share(found, cited),
        "cited pages per article": mean(found, articles),
        "searched pages per article": mean(joined["searched and found"], articles),
        "duplicate pages": joined["duplicate pages"],
        "clone paragraphs": sizes["clone paragraphs"],
        "clusters": sizes["clusters"],
        "split": {split: joined[f"split: {split}"] for split in SPLITS},
        "dropped": sizes["dropped"],
        **{name: sizes[name] for name in names},
        "histograms": {name: _histogram(joined, name) for name in _SIZES},
    }


def wiki_rows(report: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the report as rows of a table: what, ours, the paper's."""
    rows = []
    for name, value in report.items():
        if name in ("plan", "histograms"):
            continue
        if isinstance(value, dict):
            paper = PAPER_SPLITS if name == "split" else {}
            rows += [
                (f"{name}: {key}", f"{number:,}", f"{paper[key]:,}" if key in paper else "")
                for key, number in value.items()
            ]
        elif name == "cited addresses found" or name.startswith("target bigrams"):
            rows.append((name, f"{value:.1%}", f"{PAPER_FOUND:.1%}" if "found" in name else ""))
        else:
            paper_name = _SIZES.get(name, name)
            unit = " tokens" if paper_name != name else ""
            known = f"{PAPER[paper_name]:,}{unit}" if paper_name in PAPER else ""
            rows.append((name, f"{value:,}", known))
    return rows


def draw_report(report: Mapping[str, Any], path: Path) -> None:
    """Draw sizes beside the paper's means, and why pages and articles were dropped."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError("drawing a report", "build") from error
    figure = Figure(figsize=(11, 6.4), layout="constrained", dpi=120)
    axes = figure.subplots(2, 3)
    for place, (name, paper_name) in zip(axes[0], _SIZES.items()):
        _draw_sizes(place, report["histograms"][name], PAPER[paper_name], name)
    _draw_reasons(axes[1][0], report["skipped"], "dump pages skipped")
    _draw_reasons(axes[1][1], report["dropped pages"], "source pages dropped")
    _draw_reasons(axes[1][2], report["dropped"], "articles without a cluster")
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    with write_atomically(path) as file:
        file.write(picture.getvalue())


def _draw_sizes(axes: Any, histogram: Mapping[str, int], paper: float, name: str) -> None:
    edges = [float(edge) for edge in histogram]
    factor = 10 ** (1 / _BINS_PER_DECADE)
    widths = [edge * (factor - 1) for edge in edges]
    axes.bar(edges, list(histogram.values()), widths, align="edge", color=_BLUE, edgecolor="white")
    axes.axvline(paper, color=_ORANGE, linestyle="--", linewidth=1.2)
    axes.annotate(
        f"the paper's mean: {paper:g}{' tokens' if name.startswith('words') else ''}",
        (paper, 1.02),
        xycoords=("data", "axes fraction"),
        ha="center",
        fontsize=8,
        color=_ORANGE,
    )
    decades = range(math.ceil(math.log10(max(*edges, paper, 10) * factor)) + 1)
    axes.set_xscale("log")
    axes.set_xlim(1, 10 ** decades[-1])
    axes.set_xticks([10**power for power in decades], [f"{10**power:,}" for power in decades])
    axes.tick_params(which="minor", labelbottom=False)
    axes.set_title(name, fontsize=10, color=_INK, pad=18)
    _dress(axes)


def _draw_reasons(axes: Any, reasons: Mapping[str, int], title: str) -> None:
    most = sorted(reasons.items(), key=lambda item: item[1])[-_MAX_REASONS:]
    axes.set_title(title, fontsize=10, color=_INK)
    _dress(axes)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    if not most:
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center", color=_INK, fontsize=9)
        return
    axes.barh([name for name, _ in most], [number for _, number in most], 0.6, color=_BLUE)
    for row, (_, number) in enumerate(most):
        axes.annotate(f" {number:,}", (number, row), va="center", fontsize=8, color=_INK)
    axes.set_xlim(0, 1.25 * most[-1][1])
    axes.set_ylim(len(most) - _MAX_REASONS - 0.5, len(most) - 0.5)  # few bars are no blocks


def _dress(axes: Any) -> None:
    axes.tick_params(labelsize=8, colors=_INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _bin(name: str, size: int) -> str:
    return f"{name} > {math.floor(_BINS_PER_DECADE * math.log10(max(size, 1)))}"


def _histogram(tally: Tally, name: str) -> dict[str, int]:
    """Return how many there are from each lower edge on."""
    prefix = f"{name} > "
    bins = sorted(
        (int(k.removeprefix(prefix)), n) for k, n in tally.items() if k.startswith(prefix)
    )
    return {f"{10 ** (number / _BINS_PER_DECADE):.3g}": count for number, count in bins}


def _by_kind(tally: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): number
        for name, number in sorted(tally.items())
        if name.startswith(prefix) and number
    }
