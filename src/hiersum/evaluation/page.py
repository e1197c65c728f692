"""A report or a comparison as one self-contained HTML page: tables, plots, and texts to read."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from hiersum.data.files import write_atomically
from hiersum.evaluation.comparison import Comparison, Example
from hiersum.evaluation.differences import Run
from hiersum.evaluation.plots import histogram, interval_plot, scatter
from hiersum.evaluation.report import METRIC_LABELS, Report, points
from hiersum.text.words import count_words

_NUM_TEXTS = 5
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
    """Write the page of one system."""
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
    """Write the page of two systems."""
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
