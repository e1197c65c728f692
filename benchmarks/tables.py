"""Write the tables of README.md and docs/configuration.md from results and from the code.

A table stands between two comments, `<!-- NAME -->` and `<!-- /NAME -->`. Numbers are never typed: a test
runs this and fails if a page would change.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from pathlib import Path
from typing import Any

import hiersum.config

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
SYSTEMS = {
    "lead (paper)": "Lead, as the paper defines it (with the title)",
    "lexrank (paper)": "LexRank over paragraphs, as the paper defines it",
    "lead (reader)": "`--system lead`: whole sentences",
    "lexrank (reader)": "`--system lexrank`, the default: whole sentences",
}


def latest(what: str) -> dict[str, Any]:
    """Return the newest result of a benchmark."""
    path = max(RESULTS.glob(f"{what}_*.json"), key=lambda path: path.name.rsplit("_", 1)[1])
    record: dict[str, Any] = json.loads(path.read_text())
    return record


def quality_table() -> str:
    record = latest("extractive_quality")
    groups = {"zhouyii": "short articles", "wikivisual": "long articles"}
    names = [f"{text} ({record['clusters'][group]:,})" for group, text in groups.items()]
    lines = [f"| R-1 / R-2 / R-L | {' | '.join(names)} |", "|---|---|---|"]
    for key, title in SYSTEMS.items():
        cells = []
        for group in groups:
            scores = [record[key][group][metric] for metric in ("rouge1", "rouge2", "rougeL")]
            means = " / ".join(f"{score['mean']:.1f}" for score in scores)
            margin = max(max(s["high"] - s["mean"], s["mean"] - s["low"]) for s in scores)
            cells.append(f"{means} (± {margin:.1f})")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def speed_table() -> str:
    overlap, extraction = latest("overlap"), latest("extraction")
    large, small = extraction["large"], extraction["small"]
    whole = extraction["documents_to_summary_seconds"]["reader"]
    return "\n".join(
        [
            "| | times faster |",
            "|---|---|",
            "| ROUGE-2 recall of 2,000 paragraphs, than `rouge-score` "
            f"| {overlap['rouge2_times_faster']} |",
            f"| ROUGE-L of the same, than `rouge-score` | {overlap['rougeL_times_faster']} |",
            f"| LexRank over {large['sentences']:,} sentences, than `lexrank` "
            f"| {large['times_faster_than_lexrank']} |",
            f"| LexRank over {large['sentences']:,} sentences, than `sumy` "
            f"| {large['times_faster_than_sumy']} |",
            f"| LexRank over {small['sentences']:,} sentences, than `lexrank` "
            f"| {small['times_faster_than_lexrank']} |",
            "",
            f"A summary of {large['paragraphs']} paragraphs took {whole} s from paragraphs to sentences.",
        ]
    )


def settings_table() -> str:
    source = Path(hiersum.config.__file__).read_text()
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for section in dataclasses.fields(hiersum.config.Config):
        kind = section.default_factory
        body = source.split(f"class {kind.__name__}:", 1)[1]  # type: ignore[union-attr]
        for field in dataclasses.fields(kind):  # type: ignore[arg-type]
            meaning = re.search(rf'\n    {field.name}: .*?\n    """(.*?)"""', body, re.S)
            assert meaning is not None, field.name
            text = " ".join(meaning[1].split())
            lines.append(f"| `{section.name}.{field.name}` | `{field.default}` | {text} |")
    return "\n".join(lines)


PAGES = {
    "README.md": {"quality": quality_table, "speed": speed_table},
    "docs/configuration.md": {"settings": settings_table},
}


def rendered(page: str) -> str:
    """Return a page with its tables made anew."""
    text = (ROOT / page).read_text()
    for name, make in PAGES[page].items():
        pattern = rf"<!-- {name} -->\n.*?<!-- /{name} -->"
        assert re.search(pattern, text, re.S), f"{page} has no place for {name}"
        table = f"<!-- {name} -->\n{make()}\n<!-- /{name} -->"
        text = re.sub(pattern, lambda _, table=table: table, text, flags=re.S)
    return text


if __name__ == "__main__":
    for page in PAGES:
        (ROOT / page).write_text(rendered(page))
        print(f"{page} written", file=sys.stderr)
