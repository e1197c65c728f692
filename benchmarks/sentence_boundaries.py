"""Measure sentence splitting in twelve languages against `sentencex` and `nupunkt`.

A library that is not installed is left out. `sentence_boundaries.txt` has one sentence a line and
an empty line between paragraphs; it was written for this measurement.

    python benchmarks/sentence_boundaries.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from hiersum.text.sentences import split_sentences

UNSPACED = ("zh", "ja")
Splitter = Callable[[str, str], list[str]]


def splitters() -> dict[str, Splitter]:
    """Return ours and those of the installed libraries, given a text and its language."""
    found: dict[str, Splitter] = {"ours": lambda text, language: split_sentences(text)}
    if find_spec("sentencex"):
        segment = import_module("sentencex").segment
        found["sentencex"] = lambda text, language: list(segment(language, text))
    if find_spec("nupunkt"):
        tokenize = import_module("nupunkt").sent_tokenize
        found["nupunkt"] = lambda text, language: list(tokenize(text))
    return found


def boundaries(sentences: list[str]) -> set[int]:
    """Return how many visible characters come before each boundary inside a text."""
    place, found = 0, set()
    for sentence in sentences:
        place += len("".join(sentence.split()))
        found.add(place)
    return found - {place}


def main() -> None:
    """Print wrong cuts and missed ends, by language and splitter."""
    names = splitters()
    print("| language | sentences |" + "".join(f" {name}: wrong, missed |" for name in names))
    print("|---|---|" + "---|" * len(names))
    for part in Path(__file__).with_suffix(".txt").read_text("utf-8").split("= ")[1:]:
        language, _, body = part.partition("\n")
        paragraphs = [block.splitlines() for block in body.strip().split("\n\n")]
        cells = []
        for split in names.values():
            wrong = missed = 0
            for lines in paragraphs:
                text = ("" if language in UNSPACED else " ").join(lines)
                ours, right = boundaries(split(text, language)), boundaries(lines)
                wrong, missed = wrong + len(ours - right), missed + len(right - ours)
            cells.append(f" {wrong}, {missed} |")
        print(f"| {language} | {sum(map(len, paragraphs))} |" + "".join(cells))
    text = "The train left at 7 a.m. on Monday. It reached Washington, D.C. at noon. " * 2_000
    for name, split in names.items():
        start = time.perf_counter()
        split(text, "en")
        print(f"{name}: {len(text) / 1e6 / (time.perf_counter() - start):.2f} million characters/s")


if __name__ == "__main__":
    main()
