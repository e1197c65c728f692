"""Plot loss, validation and learning rate of training runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hiersum.data.files import check_picture, write_picture
from hiersum.errors import InputError
from hiersum.training.run_folder import read_metrics

_INK, _BLUE, _ORANGE = "#333333", "#2f6db5", "#d1603d"


def plot_runs(runs: Sequence[Path], out: Path) -> Path:
    """Plot the curves of one or more runs."""
    check_picture(out)
    metrics = {run.name: list(read_metrics(run / "metrics.jsonl")) for run in runs}
    for run, lines in zip(runs, metrics.values()):
        if not lines:
            raise InputError(f"{run}: has no measurements yet; wait for the first")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    loss, score, rate = figure.subplots(1, 3)
    for number, (name, lines) in enumerate(metrics.items()):
        colour = f"C{number}" if len(metrics) > 1 else None
        _draw(loss, lines, "plain_loss", colour or _BLUE, f"{name}: training")
        _draw(loss, lines, "valid_loss", colour or _ORANGE, f"{name}: validation", marker="o")
        for metric, style in (("rouge1", ":"), ("rouge2", "-"), ("rougeL", "--")):
            label = f"{name}: {metric.replace('rouge', 'ROUGE-')}"
            _draw(score, lines, f"valid_{metric}", colour or _ORANGE, label, style=style)
        _draw(rate, lines, "learning_rate", colour or _INK, name)
    _dress(loss, "cross entropy per token")
    _dress(score, "validation ROUGE F1")
    _dress(rate, "learning rate")
    return write_picture(figure, out)


def _draw(
    axes: Any, lines: list[dict[str, Any]], name: str, colour: str, label: str, **look: str
) -> None:
    points = [(line["step"], line[name]) for line in lines if name in line]
    if points:
        steps, values = zip(*points)
        axes.plot(
            steps,
            values,
            color=colour,
            label=label,
            linewidth=1.3,
            linestyle=look.get("style", "-"),
            marker=look.get("marker", "o" if len(points) == 1 else ""),
            markersize=3,
        )


def _dress(axes: Any, title: str) -> None:
    axes.set_title(title, fontsize=10, color=_INK, loc="left")
    axes.set_xlabel("step", fontsize=8, color=_INK)
    axes.tick_params(labelsize=8, colors=_INK)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.has_data():
        axes.legend(fontsize=7, frameon=False)
    else:
        axes.text(0.5, 0.5, "not measured", ha="center", va="center", transform=axes.transAxes)
