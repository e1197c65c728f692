"""Reports and comparisons as self-contained HTML pages: tables, plots and texts.

Plots are hand-written SVG, so a page needs no library and they follow its light or dark colours. The CSS
classes `.a` and `.b` are the two systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hiersum.data.files import write_atomically
from hiersum.evaluation.comparison import METRIC_LABELS, Comparison, Example, Report, Run, points
from hiersum.evaluation.significance import Interval
from hiersum.text.words import count_words

Floats = NDArray[np.float64]

_NUM_TEXTS = 5
_WIDTH = 560  # of a plot, in pixels
_LEFT, _RIGHT = 92, 20
_MAX_DOTS = 3_000
_BINS = 25
_STYLE = """
:root { --text: #1c1f24; --soft: #667080; --line: #d9dee6; --page: #ffffff; --panel: #f6f7f9;
  --a: #2563eb; --b: #d97706; --mark-a: #dbe7ff; --mark-b: #ffe9c7; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8ec; --soft: #98a2b3; --line: #343a44;
  --page: #16181d; --panel: #1f2229; --a: #7aa5ff; --b: #f2b25c; --mark-a: #24406f; --mark-b: #5a4218; } }
body { color: var(--text); background: var(--page); margin: 2rem auto; max-width: 64rem; padding: 0 1rem;
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin-bottom: .2rem } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem }
.soft { color: var(--soft) } code { font-size: .85em; overflow-wrap: anywhere }
table { border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--line); text-align: right }
th:first-child { text-align: left; font-weight: 500; padding-left: 0 }
thead th { color: var(--soft); font-weight: 500; white-space: nowrap }
.wide { overflow-x: auto } .plots { display: grid; gap: 1rem 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)) }
figure { margin: 0 } figcaption { color: var(--soft); margin-bottom: .2rem }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: var(--text) }
.axis { stroke: var(--soft) } .grid { stroke: var(--line) } .line { stroke-width: 2 }
.a { fill: var(--a); stroke: none } .b { fill: var(--b); stroke: none }
.line.a { stroke: var(--a) } .line.b { stroke: var(--b) } .dot { fill: var(--a); fill-opacity: .45 }
.key::before { content: ""; display: inline-block; width: .7em; height: .7em; border-radius: 50%;
  margin-right: .35em } .key.a::before { background: var(--a) } .key.b::before { background: var(--b) }
