"""The report of an experiment: the paper's tables, notes, texts and plots, from its JSON record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hiersum.data.files import style_axes, write_atomically, write_picture
from hiersum.evaluation.comparison import METRIC_LABELS, Table, p_value, with_interval
from hiersum.evaluation.rouge import CUTS, TABLE_1
from hiersum.jobs.progress import spoken
from hiersum.reproduction import systems
from hiersum.reproduction.systems import LONGER, METRICS, TABLE_3

Record = Mapping[str, Any]

UNDERTRAINED = " \N{DOUBLE DAGGER}"
_NONE = "-"
_METRIC_NAMES = tuple(METRIC_LABELS[metric] for metric in METRICS)
_WITHHELD = "(left out: text of the corpus)"
_MARKDOWN = re.compile(r"[\\`*_<>\[\]|#]")
_INK, _BLUE, _ORANGE, _GREY = "#333333", "#2f6db5", "#d1603d", "#9aa3ad"


def write_report(record: Record, out: Path) -> Path:
    """Write report.json, report.md and plots into a folder; return the path of report.md."""
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "report.json", json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    _write(out / "report.md", to_markdown(record, draw_plots(record, out)))
    return out / "report.md"


def to_text(record: Record) -> str:
    """Return the tables and notes for the terminal."""
    parts = [f"{title}\n{table.to_text()}" for title, table in _tables(record)]
    return "\n\n".join([*parts, "\n".join(_notes(record))])


def to_markdown(record: Record, plots: Sequence[Path] = ()) -> str:
    """Return the whole report as Markdown."""
    lines = [f"# {record['experiment']}: the paper's experiments on other data", ""]
    for title, table in _tables(record):
        lines += [f"## {title}", "", table.to_markdown(), ""]
    lines += [f"- {note}" for note in _notes(record)]
    if plots:
        lines += ["", "## Plots", "", *(f"![{path.stem}]({path.name})" for path in plots)]
    lines += _texts(record)
    lines += ["", "## Stages", "", _stage_table(record).to_markdown()]
    return "\n".join(lines) + "\n"


def _tables(record: Record) -> Iterator[tuple[str, Table]]:
    recall = "ROUGE-L recall of the first L' paragraphs against the target"
    for title, table in (
        (f"Table 1: {recall}", ranking_table(record)),
        ("Table 2: ROUGE F1 of every system", main_table(record)),
        ("Table 2, footnote: the same weights on longer input", longer_table(record)),
        ("Table 3: HT without its parts", ablation_table(record)),
        ("Whether the systems read their input", reading_table(record)),
        ("Other seeds", seed_table(record)),
        ("What the networks learned from", training_table(record)),
        ("What the summaries are like", measure_table(record)),
    ):
        if table is not None and table.rows:
            yield title, table


def _notes(record: Record) -> Iterator[str]:
    yield (
        f"* The paper's numbers: {record['paper']}. They were measured on other data and cannot be "
        "compared with ours; the order of the systems can."
    )
    if any(map(_is_undertrained, record["rows"])):
        yield (
            f"{UNDERTRAINED.strip()} Undertrained: learned from less than {systems.ENOUGH:.0%} of the "
            f"paper's {systems.MILLION_TOKENS:,.0f} million tokens, or its validation loss fell by more "
            f"than {systems.STILL_FALLING:.1%} in the last quarter of training. Such a row says little "
            "of its system."
        )
    yield (
        "Intervals are 95 % bootstrap intervals over the test clusters. p against HT: approximate "
        "randomisation, for ROUGE-1 / 2 / L, corrected for the number of rows by Holm's method. "
        "Trainings are compared with those of the same seeds: a row trained once with the first "
        "training of HT."
    )
    yield (
        "Reading: each test cluster is paired with another one. A system that ignores its input writes "
        "the same for both, and gains nothing from the right sources."
    )
    if record.get("start"):
        yield _start_note(record)
    if record["rows"]:
        test = record["test"]
        left_out = f"; {test['left_out']:,} left out" if test["left_out"] else ""
        yield f"Test clusters scored: {test['scored']:,}{left_out}. {record['signature']}"
    ranking = record["ranking"]
    if ranking and ranking["cuts"]:
        which = (
            "all clusters" if ranking.get("all") else "clusters with more than twice L' paragraphs"
        )
        yield f"Table 1 holds {which}. {ranking['signature']}"
    elif ranking:
        yield f"Table 1 could not be measured: {ranking['reason']}."
    given = [r["label"] for r in record["rows"] if r["training"] and r["training"]["given"]]
    if given:
        yield f"Not trained here but given, each with its own vocabulary: {', '.join(given)}."
    if record["pending"]:
        yield f"Not finished yet: {', '.join(record['pending'])}."


def _start_note(record: Record) -> str:
    """Say what every network took from the weights it began with."""
    trained = [r for r in record["rows"] if r["training"] and not r["row"].endswith(LONGER)]
    shares = [
        f"{row['label']} {started['taken'] / row['training']['parameters']:.1%}"
        for row in trained
        if (started := row["training"].get("started"))
    ]
    return (
        f"All networks began from {record['start']}. Share of their weights that they took from it: "
        f"{', '.join(shares)}. The rest is new: global layers and the multiple of the rank, silent at "
        "first, and the slots of T-DMCA, which has no relative positions and no attention to a source."
    )


def _texts(record: Record) -> list[str]:
    """The paper's output table: every system's summaries of the same clusters."""
    if not record["texts"]:
        return []
    labels = {row["row"]: row["label"] for row in record["rows"]}
    lines = ["", "## What the systems write"]
    for shown in record["texts"]:
        lines += ["", f"### {_one_line(shown['title'] or shown['id'])}", ""]
        lines += [f"- **Gold**: {_one_line(shown['gold'] or _WITHHELD)}"]
        for row, text in shown["systems"].items():
            said = _WITHHELD if text is None else _one_line(text) or "(nothing)"
            lines.append(f"- **{labels[row]}**: {said}")
    return lines


def _stage_table(record: Record) -> Table:
    stages = record["stages"]
    total = {name: sum(s[name] for s in stages) for name in ("seconds", "processor_seconds")}
    rows = [
        (s["stage"], spoken(s["seconds"]), f"{s['processor_seconds']:,.0f}")
        for s in (*stages, {"stage": "all", **total})
    ]
    return Table(("stage", "time", "processor seconds"), tuple(rows))


def _one_line(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split()))


def _write(path: Path, text: str) -> None:
    with write_atomically(path) as file:
        file.write(text.encode())


def ranking_table(record: Record) -> Table | None:
    """Table 1: ROUGE-L recall of the first paragraphs, for similarity and for the ranker."""
    ranking = record["ranking"]
    if not ranking or not ranking["cuts"]:
        return None
    cuts = {cut["paragraphs"]: cut for cut in ranking["cuts"]}
    rows = []
    for place, (name, key) in enumerate((("Similarity", "similarity"), ("Ranking", "ranker"))):
        ours = [with_interval(cuts[cut][key]) for cut in CUTS]
        rows.append((name, *ours, *(f"{TABLE_1[cut][place]:.2f}" for cut in CUTS)))
    rows.append(("clusters", *(f"{cuts[cut]['clusters']:,}" for cut in CUTS), *[""] * len(CUTS)))
    header = ("Methods", *(f"{paper}L'={cut}" for paper in ("", "paper* ") for cut in CUTS))
    return Table(header, tuple(rows))


def main_table(record: Record) -> Table:
    """Table 2: every system."""
    return _score_table(r for r in record["rows"] if r["row"] not in TABLE_3 or r["row"] == "ht")


def ablation_table(record: Record) -> Table | None:
    """Table 3: HT and its ablations."""
    rows = [row for row in record["rows"] if row["row"] in TABLE_3]
    if all(row["row"] == "ht" for row in rows):
        return None
    return _score_table({**row, "label": "HT"} if row["row"] == "ht" else row for row in rows)


def _score_table(rows: Iterable[Record]) -> Table:
    header = ("Model", *_METRIC_NAMES, "p against HT", "validation loss", "paper* R-1 / R-2 / R-L")
    cells = (
        (
            row["label"] + UNDERTRAINED * _is_undertrained(row),
            *(with_interval(row["rouge"][metric]) for metric in METRICS),
            _p_values(row["against_ht"]),
            _NONE if row["row"].endswith(LONGER) else _loss(row["training"]),
            " / ".join(f"{row['paper'][m]:.2f}" for m in METRICS) if row["paper"] else _NONE,
        )
        for row in rows
    )
    return Table(header, tuple(cells))


def longer_table(record: Record) -> Table | None:
    """The paper's footnote: the gain of each network from longer input at test time."""
    rows = [
        (
            row["label"].replace(" (train on", ": train on").rstrip(")"),
            *(with_interval(row["against_shorter"][metric], "+.2f") for metric in METRICS),
            _p_values(row["against_shorter"]),
        )
        for row in record["rows"]
        if row["against_shorter"]
    ]
    return Table(("Gain from longer input", *_METRIC_NAMES, "p"), tuple(rows)) if rows else None


