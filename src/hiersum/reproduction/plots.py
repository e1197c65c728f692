"""The results of an experiment as pictures: scores, losses, ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hiersum.data.files import write_atomically
from hiersum.errors import MissingDependencyError
from hiersum.evaluation.rouge import TABLE_1
from hiersum.reproduction.paper_numbers import METRICS

Record = Mapping[str, Any]
_INK, _BLUE, _ORANGE, _GREY = "#333333", "#2f6db5", "#d1603d", "#9aa3ad"
_TITLES = dict(zip(METRICS, ("ROUGE-1", "ROUGE-2", "ROUGE-L")))


def draw_plots(record: Record, folder: Path) -> list[Path]:
    """Draw what there is to draw as SVG files in a folder; return them.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError("drawing plots", "train") from error
    matplotlib.rcParams["svg.hashsalt"] = "hiersum"  # the same record gives the same file
    drawn = []
    for name, draw in (("scores", _scores), ("losses", _losses), ("ranking", _ranking)):
        figure = Figure(layout="constrained")
        if not draw(figure, record):
            continue
        path = folder / f"{name}.svg"
        with write_atomically(path) as file:
            figure.savefig(file, format="svg", metadata={"Date": None})
        drawn.append(path)
    return drawn


def _scores(figure: Any, record: Record) -> bool:
    """Every row's F1 with its interval, and the paper's number as a hollow mark."""
    rows: Sequence[Record] = record["rows"]
    if not rows:
        return False
    figure.set_size_inches(10, 1.1 + 0.32 * len(rows))
    places = range(len(rows), 0, -1)
    axes_of = figure.subplots(1, len(METRICS), sharey=True)
    for metric, axes in zip(METRICS, axes_of):
        for place, row in zip(places, rows):
            score = row["rouge"][metric]
            is_undertrained = bool(row["training"] and row["training"]["undertrained"])
            axes.plot([score["low"], score["high"]], [place, place], color=_BLUE, linewidth=1.6)
            axes.plot(
                score["mean"], place, "o", color=_BLUE, markersize=5,
                markerfacecolor="white" if is_undertrained else _BLUE, clip_on=False,
            )  # fmt: skip
            if row["paper"]:
                axes.plot(row["paper"][metric], place, "D", color=_GREY, markersize=4)
        axes.set_xlim(left=0)
        _dress(axes, f"{_TITLES[metric]} F1", "")
    axes_of[0].set_yticks(list(places), [row["label"] for row in rows], fontsize=8)
    axes_of[0].set_ylim(0.4, len(rows) + 0.6)
    figure.supxlabel(
        "circles: here, hollow if undertrained, with 95 % intervals; "
        "grey diamonds: the paper's numbers on other data",
        fontsize=8,
        color=_INK,
    )
    return True


def _losses(figure: Any, record: Record) -> bool:
    """Validation losses over the tokens that were learned from."""
    rows = [r for r in record["rows"] if r["training"] and r["training"].get("curve")]
    curves = {r["label"]: r["training"]["curve"] for r in rows if not r["against_shorter"]}
    if not curves:
        return False
    figure.set_size_inches(9, 4)
    axes = figure.subplots()
    for number, (label, curve) in enumerate(curves.items()):
        tokens = [point["million_tokens"] for point in curve]
        style = "-" if number < 10 else "--"  # there are ten colours
        losses = [point["loss"] for point in curve]
        axes.plot(tokens, losses, style, marker="o", markersize=3, label=label)
    axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    _dress(axes, "validation loss per target token", "million tokens, sources and targets")
    return True


def _ranking(figure: Any, record: Record) -> bool:
    """Table 1 as lines."""
    cuts = [c for c in (record["ranking"] or {}).get("cuts", []) if c["clusters"]]
    if not cuts:
        return False
    figure.set_size_inches(6, 3.6)
    axes = figure.subplots()
    paragraphs = [cut["paragraphs"] for cut in cuts]
    for number, (name, colour) in enumerate((("similarity", _ORANGE), ("ranker", _BLUE))):
        means = [cut[name]["mean"] for cut in cuts]
        errors = [
            [cut[name]["mean"] - cut[name]["low"] for cut in cuts],
            [cut[name]["high"] - cut[name]["mean"] for cut in cuts],
        ]
        axes.errorbar(paragraphs, means, errors, color=colour, capsize=3, marker="o", label=name)
        paper = [TABLE_1[cut][number] for cut in paragraphs]
        axes.plot(
            paragraphs, paper, "--D", color=colour, alpha=0.4, markersize=4,
            label=f"{name}, paper's, on other data",
        )  # fmt: skip
    axes.set_xticks(paragraphs)
    axes.legend(fontsize=7, frameon=False)
    _dress(axes, "ROUGE-L recall of the first paragraphs", "paragraphs read")
    return True


def _dress(axes: Any, title: str, label: str) -> None:
    axes.set_title(title, fontsize=10, color=_INK, loc="left")
    axes.set_xlabel(label, fontsize=8, color=_INK)
    axes.tick_params(labelsize=8, colors=_INK)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
