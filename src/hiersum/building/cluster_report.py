"""What was built: counts, sizes beside the paper's, and a picture of them.

Sizes in words and tokens, and overlap, are measured on a sample: the first clusters of every part.
Clusters share most of their documents, and measuring all would take longer than building them.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hiersum.building.workplace import Tally
from hiersum.data.files import write_atomically
from hiersum.text.overlap import ngram_overlap
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import count_words
from hiersum.types import Cluster

SPLITS = ("train", "valid", "test")
SAMPLE_PER_PART = 32
PAPER = {
    "paragraphs per cluster": 525.0,
    "tokens per paragraph": 70.1,
    "tokens per target": 139.4,
    "cited addresses found": 0.789,
    "split": {"train": 1_579_360, "valid": 38_144, "test": 38_205},
}
"""WikiSum in the paper's section 4."""
_HISTOGRAMS = ("paragraphs per cluster", "words per paragraph", "words per target")
_BINS_PER_DECADE = 10
_MAX_REASONS = 8
_BLUE, _ORANGE, _INK = "#2f6db5", "#d1603d", "#333333"


def count_cluster(cluster: Cluster, *, num_clones: int) -> Tally:
    """Count one cluster."""
    return Counter(
        {
            "clusters": 1,
            "documents": len(cluster.documents),
            "paragraphs": len(_paragraphs(cluster)),
            "target words": count_words(cluster.summary or ""),
            "clones": num_clones,
        }
    )


def measure_sample(cluster: Cluster, tokenizer: Tokenizer | None) -> Tally:
    """Measure one cluster of the sample."""
    bodies = ["\n".join(document.paragraphs or ()) for document in cluster.documents]
    paragraphs = _paragraphs(cluster)
    target = cluster.summary or ""
    overlap = ngram_overlap(target, [bodies[0], "\n".join(bodies)], 2, stem=False)
    tally = Counter(
        {
            "sampled": 1,
            "sampled paragraphs": len(paragraphs),
            "sampled words": sum(map(count_words, paragraphs)),
            "sampled bigrams": int(overlap.target_total[0]),
            "sampled bigrams in the first document": int(overlap.matches[0]),
            "sampled bigrams in all documents": int(overlap.matches[1]),
        }
    )
    if tokenizer is not None:
        tally["sampled tokens"] = sum(map(len, tokenizer.encode_many(paragraphs)))
        tally["sampled target tokens"] = len(tokenizer.encode(target))
    return tally


def count_sizes(cluster: Cluster) -> Tally:
    """Count a cluster in the histograms of sizes, whose bins grow by a constant factor."""
    paragraphs = _paragraphs(cluster)
    sizes = [("paragraphs per cluster", len(paragraphs))]
    sizes += [("words per target", count_words(cluster.summary or ""))]
    sizes += [("words per paragraph", count_words(text)) for text in paragraphs[:50]]
    return Counter(
        f"{name} > {math.floor(_BINS_PER_DECADE * math.log10(max(size, 1)))}"
        for name, size in sizes
    )


def report_of(tally: Tally) -> dict[str, Any]:
    """Return the report of a build from articles."""
    clusters, sampled = tally["clusters"], tally["sampled"]
    articles, bigrams = tally["articles"], tally["sampled bigrams"]
    paragraphs = tally["sampled paragraphs"]
    report = {
        "articles": articles,
        "clusters": clusters,
        "dropped": _by_kind(tally, "dropped: "),
        "clone paragraphs": tally["clones"],
        "supported leads": _share(tally["supported"], articles),
        "documents per cluster": _mean(tally["documents"], clusters),
        "paragraphs per cluster": _mean(tally["paragraphs"], clusters),
        "words per target": _mean(tally["target words"], clusters),
        "sampled clusters": sampled,
        "words per paragraph": _mean(tally["sampled words"], paragraphs),
        "target bigrams in the first document": _share(
            tally["sampled bigrams in the first document"], bigrams
        ),
        "target bigrams in all documents": _share(
            tally["sampled bigrams in all documents"], bigrams
        ),
    }
    if tally["sampled tokens"]:
        report["tokens per paragraph"] = _mean(tally["sampled tokens"], paragraphs)
        report["tokens per target"] = _mean(tally["sampled target tokens"], sampled)
    return report