def reading_table(record: Record) -> Table | None:
    """Whether summaries depend on the sources."""
    rows = [
        (
            row["label"],
            f"{100 * row['reading']['differ']:.1f} %",
            *(with_interval(row["reading"]["gain"][metric], "+.2f") for metric in METRICS),
        )
        for row in record["rows"]
        if row.get("reading")
    ]
    names = (f"{name}, right minus wrong sources" for name in _METRIC_NAMES)
    return (
        Table(("Model", "summaries of two clusters differ", *names), tuple(rows)) if rows else None
    )


def seed_table(record: Record) -> Table | None:
    """The scores of systems that were trained several times."""
    rows = []
    for row in record["rows"]:
        seeds = row.get("seeds", ())
        if len(seeds) > 1:
            cells = (" / ".join(f"{seed[metric]:.2f}" for seed in seeds) for metric in METRICS)
            rows.append((row["label"], str(len(seeds)), *cells))
    return Table(("Model", "seeds", *_METRIC_NAMES), tuple(rows)) if rows else None


def training_table(record: Record) -> Table | None:
    """The training data of each network, and whether it was enough."""
    rows = [r for r in record["rows"] if r["training"] and not r["row"].endswith(LONGER)]
    header = (
        *("Network", "weights", "updates", "million tokens", "of the paper's", "epochs"),
        *("validation loss", "fell at last", "time", "undertrained"),
    )
    return Table(header, tuple(_training_row(row) for row in rows)) if rows else None


