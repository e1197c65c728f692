"""Small plots as SVG, drawn by hand so that a page needs nothing but itself.

Colours and text come from the page's style sheet: `.a` and `.b` are the systems, `.axis` and `.grid` the
frame. Values are points of 100.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from hiersum.evaluation.resampling import Interval

Floats = NDArray[np.float64]

_WIDTH = 560
_LEFT, _RIGHT = 92, 20
_MAX_POINTS = 3_000
_BINS = 25


@dataclass(frozen=True, slots=True)
class _Scale:
    """From values to places between two edges."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round values, four to ten of them."""
        step = _round_step((self.high - self.low) / 5)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [step * number for number in range(first, last + 1)]


def interval_plot(groups: Sequence[tuple[str, Sequence[Interval]]], *, label: str) -> str:
    """Draw means with their intervals, a line for each group and a mark for each of its systems."""
    shown = [(name, [_points(i) for i in intervals]) for name, intervals in groups]
    values = [v for _, intervals in shown for i in intervals for v in (i.low, i.high)]
    low, high = _limits([0.0, *values])
    scale = _Scale(low, high, _LEFT, _WIDTH - _RIGHT)
    row_height = 22 + 14 * len(shown[0][1])
    height = row_height * len(shown) + 44
    parts = [_x_axis(scale, 8, height - 36, label)]
    if low < 0 < high:
        parts.append(_line(scale(0), 8, scale(0), height - 36, "axis"))
    for row, (name, intervals) in enumerate(shown):
        middle = 8 + row_height * (row + 0.5)
        parts.append(_text(_LEFT - 10, middle + 4, name, "end"))
        for place, interval in enumerate(intervals):
            y = middle + 14 * (place - (len(intervals) - 1) / 2)
            tip = f"{name}: {interval.mean:.2f} ({interval.low:.2f} to {interval.high:.2f})"
            parts.append(_whisker(scale, interval, y, "ab"[place], tip))
    return _svg(height, parts)


def histogram(values: Floats, *, label: str) -> str:
    """Draw how many pairs have which score."""
    counts, edges = np.histogram(100 * values, bins=_BINS, range=(0, 100))
    height, base = 180, 140
    x = _Scale(0, 100, _LEFT - 50, _WIDTH - _RIGHT)
    y = _Scale(0, max(1, int(counts.max())), base, 12)
    bars = "".join(
        f'<rect class="a" x="{x(left):.1f}" y="{y(int(count)):.1f}" '
        f'width="{x(right) - x(left) - 1:.1f}" height="{base - y(int(count)):.1f}">'
        f"<title>{left:.0f} to {right:.0f}: {count}</title></rect>"
        for count, left, right in zip(counts, edges[:-1], edges[1:])
        if count
    )
    most = _text(_LEFT - 56, y(int(counts.max())) + 4, f"{counts.max():,}", "end")
    return _svg(height, [_x_axis(x, 12, base, label), most, bars])


def scatter(across: Floats, up: Floats, *, labels: tuple[str, str], ids: Sequence[str]) -> str:
    """Draw a dot for each pair; on the diagonal both values are the same.

    Args:
        across: values on the horizontal axis.
        up: values on the vertical axis.
        labels: what the axes show.
        ids: shown when the pointer rests on a dot.
    """
    height, base = 420, 372
    low, high = _limits([0.0, *across.tolist(), *up.tolist()])
    x, y = _Scale(low, high, _LEFT - 30, _WIDTH - _RIGHT), _Scale(low, high, base, 12)
    parts = [_x_axis(x, 12, base, labels[0])]
    for tick in y.ticks():
        parts.append(_line(x.start, y(tick), x.end, y(tick), "grid"))
        parts.append(_text(x.start - 8, y(tick) + 4, _number(tick), "end"))
    parts.append(_line(x(low), y(low), x(high), y(high), "axis"))
    parts.append(
        f'<text transform="translate(16 {base / 2:.0f}) rotate(-90)" text-anchor="middle">'
        f"{escape(labels[1])}</text>"
    )
    # Thousands of dots hide each other and slow a page down; every k-th shows the same cloud.
    for row in range(0, len(ids), max(1, -(-len(ids) // _MAX_POINTS))):
        tip = f"{ids[row]}: {across[row]:.1f}, {up[row]:.1f}"
        parts.append(
            f'<circle class="dot" cx="{x(across[row]):.1f}" cy="{y(up[row]):.1f}" r="3">'
            f"<title>{escape(tip)}</title></circle>"
        )
    return _svg(height, parts)


def _points(interval: Interval) -> Interval:
    return Interval(100 * interval.mean, 100 * interval.low, 100 * interval.high)


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """Return bounds a little beyond the values; an axis that begins at 0 begins there."""
    low, high = min(values), max(values)
    margin = 0.05 * (high - low) or 1.0
    return low - margin if low < 0 else low, high + margin


def _round_step(rough: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough)


def _number(value: float) -> str:
    return f"{value:.10g}"


def _x_axis(scale: _Scale, top: float, base: float, label: str) -> str:
    parts = []
    for tick in scale.ticks():
        parts.append(_line(scale(tick), top, scale(tick), base, "grid"))
        parts.append(_text(scale(tick), base + 16, _number(tick), "middle"))
    parts.append(_line(scale.start, base, scale.end, base, "axis"))
    parts.append(_text((scale.start + scale.end) / 2, base + 33, label, "middle"))
    return "".join(parts)


def _whisker(scale: _Scale, interval: Interval, y: float, kind: str, tip: str) -> str:
    ends = "".join(
        _line(scale(value), y - 4, scale(value), y + 4, f"line {kind}")
        for value in (interval.low, interval.high)
    )
    bar = _line(scale(interval.low), y, scale(interval.high), y, f"line {kind}")
    dot = f'<circle class="{kind}" cx="{scale(interval.mean):.1f}" cy="{y:.1f}" r="4.5"/>'
    return f"<g><title>{escape(tip)}</title>{bar}{ends}{dot}</g>"


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(height: float, parts: Sequence[str]) -> str:
    body = "".join(parts)
    return f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img">{body}</svg>'
