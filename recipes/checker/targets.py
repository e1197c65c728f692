"""Read cautious summaries, whose sentences name the source sentences they rest on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def read_targets(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the clusters of `in/*.txt` with the summaries of `out/*.jsonl`, in the form of `written`."""
    for path in sorted((folder / "out").glob("*.jsonl")):
        clusters: dict[str, dict[str, str]] = {}
        titles: dict[str, str] = {}
        source = folder / "in" / f"{path.stem}.txt"
        for line in source.read_text(encoding="utf-8").split("\n"):
            if line.startswith("=== CLUSTER "):
                name = line.removeprefix("=== CLUSTER ").rpartition("  kind: ")[0]
                clusters[name] = {}
            elif line.startswith("TITLE: "):
                titles[name] = line.removeprefix("TITLE: ").replace("(none)", "")
            elif match := re.match(r"\[(\d+\.\d+)\] (.*)", line):
                clusters[name][match[1]] = match[2]
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            by_place = clusters[row["id"]]
            numbers = sorted({int(place.split(".")[0]) for place in by_place})
            paragraphs = [
                " ".join(text for place, text in by_place.items() if int(place.split(".")[0]) == n)
                for n in numbers
            ]
            sentences = [
                {
                    "text": s["text"],
                    "paragraphs": [numbers.index(int(p.split(".")[0])) for p in s["sources"]],
                    "sources": [by_place[place] for place in s["sources"]],
                }
                for s in row["sentences"]
                if all(place in by_place for place in s["sources"])
            ]
            yield {
                "id": row["id"],
                "title": titles[row["id"]],
                "paragraphs": [{"text": text} for text in paragraphs],
                "sentences": sentences,
            }