.key.a, .key.b { margin-right: 1rem }
.example { background: var(--panel); border-radius: 8px; padding: .8rem 1.1rem; margin: .8rem 0 }
.example h3 { font-size: 1rem; margin: 0 0 .4rem } .example p { margin: .5rem 0; overflow-wrap: anywhere }
.example b { display: block; font-weight: 500; color: var(--soft); font-size: .85rem }
mark { color: inherit; border-radius: 3px; padding: 0 .15em } .in-a mark { background: var(--mark-a) }
.in-b mark { background: var(--mark-b) } .example p { max-height: 22rem; overflow-y: auto }
"""


def write_report_page(report: Report, path: Path) -> None:
    """Write the page about one system."""
    (system,), joined = report.systems, report.joined
    plots = [
        ("Mean F1 with its interval", _rouge_plot(report)),
        *(
            (
                f"{METRIC_LABELS[metric]} F1 of the pairs",
                histogram(system.scores.of(metric), label="F1"),
            )
            for metric in system.scores.metrics
        ),
        (
            "Words of a summary and of its reference",
            scatter(
                np.array([count_words(text) for text in joined.references], dtype=np.float64),
                np.array([count_words(text) for text in system.texts], dtype=np.float64),
                labels=("words of the reference", "words of the summary"),
                ids=joined.ids,
            ),
        ),
    ]
    order = np.argsort(system.scores.f1.mean(axis=1), kind="stable").tolist()
    lowest, highest = order[:_NUM_TEXTS], order[::-1][: min(_NUM_TEXTS, len(order) - _NUM_TEXTS)]
    body = [
        *_head(f"Evaluation of {report.names[0]}", report),
        *(f'<div class="wide">{table.to_html()}</div>' for table in report.tables()),
        _figures(plots),
        "<h2>Lowest scores</h2>",
        *(_text_pair(report, row) for row in lowest),
        *(["<h2>Highest scores</h2>"] if highest else []),
        *(_text_pair(report, row) for row in highest),
    ]
    _write(path, f"Evaluation of {report.names[0]}", body)


def write_comparison_page(comparison: Comparison, path: Path) -> None:
    """Write the page that compares two systems."""
    report = comparison.report
    first, second = report.systems
    metric = "rouge2"
    plots = [
        ("Mean F1 with its interval", _rouge_plot(report)),
        (
            f"How far {report.names[0]} is ahead",
            interval_plot(
                [(METRIC_LABELS[m], [d.interval]) for m, d in comparison.differences.items()],
                label="difference of F1 in points",
            ),
        ),
        (
            f"{METRIC_LABELS[metric]} F1 of every pair",
            scatter(
                100 * second.scores.of(metric),
                100 * first.scores.of(metric),
                labels=(report.names[1], report.names[0]),
                ids=report.joined.ids,
            ),
        ),
    ]
    title = f"{report.names[0]} against {report.names[1]}"
    keys = "".join(
        f'<span class="key {kind}">{escape(name)}</span>' for kind, name in zip("ab", report.names)
    )
    body = [
        *_head(title, report),
        f"<p>{keys}</p>",
        *(f'<div class="wide">{table.to_html()}</div>' for table in comparison.tables()),
        _figures(plots),
        "<h2>Where they differ most</h2>",
        '<p class="soft">Marked words are in one summary only.</p>',
        *(_example(example, report.names) for example in comparison.examples),
    ]
    _write(path, title, body)


def _head(title: str, report: Report) -> list[str]:
    notes = "".join(f"<li>{escape(note)}</li>" for note in report.notes)
    return [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{len(report.joined.ids):,} pairs</p>',
        f'<p class="soft"><code>{escape(report.signature)}</code></p>',
        f"<ul>{notes}</ul>" if notes else "",
    ]


def _rouge_plot(report: Report) -> str:
    metrics = report.systems[0].scores.metrics
    groups = [(METRIC_LABELS[m], [s.rouge[m]["f1"] for s in report.systems]) for m in metrics]
    return interval_plot(groups, label="F1 in points")


def _figures(plots: Sequence[tuple[str, str]]) -> str:
    figures = "\n".join(
        f"<figure><figcaption>{escape(caption)}</figcaption>{svg}</figure>"
        for caption, svg in plots
    )
    return f'<h2>Plots</h2><div class="plots">{figures}</div>'


def _text_pair(report: Report, row: int) -> str:
    (system,) = report.systems
    scores = ", ".join(
        f"{METRIC_LABELS[metric]} {points(system.scores.of(metric)[row])}"
        for metric in system.scores.metrics
    )
    return (
        f'<div class="example"><h3>{escape(report.joined.ids[row])}</h3><p class="soft">{scores}</p>'
        f"<p><b>{escape(report.names[0])}</b>{_or_empty(system.texts[row])}</p>"
        f"<p><b>reference</b>{_or_empty(report.joined.references[row])}</p></div>"
    )


def _example(example: Example, names: Sequence[str]) -> str:
    sides = "".join(
        f'<p class="in-{kind}"><b class="key {kind}">{escape(name)}, mean F1 {points(f1)}</b>'
        f"{_marked(runs)}</p>"
        for kind, name, runs, f1 in zip("ab", names, example.marked, example.f1)
    )
    heading = f"{example.id}: {example.title}" if example.title else example.id
    return (
        f'<div class="example"><h3>{escape(heading)}</h3>{sides}'
        f"<p><b>reference</b>{_or_empty(example.reference)}</p></div>"
    )


def _marked(runs: Sequence[Run]) -> str:
    parts = (f"<mark>{escape(r.text)}</mark>" if r.differs else escape(r.text) for r in runs)
    return " ".join(parts) or _or_empty("")


def _or_empty(text: str) -> str:
    return escape(text) if text.strip() else '<span class="soft">(empty)</span>'


def _write(path: Path, title: str, body: Sequence[str]) -> None:
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
    )
    with write_atomically(path) as file:
        file.write((page + "\n".join(body) + "\n</body>\n</html>\n").encode())


@dataclass(frozen=True, slots=True)
class _Scale:
    """A linear map from values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return four to ten round values."""
        step = _round_step((self.high - self.low) / 5)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [step * number for number in range(first, last + 1)]


def interval_plot(groups: Sequence[tuple[str, Sequence[Interval]]], *, label: str) -> str:
    """Draw means with their intervals: a row per group, a mark per system; values in points."""
    values = [100 * v for _, group in groups for i in group for v in (i.low, i.high)]
    low, high = _limits([0.0, *values])
    scale = _Scale(low, high, _LEFT, _WIDTH - _RIGHT)
    row_height = 22 + 14 * len(groups[0][1])
    height = row_height * len(groups) + 44
    parts = [_x_axis(scale, 8, height - 36, label)]
    if low < 0 < high:
        parts.append(_line(scale(0), 8, scale(0), height - 36, "axis"))
    for row, (name, intervals) in enumerate(groups):
        middle = 8 + row_height * (row + 0.5)
        parts.append(_text(_LEFT - 10, middle + 4, name, "end"))
        for place, interval in enumerate(intervals):
            y = middle + 14 * (place - (len(intervals) - 1) / 2)
            parts.append(_whisker(scale, interval, y, "ab"[place], name))
    return _svg(height, parts)


def histogram(values: Floats, *, label: str) -> str:
    """Draw how many pairs have each score."""
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


def scatter(xs: Floats, ys: Floats, *, labels: tuple[str, str], ids: Sequence[str]) -> str:
    """Draw a dot per pair, with its id as tooltip, and the diagonal; labels are for x and y."""
    height, base = 420, 372
    low, high = _limits([0.0, *xs.tolist(), *ys.tolist()])
    x, y = _Scale(low, high, _LEFT - 30, _WIDTH - _RIGHT), _Scale(low, high, base, 12)
    parts = [_x_axis(x, 12, base, labels[0])]
    for tick in y.ticks():
        parts.append(_line(x.start, y(tick), x.end, y(tick), "grid"))
        parts.append(_text(x.start - 8, y(tick) + 4, f"{tick:.10g}", "end"))
    parts.append(_line(x(low), y(low), x(high), y(high), "axis"))
    parts.append(
        f'<text transform="translate(16 {base / 2:.0f}) rotate(-90)" text-anchor="middle">'
        f"{escape(labels[1])}</text>"
    )
    # Thousands of dots overlap and slow the page down; every k-th shows the same cloud.
    for row in range(0, len(ids), max(1, -(-len(ids) // _MAX_DOTS))):
        tip = f"{ids[row]}: {xs[row]:.1f}, {ys[row]:.1f}"
        parts.append(
            f'<circle class="dot" cx="{x(xs[row]):.1f}" cy="{y(ys[row]):.1f}" r="3">'
            f"<title>{escape(tip)}</title></circle>"
        )
    return _svg(height, parts)


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """Return limits slightly wider than the values, but exactly 0 where the lowest is 0."""
    low, high = min(values), max(values)
    margin = 0.05 * (high - low) or 1.0
    return low - margin if low < 0 else low, high + margin


def _round_step(rough: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough)


def _x_axis(scale: _Scale, top: float, base: float, label: str) -> str:
    parts = []
    for tick in scale.ticks():
        parts.append(_line(scale(tick), top, scale(tick), base, "grid"))
        parts.append(_text(scale(tick), base + 16, f"{tick:.10g}", "middle"))
    parts.append(_line(scale.start, base, scale.end, base, "axis"))
    parts.append(_text((scale.start + scale.end) / 2, base + 33, label, "middle"))
    return "".join(parts)


def _whisker(scale: _Scale, interval: Interval, y: float, kind: str, name: str) -> str:
    low, mean, high = (100 * value for value in (interval.low, interval.mean, interval.high))
    tip = f"{name}: {mean:.2f} ({low:.2f} to {high:.2f})"
    ends = (_line(scale(v), y - 4, scale(v), y + 4, f"line {kind}") for v in (low, high))
    bar = _line(scale(low), y, scale(high), y, f"line {kind}")
    dot = f'<circle class="{kind}" cx="{scale(mean):.1f}" cy="{y:.1f}" r="4.5"/>'
    return f"<g><title>{escape(tip)}</title>{bar}{''.join(ends)}{dot}</g>"


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(height: float, parts: Sequence[str]) -> str:
    body = "".join(parts)
    return f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img">{body}</svg>'