def _training_row(row: Record) -> tuple[str, ...]:
    training = row["training"]
    if training["given"]:
        return (row["label"], _NONE, "given", *[_NONE] * 6, "not known")
    fall = training["late_fall"]
    return (
        row["label"] + UNDERTRAINED * _is_undertrained(row),
        f"{training['parameters']:,}",
        f"{training['updates']:,}",
        f"{training['million_tokens']:,.3g}",
        f"{100 * training['share_of_paper']:.2g} %",
        f"{training['epochs']:.2f}",
        _loss(training),
        _NONE if fall is None else f"{100 * fall:.1f} %",
        spoken(training["seconds"]),
        "yes" if training["undertrained"] else "no",
    )


def measure_table(record: Record) -> Table:
    """Length and repetition."""
    rows = [
        (row["label"], f"{row['words']:.1f}", f"{100 * row['repetition']:.1f} %")
        for row in record["rows"]
    ]
    return Table(("Model", "words", "repeated trigrams"), tuple(rows))


def _is_undertrained(row: Record) -> bool:
    return bool(row["training"] and row["training"]["undertrained"])


def _p_values(difference: Record | None) -> str:
    if difference is None:
        return _NONE
    found = (difference[metric] for metric in METRICS)
    return " / ".join(p_value(of.get("p_corrected", of["p_randomisation"])) for of in found)


def _loss(training: Record | None) -> str:
    return f"{training['validation_loss']:.3f}" if training and not training["given"] else _NONE


