"""Store texts that stand near their sources without storing the sources' words.

    python recipes/pointers.py pack WRITTEN OUT.jsonl.gz FILE.jsonl ...
    python recipes/pointers.py unpack WRITTEN IN.jsonl.gz OUT.jsonl

WRITTEN is a Parquet file or a folder of them. Each line has the `id` of a cluster of WRITTEN, or of one
of ours (`recipes/folders`), which is kept as text. Every string under the keys below becomes a list: a
pair [first, count] points at tokens of the cluster's paragraphs, a string is a text of our own. Whoever
has the corpus can unpack them; the repository holds none of its text.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

PACKED_KEYS = ("text", "sentence", "title")
PACKED_LISTS = ("plan_sentences",)
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")

Packed = list[str | list[int]]


class Source:
    """The tokens of a cluster's paragraphs, one after the other."""

    def __init__(self, paragraphs: Sequence[str]) -> None:
        self.tokens = _TOKEN.findall("\n".join(paragraphs))
        self.places = defaultdict(list)
        for place, token in enumerate(self.tokens):
            self.places[token].append(place)

    def pack(self, text: str) -> Packed:
        """Replace the longest runs of words that the source has by pointers."""
        tokens = _TOKEN.findall(text)
        packed: Packed = []
        place = 0
        while place < len(tokens):
            first, count = self._longest_run(tokens[place:])
            if any(token.isalnum() for token in tokens[place : place + count]):
                packed.append([first, count])
            else:
                count = 1
                if packed and isinstance(packed[-1], str):
                    packed[-1] += tokens[place]
                else:
                    packed.append(tokens[place])
            place += count
        return packed

    def unpack(self, packed: Packed) -> str:
        """Return the text again."""
        return "".join(
            part if isinstance(part, str) else "".join(self.tokens[part[0] : sum(part)])
            for part in packed
        )

    def _longest_run(self, tokens: Sequence[str]) -> tuple[int, int]:
        best = (0, 0)
        for first in self.places.get(tokens[0], ()):
            count = 0
            for mine, theirs in zip(tokens, self.tokens[first : first + len(tokens)]):
                if mine != theirs:
                    break
                count += 1
            best = max(best, (first, count), key=lambda run: run[1])
        return best


def convert(value: Any, change: Callable[[Any], Any], key: str = "") -> Any:
    """Return a record with every packed field changed."""
    if key in PACKED_KEYS:
        return change(value)
    if key in PACKED_LISTS:
        return [change(item) for item in value]
    if isinstance(value, dict):
        return {name: convert(item, change, name) for name, item in value.items()}
    return [convert(item, change) for item in value] if isinstance(value, list) else value


def main() -> None:
    """Pack or unpack."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["pack", "unpack"])
    parser.add_argument("written", type=Path)
    parser.add_argument("first", type=Path)
    parser.add_argument("others", type=Path, nargs="+")
    args = parser.parse_args()
    paths = sorted(args.written.glob("*.parquet")) if args.written.is_dir() else [args.written]
    tables = [pq.read_table(path).to_pylist() for path in paths]
    rows = {row["id"]: row["paragraphs"] for table in tables for row in table}
    packs = args.what == "pack"
    inputs, out = (args.others, args.first) if packs else ([args.first], args.others[0])
    lines = []
    for path in inputs:
        open_text = gzip.open if path.suffix == ".gz" else open
        with open_text(path, "rt", encoding="utf-8") as file:
            for record in map(json.loads, filter(str.strip, file)):
                source = Source([p["text"] for p in rows.get(record["id"], ())])
                changed = convert(record, source.pack if packs else source.unpack)
                if packs and convert(changed, source.unpack) != record:
                    raise SystemExit(f"{path}: {record['id']} does not come back as it was")
                lines.append(json.dumps(changed, ensure_ascii=False, separators=(",", ":")))
    data = "".join(line + "\n" for line in lines).encode()
    out.write_bytes(gzip.compress(data, mtime=0) if out.suffix == ".gz" else data)


if __name__ == "__main__":
    main()
