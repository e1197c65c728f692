"""The report of an experiment: tables for the terminal, Markdown, JSON and plots."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hiersum.data.files import write_atomically
from hiersum.evaluation.comparison import Table
from hiersum.reproduction.duration import spoken
from hiersum.reproduction.paper_numbers import MILLION_TOKENS
from hiersum.reproduction.plots import draw_plots
from hiersum.reproduction.systems import EXTRACTIVE
from hiersum.reproduction.tables import (
    UNDERTRAINED,
    ablation_table,
    longer_table,
    main_table,
    measure_table,
    ranking_table,
    training_table,
)
from hiersum.reproduction.undertrained import ENOUGH, STILL_FALLING

Record = Mapping[str, Any]
_SPECIAL = re.compile(r"[\\`*_<>\[\]|#]")
_WITHHELD = "(left out: text of the corpus)"


def write_report(record: Record, out: Path) -> Path:
    """Write report.json, report.md and the plots into a folder; return the Markdown file."""
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "report.json", json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    plots = draw_plots(record, out)
    path = out / "report.md"
    _write(path, to_markdown(record, plots))
    return path


def to_text(record: Record) -> str:
    """Return the tables for the terminal."""
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
    made = (
        (
            "Table 1: ROUGE-L recall of the first L' paragraphs against the target",
            ranking_table(record),
        ),
        ("Table 2: ROUGE F1 of every system", main_table(record)),
        ("Table 2, footnote: the same weights on longer input", longer_table(record)),
        ("Table 3: HT without its parts", ablation_table(record)),
        ("What the networks learned from", training_table(record)),
        ("What the summaries are like", measure_table(record)),
    )
    for title, table in made:
        if table is not None and table.rows:
            yield title, table


def _notes(record: Record) -> Iterator[str]:
    """Say what the numbers do not show by themselves."""
    yield (
        f"* The paper's numbers: {record['paper']}. They were measured on other data and cannot be "
        "compared with ours; the order of the systems can."
    )
    if any(row["training"] and row["training"]["undertrained"] for row in record["rows"]):
        yield (
            f"{UNDERTRAINED.strip()} Undertrained: learned from less than {ENOUGH:.0%} of the paper's "
            f"{MILLION_TOKENS:,.0f} million tokens, or its validation loss fell by more than "
            f"{STILL_FALLING:.1%} in the last quarter of training. Such a row says little of its system."
        )
    yield (
        "Intervals are 95 % bootstrap intervals over the test clusters. p against HT: approximate "
        "randomisation, for ROUGE-1 / 2 / L, not corrected for the number of rows; neither knows how "
        "another seed of training would have come out."
    )
    if record["rows"]:
        test = record["test"]
        left_out = f"; {test['left_out']:,} left out" if test["left_out"] else ""
        yield f"Test clusters scored: {test['scored']:,}{left_out}. {record['signature']}"
    ranking = record["ranking"]
    if ranking and ranking["cuts"]:
        yield f"Table 1 holds clusters with more than twice L' paragraphs. {ranking['signature']}"
    elif ranking:
        yield f"Table 1 could not be measured: {ranking['reason']}."
    given = [r["label"] for r in record["rows"] if r["training"] and r["training"]["given"]]
    if given:
        yield f"Not trained here but given, with a vocabulary of their own: {', '.join(given)}."
    if record["pending"]:
        yield f"Not finished yet: {', '.join(record['pending'])}."


def _texts(record: Record) -> list[str]:
    """The paper's output table: what each system says about the same clusters."""
    if not record["texts"]:
        return []
    labels = {row["row"]: row["label"] for row in record["rows"]}
    lines = ["", "## What the systems write", ""]
    for shown in record["texts"]:
        lines += [f"### {_one_line(shown['title'] or shown['id'])}", ""]
        lines += [f"- **Gold**: {_one_line(shown['gold'] or _WITHHELD)}"]
        for row, text in shown["systems"].items():
            is_withheld = text is None and row in EXTRACTIVE
            said = _WITHHELD if is_withheld else _one_line(text) or "(nothing)"
            lines.append(f"- **{labels[row]}**: {said}")
        lines.append("")
    return lines[:-1]


def _stage_table(record: Record) -> Table:
    rows = [
        (s["stage"], spoken(s["seconds"]), f"{s['processor_seconds']:,.0f}")
        for s in record["stages"]
    ]
    total = sum(stage["processor_seconds"] for stage in record["stages"])
    whole = spoken(sum(stage["seconds"] for stage in record["stages"]))
    return Table(("stage", "time", "processor seconds"), (*rows, ("all", whole, f"{total:,.0f}")))


def _one_line(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


def _write(path: Path, text: str) -> None:
    with write_atomically(path) as file:
        file.write(text.encode())