def draw_plots(record: Record, folder: Path) -> list[Path]:
    """Plot scores, losses and ranking, if recorded, as SVG files; return the paths."""
    from matplotlib.figure import Figure

    plots = {"scores": _draw_scores, "losses": _draw_losses, "ranking": _draw_ranking}
    drawn = []
    for name, draw in plots.items():
        figure = Figure(layout="constrained")
        draw(figure, record)
        if figure.axes:
            drawn.append(write_picture(figure, folder / f"{name}.svg"))
    return drawn


def _draw_scores(figure: Any, record: Record) -> None:
    """Draw every row's F1 with its interval, and the paper's number."""
    rows: Sequence[Record] = record["rows"]
    if not rows:
        return
    figure.set_size_inches(10, 1.1 + 0.32 * len(rows))
    places = range(len(rows), 0, -1)
    axes_of = figure.subplots(1, len(METRICS), sharey=True)
    for metric, axes in zip(METRICS, axes_of):
        for place, row in zip(places, rows):
            score = row["rouge"][metric]
            fill = "white" if _is_undertrained(row) else _BLUE
            style = {"color": _BLUE, "markersize": 5, "markerfacecolor": fill, "clip_on": False}
            axes.plot([score["low"], score["high"]], [place, place], color=_BLUE, linewidth=1.6)
            axes.plot(score["mean"], place, "o", **style)
            if row["paper"]:
                axes.plot(row["paper"][metric], place, "D", color=_GREY, markersize=4)
        axes.set_xlim(left=0)
        style_axes(axes, f"{METRIC_LABELS[metric]} F1", "")
    axes_of[0].set_yticks(list(places), [row["label"] for row in rows], fontsize=8)
    axes_of[0].set_ylim(0.4, len(rows) + 0.6)
    legend = "circles: here, hollow if undertrained, with 95 % intervals; "
    legend += "grey diamonds: the paper's numbers on other data"
    figure.supxlabel(legend, fontsize=8, color=_INK)


def _draw_losses(figure: Any, record: Record) -> None:
    """Draw validation losses over training tokens."""
    rows = [r for r in record["rows"] if r["training"] and r["training"].get("curve")]
    curves = {r["label"]: r["training"]["curve"] for r in rows if not r["against_shorter"]}
    if not curves:
        return
    figure.set_size_inches(9, 4)
    axes = figure.subplots()
    for number, (label, curve) in enumerate(curves.items()):
        tokens = [point["million_tokens"] for point in curve]
        style = "-" if number < 10 else "--"  # matplotlib has ten colours
        losses = [point["loss"] for point in curve]
        axes.plot(tokens, losses, style, marker="o", markersize=3, label=label)
    axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    style_axes(axes, "validation loss per target token", "million tokens, sources and targets")


def _draw_ranking(figure: Any, record: Record) -> None:
    """Draw Table 1 as lines."""
    cuts = [c for c in (record["ranking"] or {}).get("cuts", []) if c["clusters"]]
    if not cuts:
        return
    figure.set_size_inches(6, 3.6)
    axes = figure.subplots()
    paragraphs = [cut["paragraphs"] for cut in cuts]
    for number, (name, colour) in enumerate((("similarity", _ORANGE), ("ranker", _BLUE))):
        means, lows, highs = ([c[name][key] for c in cuts] for key in ("mean", "low", "high"))
        below = [mean - low for mean, low in zip(means, lows)]
        above = [high - mean for mean, high in zip(means, highs)]
        axes.errorbar(
            paragraphs, means, [below, above], color=colour, capsize=3, marker="o", label=name
        )
        paper = [TABLE_1[cut][number] for cut in paragraphs]
        style = {"color": colour, "alpha": 0.4, "markersize": 4}
        axes.plot(paragraphs, paper, "--D", label=f"{name}, paper's, on other data", **style)
    axes.set_xticks(paragraphs)
    axes.legend(fontsize=7, frameon=False)
    style_axes(axes, "ROUGE-L recall of the first paragraphs", "paragraphs read")
