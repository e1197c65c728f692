"""The finished table as a picture: each system's QA score and rating with its interval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hiersum.data.files import write_atomically
from hiersum.errors import InputError, MissingDependencyError
from hiersum.humaneval.score_report import PAPER, Finding, ScoreReport, plain_name

_FORMATS = ("svg", "png", "pdf")
_INK, _BLUE, _ORANGE = "#333333", "#2f6db5", "#d1603d"


def plot_scores(report: ScoreReport, out: Path) -> Path:
    """Draw means with intervals, and the paper's numbers for systems of the same name.

    Raises:
        InputError: the picture has no known format.
        MissingDependencyError: matplotlib is not installed.
    """
    kind = out.suffix.lstrip(".").lower()
    if kind not in _FORMATS:
        raise InputError(f"{out}: give the picture a name that ends in .{', .'.join(_FORMATS)}")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError("drawing scores", "train") from error
    matplotlib.rcParams["svg.hashsalt"] = "hiersum"  # the same scores give the same file
    findings = [
        (finding, scale, label, number)
        for finding, scale, label, number in (
            (report.qa, 100, "QA score", 0),
            (report.rating, 1, "rating (best minus worst)", 1),
        )
        if finding is not None
    ]
    systems = report.study.systems
    size = (4.6 * len(findings), 1.5 + 0.42 * len(systems))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, len(findings), squeeze=False)[0]
    for axes, (finding, scale, label, number) in zip(panels, findings):
        _draw(axes, report, finding, scale, label, number)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    with write_atomically(out) as file:
        figure.savefig(
            file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None
        )
    return out


def _draw(
    axes: Any, report: ScoreReport, finding: Finding, scale: int, label: str, number: int
) -> None:
    systems = report.study.systems
    paper = {plain_name(name): values[number] for name, values in PAPER.items()}
    rows = range(len(systems))
    means = [interval.mean * scale for interval in finding.means]
    below = [(i.mean - i.low) * scale for i in finding.means]
    above = [(i.high - i.mean) * scale for i in finding.means]
    share = f"{100 * report.confidence:g} %"
    axes.errorbar(
        means, rows, xerr=[below, above], fmt="o", color=_BLUE, capsize=3, label=f"this study, {share}"
    )  # fmt: skip
    known = [(paper[plain_name(s)], row) for row, s in zip(rows, systems) if plain_name(s) in paper]
    if known:
        values, places = zip(*known)
        axes.plot(
            values, places, "D", color=_ORANGE, fillstyle="none", label="the paper, other data"
        )
    if number:
        axes.axvline(0, color=_INK, linewidth=0.6)
    axes.set_yticks(list(rows), systems)
    axes.set_ylim(len(systems) - 0.5, -0.5)
    axes.set_xlabel(label, fontsize=9, color=_INK)
    axes.tick_params(labelsize=9, colors=_INK)
    axes.locator_params(axis="x", nbins=6)
    axes.grid(alpha=0.25, axis="x")
    axes.spines[["top", "right"]].set_visible(False)