def wiki_report(
    reading: Mapping[str, int], pages: Mapping[str, int], joined: Tally, crawl: Mapping[str, int]
) -> dict[str, Any]:
    """Return the report of a build from Wikipedia.

    Args:
        reading: the tally of the dump.
        pages: the tally of the source files.
        joined: the tally of the clusters.
        crawl: crawled URLs by outcome.
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
        "cited addresses found": _share(found, cited),
        "cited pages per article": _mean(found, articles),
        "searched pages per article": _mean(joined["searched and found"], articles),
        "duplicate pages": joined["duplicate pages"],
        "clone paragraphs": sizes["clone paragraphs"],
        "clusters": sizes["clusters"],
        "split": {split: joined[f"split: {split}"] for split in SPLITS},
        "dropped": sizes["dropped"],
        **{name: sizes[name] for name in names},
        "histograms": {name: _histogram(joined, name) for name in _HISTOGRAMS},
    }


def report_rows(report: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return a report as rows of a table: name, ours, the paper's."""
    rows = []
    for name, value in report.items():
        if name in ("plan", "histograms"):
            continue
        paper: Any = PAPER.get(_paper_name(name), "")
        if isinstance(value, dict):
            for key, number in value.items():
                known = f"{paper[key]:,}" if paper else ""
                rows.append((f"{name}: {key}", f"{number:,}", known))
        elif name in ("supported leads", "cited addresses found") or name.startswith("target big"):
            rows.append((name, f"{value:.1%}", f"{paper:.1%}" if paper else ""))
        else:
            unit = " tokens" if name.startswith("words") else ""
            rows.append((name, f"{value:,}", f"{paper:,}{unit}" if paper else ""))
    return rows


def draw_report(report: Mapping[str, Any], path: Path) -> None:
    """Draw sizes beside the paper's means, and why pages and articles were dropped."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.4), layout="constrained", dpi=120)
    axes = figure.subplots(2, 3)
    for place, name in zip(axes[0], _HISTOGRAMS):
        _draw_sizes(place, report["histograms"][name], name)
    _draw_reasons(axes[1][0], report["skipped"], "dump pages skipped")
    _draw_reasons(axes[1][1], report["dropped pages"], "source pages dropped")
    _draw_reasons(axes[1][2], report["dropped"], "articles without a cluster")
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    with write_atomically(path) as file:
        file.write(picture.getvalue())


def _draw_sizes(axes: Any, histogram: Mapping[str, int], name: str) -> None:
    paper: Any = PAPER[_paper_name(name)]
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
    _style(axes)


def _draw_reasons(axes: Any, reasons: Mapping[str, int], title: str) -> None:
    most = sorted(reasons.items(), key=lambda item: item[1])[-_MAX_REASONS:]
    axes.set_title(title, fontsize=10, color=_INK)
    _style(axes)
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
    axes.set_ylim(len(most) - _MAX_REASONS - 0.5, len(most) - 0.5)  # keeps a few bars thin


def _style(axes: Any) -> None:
    axes.tick_params(labelsize=8, colors=_INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _paragraphs(cluster: Cluster) -> list[str]:
    return [text for document in cluster.documents for text in document.paragraphs or ()]


def _paper_name(name: str) -> str:
    """The paper gives sizes in tokens; they stand beside ours in words."""
    return name.replace("words per", "tokens per")


def _histogram(tally: Tally, name: str) -> dict[str, int]:
    """Return the count of each bin by its lower edge."""
    bins = sorted((int(number), count) for number, count in _by_kind(tally, f"{name} > ").items())
    return {f"{10 ** (number / _BINS_PER_DECADE):.3g}": count for number, count in bins}


def _by_kind(tally: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): number
        for name, number in sorted(tally.items())
        if name.startswith(prefix) and number
    }


def _mean(total: int, number: int) -> float:
    return round(total / number, 1) if number else 0.0


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
