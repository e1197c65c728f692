"""Read cautious summaries, whose sentences name the source sentences they rest on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sources import sentences_of


def read_targets(path: Path, written: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield clusters of `written` with the summaries of a file of targets in place of their own.

    Each sentence gets the text of its `sources`; a cluster, the `false` version of one sentence.
    """
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        cluster = written[row["id"]]
        paragraphs = [sentences_of(p["text"]) for p in cluster["paragraphs"]]
        sentences = []
        for sentence in row["sentences"]:
            places = [tuple(map(int, place.split("."))) for place in sentence["sources"]]
            sentences.append(
                {
                    "text": sentence["text"],
                    "paragraphs": sorted({paragraph for paragraph, _ in places}),
                    "sources": [
                        " ".join(paragraphs[p][s].split())
                        for p, s in sorted(places)
                        if s < len(paragraphs[p])
                    ],
                }
            )
        yield {**cluster, "sentences": sentences, "false": row.get("false")}
