"""What blind readers say about the summaries of side_by_side.py: answers to its sheets, counted.

    python benchmarks/side_by_side_readers.py FOLDER

FOLDER holds key.json and answers*.jsonl. An answer is one line for one cluster, by the rubric in
recipes/readers/README.md:

    {"cluster": "folders/x", "labels": {"A": ["supported", "false"], ...}, "covers": {"A": 3, ...},
     "reads": {"A": 4, ...}, "order": ["B", "AD", "C"]}

`order` goes from the best summary to the worst; letters that stand together are equally good. Where two
readers read a cluster, both count.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from measure import write_results
from writer_quality import ROUNDS

LABELS = ("supported", "minor", "false")


def problem_with(answer: dict[str, Any], key: dict[str, Any]) -> str | None:
    """Return what is wrong with an answer."""
    letters = set(key)
    for part in ("labels", "covers", "reads"):
        if set(answer.get(part, {})) != letters:
            return f"`{part}` must have {', '.join(sorted(letters))}"
    if sorted("".join(answer.get("order", []))) != sorted(letters):
        return "`order` must have every letter once"
    for letter, labels in answer["labels"].items():
        if len(labels) != key[letter]["sentences"] or set(labels) - set(LABELS):
            return f"{letter} has {key[letter]['sentences']} sentences; each needs one label"
    return None


def read_answers(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the key and all answers of a folder; stop at the first that does not fit."""
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    answers = []
    for path in sorted(folder.glob("answers*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if not line.strip():
                continue
            answer = json.loads(line)
            of = key.get(answer["cluster"])
            if problem := "is not in key.json" if of is None else problem_with(answer, of):
                sys.exit(f"error: {path.name}, line {number}: {answer['cluster']}: {problem}")
            answers.append(answer)
    if not answers:
        sys.exit(f"error: {folder} has no answers")
    return key, answers


def share(of_clusters: Sequence[Counter[str]], label: str) -> dict[str, float]:
    """Return the percentage of sentences with a label, with its bootstrap interval over clusters."""
    counts = np.array([[of[label], of.total()] for of in of_clusters], dtype=np.float64)
    draws = np.random.default_rng(1).integers(len(counts), size=(ROUNDS, len(counts)))
    found, total = counts[draws].sum(axis=1).T
    low, high = np.quantile(100 * found / np.maximum(total, 1), [0.025, 0.975])
    mean = 100 * counts[:, 0].sum() / max(1, counts[:, 1].sum())
    return {"mean": round(mean, 1), "low": round(low, 1), "high": round(high, 1)}


def counted(key: dict[str, Any], answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return, for each system, shares of labels, marks, and how often it was preferred to each other."""
    labels: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    marks: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    pairs: dict[str, Counter[str]] = defaultdict(Counter)
    for answer in answers:
        names = {letter: of["system"] for letter, of in key[answer["cluster"]].items()}
        for letter, name in names.items():
            labels[name][answer["cluster"]].update(answer["labels"][letter])
            for mark in ("covers", "reads"):
                marks[name][mark].append(answer[mark][letter])
        rank = {letter: place for place, of in enumerate(answer["order"]) for letter in of}
        for one, other in combinations(sorted(names, key=lambda letter: names[letter]), 2):
            verdict = (rank[one] < rank[other]) - (rank[one] > rank[other])
            kind = {1: "first", -1: "second", 0: "equal"}[verdict]
            pairs[f"{names[one]} | {names[other]}"][kind] += 1
    return {
        "systems": {
            name: {
                "sentences": sum(of.total() for of in by_cluster.values()),
                **{f"{label}, %": share(list(by_cluster.values()), label) for label in LABELS},
                **{mark: round(float(np.mean(of)), 2) for mark, of in marks[name].items()},
            }
            for name, by_cluster in labels.items()
        },
        "preferred": {name: dict(of) for name, of in pairs.items()},
    }


def agreement(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how often two readers of a cluster gave a sentence the same label."""
    by_cluster: dict[str, list[list[str]]] = defaultdict(list)
    for answer in answers:
        flat = [label for letter in sorted(answer["labels"]) for label in answer["labels"][letter]]
        by_cluster[answer["cluster"]].append(flat)
    twice = [
        (one, other)
        for read in by_cluster.values()
        for first, second in combinations(read, 2)
        for one, other in zip(first, second, strict=True)
    ]
    if not twice:
        return {"sentences read twice": 0}
    return {
        "sentences read twice": len(twice),
        "same label, %": round(100 * sum(one == other for one, other in twice) / len(twice), 1),
        "same on false, %": round(
            100 * sum((one == "false") == (other == "false") for one, other in twice) / len(twice),
            1,
        ),
    }


def main() -> None:
    """Count answers and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    key, answers = read_answers(parser.parse_args().folder)
    sets = sorted({answer["cluster"].partition("/")[0] for answer in answers})
    write_results(
        "side_by_side_readers",
        {
            "clusters": len({answer["cluster"] for answer in answers}),
            "readings": len(answers),
            "agreement": agreement(answers),
            **counted(key, answers),
            "by set": {
                of_set: counted(
                    key, [a for a in answers if a["cluster"].partition("/")[0] == of_set]
                )
                for of_set in sets
            },
        },
    )


if __name__ == "__main__":
    main()
