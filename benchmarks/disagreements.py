"""How many marked disagreements are found, how many false alarms are raised, which questions answered.

    python -m benchmarks.disagreements MODEL FOLDERS

FOLDERS is a directory of folders with marks; they must not have taken part in the fit. Disagreements
count by what they are about, and only if a report shows words of both marked quotes. Intervals are
95 %, bootstrapped over folders.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from hiersum.checking.answers import find_answers
from hiersum.checking.checker import Checker, open_checker
from hiersum.checking.disagreements import find_disagreements
from recipes.checker.folders import Folder, count, read_folders

OTHERS = 12
"""Other folders to which each question is put."""
SAMPLES = 2_000
RESULTS = Path(__file__).parent / "results"


def interval(rows: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return a ratio of sums with its bootstrap interval; a row is one folder's (part, whole)."""
    values = np.array(rows, float)
    draws = np.random.default_rng(1).integers(0, len(values), (SAMPLES, len(values)))
    sums = values[draws].sum(1)
    ratios = sums[:, 0] / np.maximum(sums[:, 1], 1e-9)
    low, high = np.quantile(ratios, [0.025, 0.975])
    ratio = values[:, 0].sum() / max(values[:, 1].sum(), 1e-9)
    return {
        name: round(float(x), 3) for name, x in (("value", ratio), ("low", low), ("high", high))
    }


def measure_disagreements(folders: Sequence[Folder], checker: Checker) -> dict[str, Any]:
    """Compare what is told with the marks."""
    counts = [count(f, find_disagreements(f.statements, checker, f.names)) for f in folders]
    pairs = list(zip(folders, counts))
    kinds = Counter(mark.kind for folder in folders for mark in folder.conflicts)
    found = Counter(
        mark.kind for folder, one in pairs for mark in folder.conflicts if mark.about in one.found
    )
    return {
        "found": interval([(len(one.found), len(folder.conflicts)) for folder, one in pairs]),
        "false_alarms_per_folder": interval([(one.alarms, 1) for one in counts]),
        "look_alikes_reported": interval([(c.alike, len(f.look_alikes)) for f, c in pairs]),
        "by_kind": {kind: f"{found[kind]} of {number}" for kind, number in kinds.items()},
        "counts": {
            "found": sum(len(one.found) for one in counts),
            "marked": sum(kinds.values()),
            "false_alarms": sum(one.alarms for one in counts),
            "look_alikes": sum(one.alike for one in counts),
            "look_alikes_marked": sum(len(folder.look_alikes) for folder in folders),
        },
    }


def measure_answers(folders: Sequence[Folder], checker: Checker) -> dict[str, Any]:
    """Rank the paragraphs of each folder for its question, and put it to other folders."""
    asked = [folder for folder in folders if folder.question and folder.answer_in]
    first, third, kept, refused = [], [], [], []
    for number, folder in enumerate(asked):
        answers = find_answers(folder.question, folder.statements, checker)
        ranked = _places(folder, answers.relevance)
        first.append((float(ranked[0] in folder.answer_in), 1))
        third.append((float(not folder.answer_in.isdisjoint(ranked[:3])), 1))
        kept.append((float(answers.is_answered), 1))
        others = [asked[(number + step) % len(asked)] for step in range(1, OTHERS + 1)]
        silent = [
            not find_answers(folder.question, other.statements, checker).is_answered
            for other in others
        ]
        refused.append((float(sum(silent)), len(silent)))
    rows = {
        "right_paragraph_first": first,
        "right_paragraph_in_first_three": third,
        "answerable_answered": kept,
        "other_folders_refused": refused,
    }
    return {name: interval(values) for name, values in rows.items()}


def _places(folder: Folder, relevance: Sequence[float]) -> list[tuple[int, int]]:
    order = np.argsort(-np.array(relevance), kind="stable")
    places = [astuple(folder.statements[n].place) for n in order]
    return list(dict.fromkeys(places))


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("folders", type=Path)
    options = parser.parse_args()
    folders, checker = read_folders(options.folders), open_checker(options.model)
    start = time.process_time()
    disagreements = measure_disagreements(folders, checker)
    seconds = (time.process_time() - start) / len(folders)
    result = {
        "folders": len(folders),
        "disagreements": disagreements,
        "answers": measure_answers(folders, checker),
        "processor_seconds_per_folder": round(seconds, 2),
    }
    path = RESULTS / f"disagreements_{datetime.now(UTC):%Y-%m-%d}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
