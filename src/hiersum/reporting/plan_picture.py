"""The plan of a summary as a picture for slides: which sentence comes from which paragraph."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten, wrap
from typing import Any

from hiersum.data.files import check_picture, read_whole, write_picture
from hiersum.errors import DataError, InputError

_INK, _PAPER = "#1e2126", "#f8f7f3"
_COLOURS = ("#2f6690", "#b0512a", "#3d7a4c", "#754c95", "#94681d", "#237a82")
_LEFT, _RIGHT = (0.0, 46.0), (62.0, 108.0)  # the columns, in letters
_LETTERS, _QUOTE = 64, 180
_GAP, _LINE = 0.7, 0.21  # between boxes, in lines; a line, in inches


def read_result(path: Path) -> Mapping[str, Any]:
    """Read the one result of a file that `summarize --json` printed."""
    try:
        result = json.loads(read_whole(path))
        names = [document["name"] for document in result["documents"]]
        for sentence in result["sentences"]:
            [names[source["document"]] for source in sentence["sources"]]
    except (ValueError, TypeError, LookupError) as error:
        raise DataError(
            f"{path}: not a single result; write one with: hiersum summarize ... --json > {path}"
        ) from error
    return dict(result)


def plot_plan(result: Mapping[str, Any], out: Path) -> Path:
    """Draw sentences on the left, the paragraphs they cite on the right, and lines between them.

    The result is a result line, as from `Summary.to_record()`.
    """
    check_picture(out)
    cited = sorted({_place(source) for s in result["sentences"] for source in s["sources"]})
    if not cited:
        raise InputError(f"{out}: cannot be drawn, because no sentence of the result has a source")
    from matplotlib.figure import Figure

    figure = Figure(facecolor="white")
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.96))
    places, below = {}, 0.0
    for document, paragraph in cited:
        name = shorten(Path(result["documents"][document]["name"]).name, _LETTERS - 16)
        quotes = dict.fromkeys(
            shorten(source["quote"], _QUOTE, placeholder=" …")
            for sentence in result["sentences"]
            for source in sentence["sources"]
            if _place(source) == (document, paragraph)
        )
        head = f"{name}, paragraph {paragraph + 1}"
        places[document, paragraph], below = _box(
            axes, _RIGHT, below, head, list(quotes), _colour(document)
        )
    lowest, below = below, 0.0
    for number, sentence in enumerate(result["sentences"], start=1):
        has_support = sentence["support"] is not None  # quoting systems have none
        support = f", support {int(100 * sentence['support'])}%" if has_support else ""
        head = f"{number}{', quoted' if sentence['quoted'] else ''}{support}"
        middle, below = _box(axes, _LEFT, below, head, [sentence["text"]], _INK)
        for place in dict.fromkeys(map(_place, sentence["sources"])):
            _join(axes, middle, places[place], _colour(place[0]))
    height = max(lowest, below)
    title = axes.text(0, -1.6, result["title"], fontsize=15, weight="bold", color=_INK, va="center")
    top = -2.6 if title.get_text() else -0.5
    axes.set(xlim=(-0.5, _RIGHT[1] + 0.5), ylim=(height, top))
    axes.axis("off")
    figure.set_size_inches(12, (height - top) * _LINE)
    return write_picture(figure, out)


def _place(source: Mapping[str, Any]) -> tuple[int, int]:
    return source["document"], source["paragraph"]


def _colour(document: int) -> str:
    return _COLOURS[document % len(_COLOURS)]


def _box(
    axes: Any, column: tuple[float, float], top: float, head: str, texts: list[str], colour: str
) -> tuple[float, float]:
    """Draw a box with a head and wrapped texts; return its middle and the top of the next one."""
    from matplotlib.patches import FancyBboxPatch

    left, right = column
    lines = [line for text in texts for line in wrap(text, _LETTERS)]
    height = len(lines) + 1.8
    axes.add_patch(
        FancyBboxPatch(
            (left, top),
            right - left,
            height,
            boxstyle="round,pad=0,rounding_size=0.5",
            facecolor=_PAPER,
            edgecolor=colour,
            linewidth=1.2,
        )
    )
    look = {"fontfamily": "DejaVu Sans", "va": "center", "x": left + 1}
    axes.text(y=top + 0.9, s=head, fontsize=8.5, weight="bold", color=colour, **look)
    for number, line in enumerate(lines):
        axes.text(y=top + 1.9 + number, s=line, fontsize=9.5, color=_INK, **look)
    return top + height / 2, top + height + _GAP


def _join(axes: Any, start: float, end: float, colour: str) -> None:
    """Draw a curve from a sentence to a paragraph."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    left, right = _LEFT[1], _RIGHT[0]
    middle = (left + right) / 2
    points = [(left, start), (middle, start), (middle, end), (right, end)]
    curve = Curve(points, [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4])
    axes.add_patch(PathPatch(curve, fill=False, edgecolor=colour, linewidth=1.8, alpha=0.8))
